/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/helper/file_identity.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

CASE(test_mapped)
{
	AUTO_CLOSE int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int memory = memfd_create("memory", MFD_CLOEXEC);
	AUTO_CLOSE int folder = open("/", O_RDONLY | O_CLOEXEC);
	struct mapped_identity a = {.inode = 77}, b;
	struct stat st;

	assert_true(file_identity_mapped(folder, &a) < 0);
	assert_int_equal(a.inode, 77);
	assert_int_equal(file_identity_mapped(self, &a), 0);
	assert_int_equal(file_identity_mapped(self, &b), 0);
	assert_int_equal(a.inode, b.inode);
	assert_int_equal(fstat(memory, &st), 0);
	assert_int_equal(file_identity_mapped(memory, &b), 0); /* it is empty */
	assert_int_equal(b.inode, st.st_ino);
	assert_true(a.dev_major != b.dev_major || a.dev_minor != b.dev_minor);
}

/* The mapping is found behind others, and behind a path of the greatest length. */
CASE(test_mapped_behind_others)
{
	char folder[] = "/tmp/jitbpf-unit-XXXXXX", name[256];
	AUTO_CLOSE int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), file = -1;
	long page = sysconf(_SC_PAGESIZE);
	AUTO_CLOSE int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct mapped_identity a, b;
	uint8_t *low[2];

	memset(name, '\n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (int i = 0; i < 10; i++)
		assert_false(mkdir(name, 0700) || chdir(name));
	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(file_identity_mapped(self, &a), 0);
	for (int i = 0; i < 2; i++) { /* two, since a hole may be left below */
		low[i] = mmap((void *)0x200000, (size_t)page, PROT_READ, MAP_PRIVATE, file, 0);
		assert_true(low[i] != MAP_FAILED);
	}
	assert_int_equal(file_identity_mapped(self, &b), 0);
	assert_int_equal(a.inode, b.inode);
	for (int i = 0; i < 2; i++)
		munmap(low[i], (size_t)page);
	assert_int_equal(unlink(name), 0);
	for (int i = 0; i < 10; i++)
		assert_false(chdir("..") || rmdir(name));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(fchdir(before), 0);
}

/* A file with the inode number of one that was deleted has another version. */
CASE(test_version)
{
	char path[] = "/tmp/jitbpf-unit-XXXXXX", link[64];
	AUTO_CLOSE int first = mkstemp(path);
	uint64_t version = file_identity_version(first);

	assert_int_not_equal(version, 0);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(unlink(path), 0);
		close(first);
		first = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_true(first >= 0);
		assert_int_not_equal(file_identity_version(first), version);
	}
	version = file_identity_version(first);
	assert_int_equal(write(first, "x", 1), 1);
	assert_int_equal(fchmod(first, 0400), 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", first);
	{
		AUTO_CLOSE int again = open(link, O_RDONLY | O_CLOEXEC);

		assert_int_equal(file_identity_version(again), version);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(file_identity_version(again), version);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/files/helper/file_direct.h"
#include "agent/files/helper/file_helper.h"
#include "agent/files/helper/file_identity.h"
#include "agent/files/helper/file_service.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define CONTENT "no ELF file, but a regular one"

struct helper {
	pid_t pid;
	int socket;
	char path[32];
	struct file_reply reply;
};

static int setup(void **state)
{
	struct helper *helper = calloc(1, sizeof(*helper));
	int sockets[2], file;

	assert_non_null(helper);
	strcpy(helper->path, "/tmp/jitbpf-unit-XXXXXX");
	file = mkstemp(helper->path);
	assert_int_equal(write(file, CONTENT, sizeof(CONTENT)), sizeof(CONTENT));
	close(file);
	assert_int_equal(fd_message_pair(sockets), 0);
	helper->pid = fork();
	if (!helper->pid) {
		close(sockets[0]);
		file_service_run(sockets[1]);
		_exit(0);
	}
	close(sockets[1]);
	helper->socket = sockets[0];
	*state = helper;
	return 0;
}

static int teardown(void **state)
{
	struct helper *helper = *state;
	int status;

	close(helper->socket);
	assert_int_equal(waitpid(helper->pid, &status, 0), helper->pid);
	assert_int_equal(status, 0);
	unlink(helper->path);
	free(helper);
	return 0;
}

/* Returns reply.err. *ret_fd is the returned descriptor, or -1. */
static int ask(struct helper *helper, const struct file_request *request, int fd, int *ret_fd)
{
	size_t bytes = offsetof(struct file_request, path) + strlen(request->path) + 1;
	ssize_t got;

	assert_int_equal(fd_message_send(helper->socket, request, bytes, fd), 0);
	got = fd_message_receive(helper->socket, &helper->reply, sizeof(helper->reply), ret_fd);
	assert_true(got >= (ssize_t)offsetof(struct file_reply, bytes));
	return helper->reply.err;
}

/* With an identity, if it is not NULL. */
static struct file_request request_of(enum file_request_kind kind, const char *path,
				      const struct mapped_identity *identity)
{
	struct file_request request = {.kind = kind};

	strcpy(request.path, path);
	if (identity) {
		request.dev_major = identity->dev_major;
		request.dev_minor = identity->dev_minor;
		request.inode = identity->inode;
	}
	return request;
}

static int find(struct helper *helper, const char *path, const struct mapped_identity *identity,
		int *ret_fd)
{
	struct file_request request = request_of(FILE_FIND_PATH, path, identity);

	return ask(helper, &request, -1, ret_fd);
}

static struct mapped_identity identity_of(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mapped_identity identity;

	assert_int_equal(file_identity_mapped(fd, &identity), 0);
	return identity;
}

static int read_piece(struct helper *helper, int fd, uint64_t offset, uint64_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_READ,
		.offset = offset,
		.size_bytes = size_bytes,
	};
	int none, err = ask(helper, &request, fd, &none);

	assert_int_equal(none, -1);
	return err;
}

CASE_WITH(test_finds_and_reads, setup, teardown)
{
	struct helper *helper = *state;
	AUTO_CLOSE int fd = -1;

	assert_int_equal(find(helper, helper->path, NULL, &fd), 0);
	assert_true(fd >= 0);
	assert_int_equal(helper->reply.size_bytes, sizeof(CONTENT));
	assert_int_equal(helper->reply.build_id_bytes, 0);
	assert_int_equal(read_piece(helper, fd, 3, 3), 0);
	assert_int_equal(helper->reply.size_bytes, 3);
	assert_memory_equal(helper->reply.bytes, "ELF", 3);
	assert_int_equal(read_piece(helper, fd, 3, sizeof(CONTENT)), -EBADMSG);
	assert_int_equal(read_piece(helper, fd, 0, FILE_PIECE_MAX + 1), -EINVAL);
	assert_int_equal(read_piece(helper, -1, 0, 1), -EINVAL);
}

CASE_WITH(test_that_is_another, setup, teardown)
{
	struct helper *helper = *state;
	struct mapped_identity identity = identity_of(helper->path);
	struct mapped_identity others[] = {identity, identity, identity};
	struct file_request request = request_of(FILE_FIND_PATH, helper->path, &identity);
	int fd;

	others[0].inode++;
	others[1].dev_minor++;
	others[2].dev_major++;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(find(helper, helper->path, &others[i], &fd), -ESTALE);
		assert_int_equal(fd, -1);
	}
	assert_int_equal(find(helper, helper->path, &identity, &fd), 0);
	request.generation = file_identity_generation(fd) + 1;
	close(fd);
	/* Some file systems have no generations. */
	if (request.generation != 1)
		assert_int_equal(ask(helper, &request, -1, &fd), -ESTALE);
}

/* A deleted file is found by a mapping only, and a mapping of another file is refused. */
CASE_WITH(test_mapping, setup, teardown)
{
	struct helper *helper = *state;
	struct mapped_identity identity = identity_of(helper->path), other = identity;
	struct file_request found = request_of(FILE_FIND_MAPPED, helper->path, &identity);
	struct file_request stale;
	AUTO_CLOSE int mapping = open(helper->path, O_PATH | O_CLOEXEC);
	int fd;

	assert_int_equal(unlink(helper->path), 0);
	found.pid = (uint32_t)getpid();
	assert_int_equal(ask(helper, &found, -1, &fd), -ENOENT);
	assert_int_equal(ask(helper, &found, mapping, &fd), 0);
	assert_int_equal(helper->reply.dev_major, identity.dev_major);
	assert_int_not_equal(helper->reply.version, 0);
	close(fd);
	other.inode++;
	stale = request_of(FILE_FIND_MAPPED, helper->path, &other);
	assert_int_equal(ask(helper, &stale, mapping, &fd), -ESTALE);
}

/* The kernel opens a mapping for those with CAP_CHECKPOINT_RESTORE; nobody has the range 0-0. */
CASE_WITH(test_open_mapping, setup, teardown)
{
	struct helper *helper = *state;
	AUTO_CLOSE int file = open(helper->path, O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, file, 0);
	struct file_request request = {
		.kind = FILE_OPEN_MAPPING,
		.pid = (uint32_t)getpid(),
		.address = (uint64_t)at,
		.size_bytes = page,
	};
	struct stat ours, theirs;
	int fd, err = ask(helper, &request, -1, &fd);

	assert_true(!err || err == -EPERM || err == -EACCES);
	if (!err) {
		assert_int_equal(fstat(file, &ours) | fstat(fd, &theirs), 0);
		assert_int_equal(ours.st_ino, theirs.st_ino);
		close(fd);
	}
	munmap(at, page);
	request.address = request.size_bytes = 0;
	assert_true(ask(helper, &request, -1, &fd) < 0);
	assert_int_equal(fd, -1);
}

/* tmpfs files can be read directly, without a helper. */
CASE_WITH(test_that_is_direct, setup, teardown)
{
	struct helper *helper = *state;
	AUTO_CLOSE int memory = memfd_create("memory", MFD_CLOEXEC);
	AUTO_CLOSE int made_up = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;
	char path[64], bytes[3];

	assert_int_equal(write(memory, CONTENT, sizeof(CONTENT)), sizeof(CONTENT));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), memory);
	assert_int_equal(find(helper, path, NULL, &fd), 0);
	assert_int_equal(helper->reply.direct, 1);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 3), sizeof(bytes));
	assert_memory_equal(bytes, "ELF", sizeof(bytes));
	assert_int_equal(write(fd, bytes, 1), -1);
	assert_int_equal(read_piece(helper, fd, 3, 3), 0);
	assert_true(made_up >= 0);
	assert_false(file_is_direct(made_up));
}

static int read_memory(struct helper *helper, const void *address, uint64_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_READ_MEMORY,
		.pid = (uint32_t)getpid(),
		.address = (uint64_t)address,
		.size_bytes = size_bytes,
	};
	int none, err = ask(helper, &request, -1, &none);

	assert_int_equal(none, -1);
	return err;
}

/* Memory of a process is read up to the end of its mapping. */
CASE_WITH(test_memory, setup, teardown)
{
	struct helper *helper = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Yama may forbid it otherwise */
	assert_true(memory != MAP_FAILED);
	memset(memory, 'm', 2 * page);
	assert_int_equal(munmap(memory + 2 * page, page), 0);
	assert_int_equal(read_memory(helper, memory + 5, page), 0);
	assert_int_equal(helper->reply.size_bytes, page);
	assert_memory_equal(helper->reply.bytes, memory + 5, page);
	assert_int_equal(read_memory(helper, memory + page + 1, 2 * page), 0);
	assert_int_equal(helper->reply.size_bytes, page - 1);
	assert_memory_equal(helper->reply.bytes, memory + page + 1, page - 1);
	assert_int_equal(read_memory(helper, memory + 2 * page, 1), -EFAULT);
	assert_int_equal(helper->reply.size_bytes, 0);
	assert_int_equal(read_memory(helper, memory, 0), -EFAULT);
	assert_int_equal(read_memory(helper, memory, FILE_PIECE_MAX + 1), -EINVAL);
	munmap(memory, 2 * page);
}

static int compare(struct helper *helper, int fd, const void *address, uint64_t offset,
		   uint64_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_COMPARE_MEMORY,
		.pid = (uint32_t)getpid(),
		.address = (uint64_t)address,
		.offset = offset,
		.size_bytes = size_bytes,
	};
	int none, err = ask(helper, &request, fd, &none);

	assert_int_equal(none, -1);
	return err;
}

/* All bytes of memory are compared with the file. */
CASE_WITH(test_compares_memory, setup, teardown)
{
	enum { BYTES = FILE_PIECE_MAX * 2 + 0x3000, EQUAL_FROM = BYTES - 0x2000 };
	AUTO_CLOSE int fd = memfd_create("text", MFD_CLOEXEC);
	AUTO_FREE uint8_t *text = malloc(BYTES);
	struct helper *helper = *state;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Yama may forbid it otherwise */
	assert_non_null(text);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = i < EQUAL_FROM ? (uint8_t)(i ^ i >> 8) : 0xcc;
	assert_int_equal(write(fd, text, BYTES), BYTES);
	assert_int_equal(compare(helper, fd, text, 0, BYTES), 0);
	assert_int_equal(helper->reply.file_bytes, EQUAL_FROM);
	assert_int_equal(compare(helper, fd, text + 77, 77, 4096), 0);
	assert_int_equal(compare(helper, fd, text + 77, 78, 4096), -ESTALE);
	for (size_t i = 0; i < BYTES; i += BYTES / 7) {
		text[i] ^= 1;
		assert_int_equal(compare(helper, fd, text, 0, BYTES), -ESTALE);
		text[i] ^= 1;
	}
	assert_int_equal(compare(helper, fd, text, 0, 0), 0);
	assert_int_equal(helper->reply.file_bytes, 0);
	/* The file ends, nothing is mapped, it is too much, there is no file. */
	assert_true(compare(helper, fd, text, 1, BYTES) < 0);
	assert_true(compare(helper, fd, NULL, 0, 4096) < 0);
	assert_int_equal(compare(helper, fd, text, 0, FILE_COMPARED_MAX + 1), -EINVAL);
	assert_int_equal(compare(helper, -1, text, 0, 4096), -EINVAL);
}

/* Directories, devices, pipes and files of /proc: reading kmsg consumes messages. */
CASE_WITH(test_that_is_no_file, setup, teardown)
{
	static const char *const paths[] = {"/", "/dev/null", "/proc/kmsg", "/proc/self/mem"};
	struct helper *helper = *state;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(find(helper, paths[i], NULL, &fd), -EACCES);
		assert_int_equal(fd, -1);
	}
	assert_int_equal(find(helper, "/nowhere/at/all", NULL, &fd), -ENOENT);
	assert_int_equal(find(helper, "relative", NULL, &fd), -ENOENT);
}

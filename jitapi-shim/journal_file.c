/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jitapi-shim/send.h"
#include "uapi/jit_journal.h"

/* The headers may be older than the kernel that runs. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MB_MAX	   4095
#define PAGE_BYTES 4096
/* Above the standard streams: an engine that reopens them must not get this descriptor. */
#define FD_MIN 64

/* Reads $JITBPF_JOURNAL_MB. Returns the default if it is unset or not a number. */
static uint64_t wanted_bytes(void)
{
	const char *text = getenv("JITBPF_JOURNAL_MB");
	uint64_t mb = 0;

	if (!text || !*text)
		return JITBPF_JOURNAL_BYTES;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return JITBPF_JOURNAL_BYTES;
		mb = mb * 10 + (uint64_t)(*text - '0');
		if (mb > MB_MAX)
			mb = MB_MAX;
	}
	return mb << 20;
}

uint64_t journal_file_capacity(void)
{
	uint64_t bytes = wanted_bytes();
	struct rlimit limit;

	/* A write past this limit raises SIGXFSZ, which kills the process. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur & ~(uint64_t)(PAGE_BYTES - 1);
	return bytes > PAGE_BYTES ? bytes : 0;
}

/* By system call number, since older libcs lack memfd_create(). */
static int memfd(unsigned int flags)
{
	return (int)syscall(SYS_memfd_create, send_journal_name,
			    MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
}

static int open_out_of_the_way(void)
{
	int fd = memfd(MFD_NOEXEC_SEAL), moved;

	if (fd < 0 && errno == EINVAL) /* before 6.3 */
		fd = memfd(0);
	if (fd < 0)
		return -1;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
	if (moved < 0 && fd > STDERR_FILENO)
		return fd;
	close(fd);
	return moved;
}

int journal_file_back(void *map, uint64_t from, uint64_t to)
{
	return madvise((char *)map + from, to - from, MADV_POPULATE_WRITE) ? -errno : 0;
}

/* Returns the mapping, or NULL. */
static void *map_sealed(int fd, uint64_t capacity)
{
	void *map;

	if (ftruncate(fd, (off_t)capacity) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return NULL;
	map = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	if (journal_file_back(map, 0, PAGE_BYTES)) {
		munmap(map, capacity);
		return NULL;
	}
	madvise(map, capacity, MADV_DONTDUMP); /* keep core dumps of the engine small */
	return map;
}

void *journal_file_create(uint64_t capacity)
{
	int fd = open_out_of_the_way();
	void *map;

	if (fd < 0)
		return NULL;
	map = map_sealed(fd, capacity);
	if (!map)
		close(fd);
	return map;
}

void journal_file_release(void *map, uint64_t from, uint64_t to)
{
	madvise((char *)map + from, to - from, MADV_REMOVE);
}

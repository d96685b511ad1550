/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jitapi-shim/log_liveness.h"
#include "jitapi-shim/send.h"

/* The headers may be older than the kernel that runs. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MB	   (1ull << 20)
#define MB_MAX	   (JITBPF_JOURNAL_BYTES_MAX / MB)
#define PAGE_BYTES 4096ull

/* Without overcommit, unless the user wants more; memory from the start. */
#define POPULATED_BYTES MB
/* Of a limit of address space or data, the part that a journal may use. The rest takes twice more.
 */
#define LIMIT_PART 32
/* Of a journal's capacity, the part that is added to note the addresses of loads. */
#define REUSED_PART 32
/* Above the standard streams: an engine that reopens them must not get this descriptor. */
#define FD_MIN 64

/* Reads $JITBPF_JOURNAL_MB. Returns false if it is unset or not a number. */
static bool read_wanted(uint64_t *ret_bytes)
{
	const char *text = getenv("JITBPF_JOURNAL_MB");
	uint64_t mb = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		mb = mb * 10 + (uint64_t)(*text - '0');
		if (mb > MB_MAX)
			mb = MB_MAX;
	}
	*ret_bytes = mb << 20;
	return true;
}

static bool overcommits(void)
{
	int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	char mode = 0;

	if (fd < 0)
		return true;
	if (read(fd, &mode, 1) != 1)
		mode = 0;
	close(fd);
	return mode != '2';
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
									      : limit.rlim_cur;
}

/* Returns the size of the journal in bytes; 0: none. Makes no system call if the user wants none.
 */
static uint64_t choose_bytes(bool *ret_overcommit)
{
	uint64_t bytes;
	bool wanted = read_wanted(&bytes);

	if (wanted && !bytes)
		return 0;
	*ret_overcommit = overcommits();
	if (!wanted)
		bytes = *ret_overcommit ? JITBPF_JOURNAL_BYTES : POPULATED_BYTES;
	/* A file that grows past this limit raises SIGXFSZ, which kills the process. */
	bytes = least(bytes, limit_of(RLIMIT_FSIZE));
	bytes = least(bytes, limit_of(RLIMIT_AS) / LIMIT_PART);
	bytes = least(bytes, limit_of(RLIMIT_DATA) / LIMIT_PART);
	bytes &= ~(PAGE_BYTES - 1);
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

static void *reserve(uint64_t bytes, int sharing, int fd)
{
	int flags = sharing | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, bytes, MADV_DONTDUMP);   /* keep core dumps of the engine small */
	madvise(map, bytes, MADV_NOHUGEPAGE); /* the first byte would take 2 MB */
	return map;
}

/* Returns the mapping of a sealed memfd, or NULL. */
static void *reserve_shared(uint64_t bytes, bool populate)
{
	int fd = open_out_of_the_way();
	void *map = NULL;

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		map = reserve(bytes, MAP_SHARED, fd);
	if (map && populate && madvise(map, bytes, MADV_POPULATE_WRITE)) {
		munmap(map, bytes);
		map = NULL;
	}
	if (!map)
		close(fd);
	return map;
}

static void release(struct journal_memory *memory)
{
	if (memory->forked)
		munmap(memory->forked, memory->forked_bytes);
	if (memory->scratch)
		munmap(memory->scratch, memory->scratch_bytes + memory->reused_bytes);
}

static uint64_t reused_bytes(uint64_t journal_bytes)
{
	uint64_t bytes = PAGE_BYTES;

	while (2 * bytes <= journal_bytes / REUSED_PART)
		bytes *= 2;
	return bytes;
}

/* The memfd is the last one, since its descriptor cannot be found again. */
int journal_memory_reserve(struct journal_memory *ret)
{
	bool overcommit = true;
	struct journal_memory memory = {.shared_bytes = choose_bytes(&overcommit)};

	if (!memory.shared_bytes)
		return -1;
	memory.forked_bytes = least(memory.shared_bytes, JITBPF_JOURNAL_FORKED_BYTES);
	memory.reused_bytes = reused_bytes(memory.shared_bytes);
	memory.scratch_bytes = log_liveness_bytes(
		(uint32_t)(memory.shared_bytes / sizeof(struct jitbpf_journal_entry)));
	memory.scratch_bytes = (memory.scratch_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	memory.forked = reserve(memory.forked_bytes, MAP_PRIVATE, -1);
	memory.scratch = reserve(memory.scratch_bytes + memory.reused_bytes, MAP_PRIVATE, -1);
	if (memory.forked && memory.scratch)
		memory.shared = reserve_shared(memory.shared_bytes, !overcommit);
	if (!memory.shared) {
		release(&memory);
		return -1;
	}
	madvise(memory.scratch, memory.scratch_bytes + memory.reused_bytes, MADV_WIPEONFORK);
	memory.reused = (void *)((char *)memory.scratch + memory.scratch_bytes);
	*ret = memory;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for a while, straight from the kernel: the engine may be in the middle
 * of its own allocator. Handed out piece by piece, and given back as a whole.
 */
#ifndef JITBPF_SHIM_SCRATCH_H
#define JITBPF_SHIM_SCRATCH_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

struct scratch {
	char *bytes;
	uint64_t size_bytes, used_bytes;
};

/* Returns 0 or negative errno. */
static inline int scratch_init(struct scratch *scratch, uint64_t size_bytes)
{
	void *map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	*scratch = (struct scratch){.bytes = map, .size_bytes = size_bytes};
	return 0;
}

/* size_bytes of zeros, 8-byte aligned. Whoever sized the scratch has counted them: never NULL. */
static inline void *scratch_take(struct scratch *scratch, uint64_t size_bytes)
{
	void *taken = scratch->bytes + scratch->used_bytes;

	scratch->used_bytes += (size_bytes + 7) & ~7ull;
	if (scratch->used_bytes > scratch->size_bytes)
		__builtin_trap();
	return taken;
}

static inline void scratch_deinit(struct scratch *scratch)
{
	munmap(scratch->bytes, scratch->size_bytes);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a process, read on demand through a callback. The process may write to it at any
 * time, so no two reads need to agree, and no value read is trusted.
 */
#ifndef JITBPF_RUNTIMES_PROCESS_MEMORY_H
#define JITBPF_RUNTIMES_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct process_memory {
	/*
	 * Read all of [address, address + size_bytes). Returns 0; -EFAULT if a part of it cannot be
	 * read; or another negative errno, which ends the reading.
	 */
	int (*read)(void *context, uint64_t address, void *buf, size_t size_bytes);
	void *context;
	/* Returns at least how many reads the budget allows still. NULL: there is no budget. */
	uint32_t (*left)(void *context);
	/* Drop what was read ahead: later reads are of the present. NULL: nothing is read ahead. */
	void (*refresh)(void *context);
	/* What readers keep of this process, under note_owner. NULL: nothing is kept. */
	struct runtime_notes *notes;
	uint64_t note_owner;
};

static inline int process_memory_read(const struct process_memory *memory, uint64_t address,
				      void *buf, size_t size_bytes)
{
	return memory->read(memory->context, address, buf, size_bytes);
}

static inline int process_memory_word(const struct process_memory *memory, uint64_t address,
				      uint64_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

static inline uint32_t process_memory_left(const struct process_memory *memory)
{
	return memory->left ? memory->left(memory->context) : UINT32_MAX;
}

static inline void process_memory_refresh(const struct process_memory *memory)
{
	if (memory->refresh)
		memory->refresh(memory->context);
}

#endif

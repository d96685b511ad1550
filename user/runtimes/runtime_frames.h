/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows a recipe through the memory of a process, as the BPF program does at a sample, for the
 * self-checks of readers and for tests.
 */
#ifndef JITBPF_RUNTIMES_RUNTIME_FRAMES_H
#define JITBPF_RUNTIMES_RUNTIME_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/process_memory.h"
#include "uapi/runtime_recipe.h"

/* A thread at one moment. Without its registers, ip is 0. */
struct runtime_thread {
	uint64_t ip, thread_pointer;
	uint64_t registers[16]; /* in the order of DWARF */
};

/*
 * Put the frames of a thread into ret, the newest first, at most max of them. Their check words are
 * those of their functions (0: it could not be read), with the bit of an entry. *ret_count is set
 * in any case. Returns 0, or the error of the memory that ended the walk.
 */
int runtime_frames_walk(const struct process_memory *memory, const struct runtime_recipe *recipe,
			const struct runtime_thread *thread, size_t max, struct runtime_frame *ret,
			size_t *ret_count);

#endif

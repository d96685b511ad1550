/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads files of /proc/PID that never wait for the process. Its maps can: see process_maps.h.
 */
#ifndef JITBPF_AGENT_KERNEL_PROC_PROCESS_TEXT_H
#define JITBPF_AGENT_KERNEL_PROC_PROCESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/helper/process_maps.h"
#include "base/vec.h"

/* Returns true if only the beginning of the file was read. */
static inline bool process_text_is_cut(const process_text *text)
{
	return text->size >= PROCESS_TEXT_MAX;
}

static inline void process_text_deinit(process_text *text)
{
	vec_deinit(text);
}

/* Set *ret to the process's pid in its own pid namespace. Returns 0 or a negative errno. */
int process_inner_pid(process_text *text, uint32_t pid, uint32_t *ret);

/* Set *ret to the file system user ID of a process. Returns 0 or a negative errno. */
int process_user(process_text *text, uint32_t pid, uint32_t *ret);

/* Values of /proc/PID/stat. */
struct process_stat {
	const char *comm; /* points into the text, and is not NUL-terminated */
	size_t comm_bytes;
	uint64_t start_ticks; /* start of the leader, in clock ticks of CLOCK_BOOTTIME */
};

/* Read /proc/PID/stat into text. Returns 0 with *ret set, or a negative errno. */
int process_stat_read(process_text *text, uint32_t pid, struct process_stat *ret);

/* The same from text that was read, with a NUL at its end. Returns 0, or -ESRCH if it is cut. */
int process_stat_parse(const process_text *text, struct process_stat *ret);

/* Returns the CLOCK_MONOTONIC time at the beginning of a clock tick of CLOCK_BOOTTIME. */
uint64_t process_ticks_ns(uint64_t ticks);

/* Returns the clock tick of a CLOCK_BOOTTIME time in ns. */
uint64_t process_ticks_of(uint64_t boot_ns);

#endif

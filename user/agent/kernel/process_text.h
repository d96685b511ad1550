/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /proc says of a process, as text. */
#ifndef JITBPF_AGENT_KERNEL_PROCESS_TEXT_H
#define JITBPF_AGENT_KERNEL_PROCESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Of mappings some 100,000; but anybody can have mappings whose paths are 4 KB each. */
#define PROCESS_TEXT_MAX (16u << 20)

typedef VEC(char) process_text; /* not NUL-terminated */

/* Has only a part been read? */
static inline bool process_text_is_cut(const process_text *text)
{
	return text->size >= PROCESS_TEXT_MAX;
}

static inline void process_text_deinit(process_text *text)
{
	vec_deinit(text);
}

/*
 * Read /proc/PID/name in place of what text held: whole, or until it has reached
 * PROCESS_TEXT_MAX. Returns 0, -ENOMEM, or -errno.
 */
int process_text_read(process_text *text, uint32_t pid, const char *name);

/*
 * The text of a process's maps. A first thread that has ended has none any more,
 * but those that go on do; kernel threads never have any. Returns as above.
 */
int process_text_read_maps(process_text *text, uint32_t pid);

/* Sets *ret to the process's pid in its own pid namespace. Returns 0 or negative errno. */
int process_inner_pid(process_text *text, uint32_t pid, uint32_t *ret);

/* Sets *ret to the user whose files a process creates. Returns 0 or negative errno. */
int process_user(process_text *text, uint32_t pid, uint32_t *ret);

/* What is asked of /proc/PID/stat. */
struct process_stat {
	const char *comm; /* points into the text, and is not NUL-terminated */
	size_t comm_bytes;
	uint64_t start_ticks; /* when the first thread began: clock ticks of CLOCK_BOOTTIME */
};

/* As above. */
int process_stat_read(process_text *text, uint32_t pid, struct process_stat *ret);

/* CLOCK_MONOTONIC at the beginning of a clock tick of CLOCK_BOOTTIME. */
uint64_t process_ticks_ns(uint64_t ticks);

/* The clock tick of a time by CLOCK_BOOTTIME. */
uint64_t process_ticks_of(uint64_t boot_ns);

#endif

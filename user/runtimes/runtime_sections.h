/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks frames that are elements of arrays, for runtime_frames_walk(). */
#ifndef JITBPF_RUNTIMES_RUNTIME_SECTIONS_H
#define JITBPF_RUNTIMES_RUNTIME_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "runtimes/process_memory.h"
#include "uapi/runtime_recipe.h"

/*
 * As runtime_frames_walk(), from the newest section on. `before`: the address before the last step.
 */
int runtime_sections_walk(const struct process_memory *memory, const struct runtime_recipe *recipe,
			  uint64_t ip, uint64_t section, uint64_t before, size_t max,
			  struct runtime_frame *ret, size_t *ret_count);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks as the kernel walked them: by mappings that it had been told of a while before. */
#ifndef JITBPF_UNWIND_WALKED_STACK_H
#define JITBPF_UNWIND_WALKED_STACK_H

#include <stdint.h>

#include "state/process/process_table.h"
#include "uapi/record.h"

/*
 * How many of a sample's user frames stand: up to the first one whose caller was found by the
 * rules of something that was no longer there. All that was mapped up to the sample's time has
 * been applied to the process.
 */
uint32_t walked_stack_sound(const struct process *process, const struct jitbpf_sample *sample);

#endif

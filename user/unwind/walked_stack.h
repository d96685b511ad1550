/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks of stacks that the kernel walked with mappings that were already outdated. */
#ifndef JITBPF_UNWIND_WALKED_STACK_H
#define JITBPF_UNWIND_WALKED_STACK_H

#include <stdint.h>

#include "state/process/process_table.h"
#include "uapi/record.h"

/*
 * Returns the number of valid user frames of a sample. The walk is valid up to
 * the first frame whose caller was found with rows of a mapping that had been
 * replaced. All events up to the sample's time must have been applied to the
 * process.
 */
uint32_t walked_stack_sound(const struct process *process, const struct jitbpf_sample *sample);

#endif

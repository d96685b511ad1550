/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executable memory that a process shares with others, and that is of no named file. */
#ifndef JITBPF_AGENT_FILES_SHARED_CODE_H
#define JITBPF_AGENT_FILES_SHARED_CODE_H

#include <stddef.h>

#include "uapi/runtime_recipe.h"

/*
 * Find such memory in the text of /proc/PID/maps. The first `max` ranges are put to ret, by
 * address. Returns their number.
 */
size_t shared_code_find(const char *maps, size_t maps_bytes, struct runtime_range *ret, size_t max);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a runtime has code in a process beside its file (struct runtime_code_range). */
#ifndef JITBPF_AGENT_FILES_CODE_RANGES_H
#define JITBPF_AGENT_FILES_CODE_RANGES_H

#include <stddef.h>

#include "runtimes/runtime_reader.h"

/* Anonymous memory of more bytes that can be written, and not executed, is no part of a range. */
#define CODE_RANGE_DATA_MAX (2u << 20)

/*
 * Find these in the text of /proc/PID/maps. The file is that which is mapped at `address`.
 * Anonymous memory counts as one range if it is adjacent: pages that are executable, those that
 * nobody may access, and little that is written at the moment. At least one page of it is
 * executable; the file can be mapped between. The first `max` ranges are put to ret, by address.
 * Returns their number.
 */
size_t code_ranges_find(const char *maps, size_t maps_bytes, uint64_t address,
			struct runtime_code_range *ret, size_t max);

#endif

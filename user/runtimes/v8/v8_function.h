/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads functions of V8: SharedFunctionInfo, which all closures of a function have in common. */
#ifndef JITBPF_RUNTIMES_V8_V8_FUNCTION_H
#define JITBPF_RUNTIMES_V8_V8_FUNCTION_H

#include "runtimes/runtime_reader.h"
#include "runtimes/v8/v8_object.h"
#include "runtimes/v8/v8_script.h"

/* The most that reading a function costs, whatever the process has written. */
#define V8_FUNCTION_READS_MAX (V8_ENDS_MAX + 4096)
#define V8_FUNCTION_BYTES_MAX (V8_SOURCE_BYTES_MAX + (4u << 20))

/*
 * Read the function at an address, as runtime_reader.function(). Its name is "NAME
 * FILE:LINE:COLUMN", as engine_v8 makes it of the names that V8 writes for profilers: NAME is that
 * of V8's stack traces without the class of the receiver, or "(anonymous)"; the position is that of
 * the first parenthesis. Without a table of positions, which V8 makes when it needs one, no other
 * lines are known.
 */
int v8_function_read(const struct v8_heap *heap, const struct runtime_check *check,
		     uint64_t address, struct runtime_function *ret);

#endif

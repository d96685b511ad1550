/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_reader.h"

#include <errno.h>
#include <stdlib.h>

/* A runtime that has not begun a function can be one instruction before it. */
#define BYTES_BEFORE 16

enum jitbpf_runtime_status runtime_status_of(int err)
{
	switch (err) {
	case 0:
		return JITBPF_RUNTIME_SHOWN;
	case -ENODATA:
		return JITBPF_RUNTIME_STARTING;
	case -ENOTSUP:
		return JITBPF_RUNTIME_OTHER_VERSION;
	case -EBADMSG:
		return JITBPF_RUNTIME_NOT_AS_KNOWN;
	case -ENOENT:
		return JITBPF_RUNTIME_NO_SYMBOLS;
	case -ESRCH:
		return JITBPF_RUNTIME_ENDED;
	default:
		return JITBPF_RUNTIME_MEMORY_REFUSED;
	}
}

uint32_t runtime_function_line(const struct runtime_function *function, uint64_t position)
{
	int64_t offset = (int64_t)(position - function->code);
	uint32_t line = function->first_line;

	if (!function->code)
		offset = (int32_t)position;
	else if (!position)
		return 0;
	if (!function->code && !function->lines.size)
		return (uint32_t)position;
	if (offset < -BYTES_BEFORE || offset > INT32_MAX)
		return 0;
	vec_for_each (at, &function->lines) {
		if (offset < (int64_t)at->position)
			break;
		line = at->line;
	}
	return line;
}

void runtime_function_deinit(struct runtime_function *function)
{
	free(function->name);
	free(function->file);
	vec_deinit(&function->lines);
	vec_for_each (one, &function->copied)
		runtime_function_deinit(one);
	vec_deinit(&function->copied);
	*function = (struct runtime_function){0};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/layout.h"

#include <errno.h>
#include <stdbool.h>

#include "base/scope.h"
#include "runtimes/cpython/debug_offsets.h"

static const struct cpython_layout layouts[] = {
	{
		.minor = 9,
		.interpreters_head = 32,
		.tss_key = 584,
		.runtime_holder = 568,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 176,
		.thread_frame = 24,
		.frame_code = 32,
		.frame_previous = 24,
		.frame_position = 104,
		.frame_entry = 104,
		.code_first_line = 40,
		.code_file = 104,
		.code_name = 112,
		.code_lines = 120,
		.code_identity = 32,
		.code_identity_end = 128,
		.text_ascii_bytes = 48,
		.text_compact_bytes = 72,
	},
	{
		.minor = 10,
		.interpreters_head = 32,
		.tss_key = 584,
		.runtime_holder = 568,
		.interpreter_next = 0,
		.interpreter_threads = 8,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 176,
		.thread_frame = 24,
		.frame_code = 32,
		.frame_previous = 24,
		.frame_position = 96,
		.frame_entry = 96,
		.code_first_line = 40,
		.code_file = 104,
		.code_name = 112,
		.code_lines = 120,
		.code_identity = 32,
		.code_identity_end = 128,
		.text_ascii_bytes = 48,
		.text_compact_bytes = 72,
	},
	{
		.minor = 11,
		.interpreters_head = 40,
		.tss_key = 592,
		.runtime_holder = 576,
		.interpreter_next = 0,
		.interpreter_threads = 16,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 152,
		.thread_frame = 56,
		.has_cframe = true,
		.cframe_frame = 8,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_position = 56,
		.frame_entry = 68,
		.code_first_line = 72,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_bytes = 184,
		.code_identity = 56,
		.code_identity_end = 144,
		.text_ascii_bytes = 48,
		.text_compact_bytes = 72,
	},
	{
		.minor = 12,
		.interpreters_head = 40,
		.tss_key = 1544,
		.interpreter_next = 0,
		.interpreter_threads = 72,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 136,
		.thread_frame = 56,
		.has_cframe = true,
		.cframe_frame = 0,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_position = 56,
		.frame_entry = 70,
		.code_first_line = 68,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_bytes = 192,
		.code_identity = 64,
		.code_identity_end = 144,
		.text_ascii_bytes = 40,
		.text_compact_bytes = 56,
	},
	/* The members that are not set here are published. */
	{
		.minor = 13,
		.tss_key = 2160,
		.thread_frame = 72,
	},
	{
		.minor = 14,
		.tss_key = 2336,
		.thread_frame = 72,
	},
};

const struct cpython_layout *cpython_layout_of(const struct engine_version *version)
{
	if (version->parts < 2 || version->part[0] != 3)
		return NULL;
	for (uint32_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].minor == version->part[1])
			return &layouts[i];
	}
	return NULL;
}

int cpython_layout_find(const struct process_memory *memory, uint64_t runtime,
			struct engine_version *version, struct cpython_layout *ret)
{
	const struct cpython_layout *known = cpython_layout_of(version);
	struct cpython_layout found;
	int err;

	if (!known)
		return -ENOTSUP;
	found = *known;
	if (known->minor >= CPYTHON_MINOR_PUBLISHED) {
		err = cpython_debug_offsets_read(memory, runtime, version, &found);
		if (err)
			return err;
	}
	*ret = found;
	return 0;
}

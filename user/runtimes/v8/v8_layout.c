/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_layout.h"

#include "base/scope.h"

/* Of the word with the parameters: their count, and where the function's first token is. */
#define PARAMETERS_MASK 0xffffffffull

#define TAG 1

struct runtime_check v8_function_check(const struct v8_file *file)
{
	return (struct runtime_check){
		.link_count = 4,
		.link =
			{
				{
					.step = RUNTIME_NO_OFFSET,
					.word_at = file->shared_parameters,
					.word_mask = PARAMETERS_MASK,
				},
				{
					.step = RUNTIME_NO_OFFSET,
					.word_at = file->shared_flags,
					.word_mask = UINT64_MAX << 32,
				},
				{
					.step = file->shared_script,
					.word_at = (int16_t)(file->script_ends + V8_ID_BEHIND_ENDS -
							     TAG),
					.word_mask = UINT64_MAX,
				},
				{
					.step = (int16_t)(file->script_source - TAG),
					.word_at = (int16_t)(file->text_length - TAG),
					.word_mask = UINT32_MAX,
				},
			},
	};
}

static bool is_member(int16_t offset)
{
	return offset > 0 && offset < 256;
}

bool v8_layout_is_known(const struct v8_file *file)
{
	const int16_t members[] = {
		file->function_shared, file->shared_name,	file->shared_script,
		file->shared_flags,    file->script_name,	file->script_source,
		file->script_ends,     file->code_data,		file->map_type,
		file->text_length,     file->text_chars,	file->text_wide_chars,
		file->cons_first,      file->cons_second,	file->sliced_parent,
		file->sliced_offset,   file->thin_actual,	file->array_length,
		file->array_data,      file->shared_parameters,
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		if (!is_member(members[i]))
			return false;
	}
	return file->major >= V8_MAJOR_MIN && file->major <= V8_MAJOR_MAX &&
	       (file->scope_variables == 3 || file->scope_variables == 5) &&
	       file->frame_function % 8 == 0 && file->frame_context % 8 == 0 &&
	       file->frame_position % 8 == 0 && file->trampoline_count &&
	       file->trampoline_count <= V8_TRAMPOLINES_MAX;
}

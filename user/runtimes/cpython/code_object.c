/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/code_object.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/cpython/line_table.h"
#include "runtimes/cpython/text_object.h"
#include "runtimes/runtime_check.h"

struct runtime_check cpython_code_check(const struct cpython_layout *layout)
{
	/*
	 * The hash of a name is known since the name was interned; that of a path may be computed
	 * later, and is then a change. Since 3.12, the words have co_version, a number of its own
	 * for each code object.
	 */
	bool has_number = layout->minor >= 12;

	return (struct runtime_check){
		.offset = (int16_t)layout->code_identity,
		.size_bytes = layout->code_identity_end - layout->code_identity,
		.name_count = 2,
		.name_at = {(int16_t)layout->code_name, (int16_t)layout->code_file},
		.name_word = {CPYTHON_TEXT_HASH,
			      has_number ? CPYTHON_TEXT_LENGTH : CPYTHON_TEXT_HASH},
	};
}

int cpython_code_is(const struct process_memory *memory, uint64_t object, uint64_t *type)
{
	uint64_t found, name;
	char text[5];
	int err = process_memory_word(memory, object + CPYTHON_OBJECT_TYPE, &found);

	if (err)
		return err;
	if (*type)
		return found == *type ? 0 : -EBADMSG;
	err = process_memory_word(memory, found + CPYTHON_TYPE_NAME, &name);
	err = err ?: process_memory_read(memory, name, text, sizeof(text));
	if (err)
		return err;
	if (memcmp(text, "code", sizeof(text)) != 0)
		return -EBADMSG;
	*type = found;
	return 0;
}

static int read_text(const struct process_memory *memory, const struct cpython_layout *layout,
		     uint64_t member, size_t max_bytes, char **ret)
{
	uint64_t text;
	int err = process_memory_word(memory, member, &text);

	return err ?: cpython_text_read(memory, layout, text, max_bytes, ret);
}

static int read_lines(const struct process_memory *memory, const struct cpython_layout *layout,
		      uint64_t object, struct runtime_function *ret)
{
	AUTO_FREE uint8_t *bytes = NULL;
	uint64_t table, size_bytes;
	int err = process_memory_word(memory, object + layout->code_lines, &table);

	err = err ?: process_memory_word(memory, table + CPYTHON_OBJECT_SIZE, &size_bytes);
	if (err)
		return err;
	if (size_bytes > CPYTHON_LINES_BYTES_MAX)
		size_bytes = CPYTHON_LINES_BYTES_MAX;
	bytes = malloc(size_bytes + 1);
	if (!bytes)
		return -ENOMEM;
	err = size_bytes
		      ? process_memory_read(memory, table + CPYTHON_BYTES_DATA, bytes, size_bytes)
		      : 0;
	return err ?: cpython_lines_read(layout->minor, bytes, size_bytes, ret);
}

static int read_function(const struct process_memory *memory, const struct cpython_layout *layout,
			 uint64_t object, struct runtime_function *ret)
{
	int32_t first_line;
	int err = process_memory_read(memory, object + layout->code_first_line, &first_line,
				      sizeof(first_line));

	if (err)
		return err;
	ret->first_line = first_line > 0 ? (uint32_t)first_line : 0;
	ret->code = layout->code_bytes ? object + layout->code_bytes : 0;
	err = read_text(memory, layout, object + layout->code_name, RUNTIME_NAME_MAX, &ret->name);
	err = err
		      ?: read_text(memory, layout, object + layout->code_file, RUNTIME_FILE_MAX,
				   &ret->file);
	return err ?: read_lines(memory, layout, object, ret);
}

#define USES_MAX	  (1u << 20)
#define IMMORTAL_USES_MIN 0x3b000000u /* 999,999,999 in 3.11; more in others */

/*
 * Returns 0 if an object is in use, by its count of references; else -EBADMSG. The memory of a
 * freed object keeps most of its words, but the texts that they lead to may be of other objects by
 * now. In place of the count, it has 0 or a pointer of the allocator.
 */
static int check_use(const struct process_memory *memory, uint64_t object)
{
	uint64_t word;
	uint32_t uses;

	/* The count cannot be missing: its page has the type, too. */
	if (process_memory_word(memory, object, &word))
		return 0;
	uses = (uint32_t)word;
	if (!uses || word >> 32 & 0xffff || (uses > USES_MAX && uses < IMMORTAL_USES_MIN))
		return -EBADMSG;
	return 0;
}

int cpython_code_read(const struct process_memory *memory, const struct cpython_layout *layout,
		      uint64_t type, uint64_t object, struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function made = {0};
	struct runtime_check check = cpython_code_check(layout);
	uint64_t after;
	int err = runtime_check_read(memory, &check, object, false, &made.check);

	err = err ?: check_use(memory, object);
	err = err ?: cpython_code_is(memory, object, &type);
	err = err ?: read_function(memory, layout, object, &made);
	process_memory_refresh(memory);
	err = err ?: runtime_check_read(memory, &check, object, false, &after);
	err = err ?: check_use(memory, object);
	if (err)
		return err;
	if (after != made.check)
		return -EAGAIN;
	*ret = made;
	made = (struct runtime_function){0};
	return 0;
}

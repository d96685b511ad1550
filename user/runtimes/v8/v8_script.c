/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_notes.h"

/* Members that are not exported, but behind one that is, in all versions. */
#define LINE_BEHIND_NAME 8
#define ID_BEHIND_ENDS	 8

#define LINE_MAX    (1 << 24)
#define PIECE_BYTES (64u << 10) /* of a source */
#define COUNTED_MAX (1u << 20)	/* lines of a source */

int v8_script_read(const struct v8_heap *heap, uint64_t script, struct v8_script *ret)
{
	const struct v8_file *file = heap->file;
	struct v8_script read = {0};
	uint64_t source;
	int err = v8_expect(heap, script, file->type_script);

	err = err ?: v8_word(heap, script, file->script_name, &read.name);
	err = err ?: v8_word(heap, script, file->script_ends, &read.ends);
	err = err ?: v8_word(heap, script, file->script_source, &source);
	err = err ?: v8_integer(heap, script, file->script_name + LINE_BEHIND_NAME, &read.line);
	err = err ?: v8_integer(heap, script, file->script_ends + ID_BEHIND_ENDS, &read.id);
	if (err)
		return err;
	err = v8_text_find(heap, source, &read.source);
	if (err && err != -EBADMSG)
		return err;
	if (err)
		read.source = (struct v8_chars){0};
	if (read.line < 0 || read.line > LINE_MAX)
		return -EBADMSG;
	*ret = read;
	return 0;
}

/*
 * Returns the number of the entries of the array of ends; 0: V8 has not made it. Its last entry is
 * where the source ends.
 */
static int32_t count_ends(const struct v8_heap *heap, const struct v8_script *script)
{
	const struct v8_file *file = heap->file;
	int32_t count, last;

	if (v8_integer(heap, script->ends, file->array_length, &count) || count <= 0 ||
	    count > V8_TEXT_LENGTH_MAX ||
	    v8_integer(heap, script->ends, file->array_data + (count - 1) * 8, &last) ||
	    last != script->source.count)
		return 0;
	return count;
}

static int end_at(const struct v8_heap *heap, const struct v8_script *script, int32_t line,
		  int32_t *ret)
{
	return v8_integer(heap, script->ends, heap->file->array_data + line * 8, ret);
}

/* Find the lines by the array of ends. */
static int take_ends(const struct v8_heap *heap, const struct v8_script *script, int32_t count,
		     int32_t start, int32_t end, struct v8_lines *lines)
{
	int32_t low = 0, high = count - 1, value = -1, before = -1;
	int err = 0;

	/* The first line that ends at `start`, or behind it. */
	while (low < high && !err) {
		int32_t middle = low + (high - low) / 2;

		err = end_at(heap, script, middle, &value);
		if (value < start)
			low = middle + 1;
		else
			high = middle;
	}
	lines->first = (uint32_t)(low + script->line + 1);
	if (low && !err) {
		err = end_at(heap, script, low - 1, &lines->line_start);
		lines->line_start++;
	}
	for (; low < count && !err && lines->ends.size < V8_ENDS_MAX; low++) {
		err = end_at(heap, script, low, &value);
		if (!err && value < before)
			err = -EBADMSG;
		if (err || value > end)
			break;
		before = value;
		err = vec_push(&lines->ends, value);
	}
	return err;
}

typedef VEC(int32_t) line_ends;

static bool ends_line(uint32_t code)
{
	return code == '\n' || code == '\r' || code == 0x2028 || code == 0x2029;
}

/* Add the ends of lines in a piece of a source, which is at a position. */
static int add_ends(line_ends *ends, const uint8_t *piece, int32_t position, int32_t count,
		    bool is_wide, bool *was_return)
{
	for (int32_t i = 0; i < count; i++) {
		uint16_t code = piece[i];

		if (is_wide)
			memcpy(&code, piece + 2 * i, sizeof(code));
		/* The end of a line is the last character of "\r\n". */
		if (code == '\n' && *was_return)
			ends->data[ends->size - 1]++;
		else if (ends_line(code) && ends->size == COUNTED_MAX)
			return -EBADMSG;
		else if (ends_line(code) && vec_push(ends, position + i))
			return -ENOMEM;
		*was_return = code == '\r';
	}
	return 0;
}

/* Find the ends of all lines of a source. */
static int count_lines(const struct v8_heap *heap, const struct v8_chars *source, line_ends *ends)
{
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	int32_t most = (int32_t)(PIECE_BYTES >> source->is_wide), now;
	bool was_return = false;
	int err = 0;

	if (!piece)
		return -ENOMEM;
	if ((uint64_t)source->count << source->is_wide > V8_SOURCE_BYTES_MAX)
		return -EBADMSG;
	for (int32_t at = 0; at < source->count && !err; at += now) {
		now = source->count - at < most ? source->count - at : most;
		err = process_memory_read(heap->memory,
					  source->address + ((uint64_t)at << source->is_wide),
					  piece, (size_t)now << source->is_wide);
		err = err ?: add_ends(ends, piece, at, now, source->is_wide, &was_return);
	}
	return err;
}

/* Take the lines of a part from those of the whole source. */
static int take_part(const int32_t *ends, size_t count, const struct v8_script *script,
		     int32_t start, int32_t end, struct v8_lines *lines)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ends[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	lines->first = (uint32_t)low + (uint32_t)script->line + 1;
	lines->line_start = low ? ends[low - 1] + 1 : 0;
	for (; low < count && ends[low] <= end && lines->ends.size < V8_ENDS_MAX; low++) {
		if (vec_push(&lines->ends, ends[low]))
			return -ENOMEM;
	}
	return 0;
}

/* Find the lines by the source, whose lines are counted once for all of its functions. */
static int take_source(const struct v8_heap *heap, const struct v8_script *script, int32_t start,
		       int32_t end, struct v8_lines *lines)
{
	const struct process_memory *memory = heap->memory;
	const struct runtime_note_key key = {
		.owner = memory->note_owner,
		.object = (uint32_t)script->id,
		.version = (uint32_t)script->source.count,
	};
	line_ends ends = {0};
	const int32_t *kept = NULL;
	size_t bytes;
	int err;

	if (memory->notes)
		kept = runtime_notes_find(memory->notes, &key, &bytes);
	if (kept)
		return take_part(kept, bytes / sizeof(*kept), script, start, end, lines);
	err = count_lines(heap, &script->source, &ends);
	err = err ?: take_part(ends.data, ends.size, script, start, end, lines);
	if (!err && memory->notes && ends.size) {
		runtime_notes_put(memory->notes, &key, ends.data, ends.size * sizeof(*ends.data));
		ends.data = NULL;
	}
	vec_deinit(&ends);
	return err;
}

int v8_lines_find(const struct v8_heap *heap, const struct v8_script *script, int32_t start,
		  int32_t end, struct v8_lines *ret)
{
	CLEANUP(v8_lines_deinit) struct v8_lines lines = {0};
	int32_t count;
	int err;

	if (start < 0 || end < start || end > script->source.count)
		return -EBADMSG;
	count = count_ends(heap, script);
	err = count ? take_ends(heap, script, count, start, end, &lines)
		    : take_source(heap, script, start, end, &lines);
	if (err)
		return err;
	*ret = lines;
	lines = (struct v8_lines){0};
	return 0;
}

void v8_lines_deinit(struct v8_lines *lines)
{
	vec_deinit(&lines->ends);
}

uint32_t v8_line_of(const struct v8_lines *lines, int32_t position)
{
	size_t low = 0, high = lines->ends.size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ends.data[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return lines->first ? lines->first + (uint32_t)low : 0;
}

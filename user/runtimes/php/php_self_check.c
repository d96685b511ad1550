/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_self_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/php/php_string.h"

#define BUCKETS_MAX    8
#define FRAMES_MAX     16
#define NAME_BYTES_MAX 64
#define FRAME_WORDS    (PHP_FRAME_PREVIOUS / 8 + 1)
#define TRIES	       4 /* the process runs on, and may change frames while they are read */

/* Returned for what says nothing: neither right nor wrong. */
#define NOTHING 1

static int text_is(const struct process_memory *memory, uint64_t a, uint64_t b)
{
	struct php_string left = {0}, right = {0};
	int err = php_string_read(memory, a, NAME_BYTES_MAX, &left);

	err = err ?: php_string_read(memory, b, NAME_BYTES_MAX, &right);
	if (!err && (!*left.text || strcmp(left.text, right.text) != 0))
		err = -EBADMSG;
	free(left.text);
	free(right.text);
	return err;
}

/* Returns 0 if a bucket has a function of C under its own name. */
static int check_bucket(const struct process_memory *memory, uint64_t bucket)
{
	uint64_t words[PHP_BUCKET_BYTES / 8], name;
	uint8_t type;
	int err = process_memory_read(memory, bucket, words, sizeof(words));

	if (err)
		return err;
	if (!words[0] || !words[PHP_BUCKET_KEY / 8]) /* it was removed */
		return NOTHING;
	err = process_memory_read(memory, words[0] + PHP_FUNCTION_TYPE, &type, sizeof(type));
	err = err ?: process_memory_word(memory, words[0] + PHP_FUNCTION_NAME, &name);
	if (!err && type != PHP_FUNCTION_INTERNAL)
		return NOTHING;
	return err ?: text_is(memory, words[PHP_BUCKET_KEY / 8], name);
}

static int check_functions(const struct process_memory *memory, const struct php_layout *layout,
			   uint64_t globals)
{
	uint64_t table, buckets;
	uint32_t used;
	int err = process_memory_word(memory, globals + (uint64_t)layout->function_table, &table);

	if (!err && !table)
		return -ENODATA;
	err = err ?: process_memory_word(memory, table + PHP_TABLE_BUCKETS, &buckets);
	err = err ?: process_memory_read(memory, table + PHP_TABLE_USED, &used, sizeof(used));
	if (!err && !used)
		return -ENODATA;
	for (uint32_t i = 0; i < BUCKETS_MAX && i < used && !err; i++) {
		err = check_bucket(memory, buckets + i * PHP_BUCKET_BYTES);
		if (!err)
			return 0;
		if (err == NOTHING)
			err = 0;
	}
	return err ?: -EBADMSG;
}

/* Check a function of PHP, and the position of a frame of it. */
static int check_position(const struct process_memory *memory, const struct php_layout *layout,
			  uint64_t function, uint64_t position)
{
	struct php_string file = {0};
	uint64_t opcodes, filename;
	uint32_t last, line;
	int err = process_memory_word(memory, function + (uint64_t)layout->opcodes, &opcodes);

	err = err
		      ?: process_memory_read(memory, function + (uint64_t)layout->last, &last,
					     sizeof(last));
	err = err ?: process_memory_word(memory, function + (uint64_t)layout->filename, &filename);
	if (!err && ((position - opcodes) % PHP_OP_BYTES ||
		     (position - opcodes) / PHP_OP_BYTES >= last || !filename))
		err = -EBADMSG;
	err = err ?: process_memory_read(memory, position + PHP_OP_LINE, &line, sizeof(line));
	err = err ?: php_string_read(memory, filename, NAME_BYTES_MAX, &file);
	if (!err && (!*file.text || !line))
		err = -EBADMSG;
	free(file.text);
	return err;
}

static int check_frame(const struct process_memory *memory, const struct php_layout *layout,
		       const uint64_t *frame, bool is_newest)
{
	uint64_t function = frame[PHP_FRAME_FUNCTION / 8];
	uint8_t type;
	int err;

	if (!function)
		return NOTHING;
	err = process_memory_read(memory, function + PHP_FUNCTION_TYPE, &type, sizeof(type));
	if (err)
		return err;
	if (type == PHP_FUNCTION_INTERNAL || is_newest)
		return NOTHING;
	if (type != PHP_FUNCTION_USER && type != PHP_FUNCTION_EVAL)
		return -EBADMSG;
	return check_position(memory, layout, function, frame[PHP_FRAME_OPLINE / 8]);
}

/* JIT code writes no position to the newest frame before it calls something. */
static int check_frames(const struct process_memory *memory, const struct php_layout *layout,
			uint64_t globals)
{
	uint64_t frame[FRAME_WORDS], address;
	int err = process_memory_word(memory, globals + (uint64_t)layout->current_frame, &address);

	for (uint32_t i = 0; i < FRAMES_MAX && address && !err; i++) {
		err = process_memory_read(memory, address, frame, sizeof(frame));
		err = err ?: check_frame(memory, layout, frame, !i);
		if (!err)
			return 0;
		if (err == NOTHING)
			err = 0;
		address = frame[PHP_FRAME_PREVIOUS / 8];
	}
	return err;
}

static bool is_wrong(int err)
{
	return err == -EBADMSG || err == -EFAULT;
}

int php_self_check(const struct process_memory *memory, const struct php_layout *layout,
		   uint64_t globals)
{
	int err = check_functions(memory, layout, globals);

	if (err)
		return is_wrong(err) ? -EBADMSG : err;
	err = check_frames(memory, layout, globals);
	for (uint32_t i = 1; i < TRIES && is_wrong(err); i++) {
		process_memory_refresh(memory);
		err = check_frames(memory, layout, globals);
	}
	return is_wrong(err) ? -EBADMSG : err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/packed_rows.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "base/zigzag.h"

#define ZSTD_LEVEL 1

int packed_memory_take(struct packed_memory *memory, uint64_t bytes)
{
	memory->full |= memory->limit_bytes && (memory->bytes > memory->limit_bytes ||
						bytes > memory->limit_bytes - memory->bytes);
	if (memory->full)
		return -EDQUOT;
	memory->bytes += bytes;
	return 0;
}

static bool take(void *memory, uint64_t bytes)
{
	return !packed_memory_take(memory, bytes);
}

struct room packed_memory_room(struct packed_memory *memory)
{
	return (struct room){.take = take, .context = memory};
}

void packed_memory_deinit(struct packed_memory *memory)
{
	ZSTD_freeCCtx(memory->zstd);
	memory->zstd = NULL;
}

/* The first column usually advances by a period; the others are often unchanged. */
static uint64_t expected(const uint64_t *state, uint32_t column)
{
	return state[1 + column] + (column ? 0 : state[0]);
}

static void learn(uint64_t *state, uint32_t column, uint64_t value)
{
	if (!column)
		state[0] = value - state[1];
	state[1 + column] = value;
}

static size_t state_bytes(const struct packed_rows *rows)
{
	return PACKED_STATE_WORDS(rows->columns) * sizeof(uint64_t);
}

struct cursor packed_rows_open(const struct packed_rows *rows)
{
	size_t state = state_bytes(rows);

	if (!rows->open.size)
		return (struct cursor){0};
	return cursor_of(rows->open.data + state, rows->open.size - state);
}

int packed_row_read(struct cursor *c, uint32_t columns, uint64_t *state)
{
	uint64_t difference;

	for (uint32_t i = 0; i < columns; i++) {
		if (leb128_read(c, &difference))
			return -EBADMSG;
		learn(state, i, expected(state, i) + unzigzag(difference));
	}
	return 0;
}

/* Compress the open block. A block that would not become smaller is copied. */
static int close_block(struct packed_rows *rows, struct packed_memory *memory)
{
	size_t raw = rows->open.size - state_bytes(rows), size;
	const uint8_t *open = rows->open.data + state_bytes(rows);
	AUTO_FREE uint8_t *packed = malloc(raw);
	struct packed_block block = {.unpacked_bytes = (uint32_t)raw};
	uint8_t *fit;
	int err;

	if (!memory->zstd)
		memory->zstd = ZSTD_createCCtx();
	if (!memory->zstd || !packed || vec_reserve(&rows->blocks, rows->blocks.size + 1))
		return -ENOMEM;
	size = ZSTD_compressCCtx(memory->zstd, packed, raw, open, raw, ZSTD_LEVEL);
	if (ZSTD_isError(size) || size >= raw) {
		memcpy(packed, open, raw);
		size = raw;
	}
	err = packed_memory_take(memory, size + sizeof(block));
	if (err)
		return err;
	fit = realloc(packed, size);
	if (fit)
		packed = fit;
	block.bytes = TAKE_PTR(packed);
	block.size_bytes = (uint32_t)size;
	rows->open.size = state_bytes(rows);
	return vec_push(&rows->blocks, block);
}

/* Get room for a row in the open block. Its capacity is charged. */
static int reserve(struct packed_rows *rows, struct packed_memory *memory)
{
	size_t row = rows->columns * LEB128_BYTES_MAX, state = state_bytes(rows);
	size_t capacity = rows->open.capacity ?: 8;
	int err = 0;

	if (rows->open.size + row > PACKED_BLOCK_BYTES)
		err = close_block(rows, memory);
	while (capacity < (rows->open.size ?: state) + row)
		capacity *= 2;
	err = err ?: packed_memory_take(memory, capacity - rows->open.capacity);
	err = err ?: vec_reserve(&rows->open, capacity);
	if (!err && !rows->open.size) {
		memset(rows->open.data, 0, state);
		rows->open.size = state;
	}
	return err;
}

int packed_rows_add(struct packed_rows *rows, struct packed_memory *memory, const uint64_t *values)
{
	int err = reserve(rows, memory);
	uint64_t *state = (uint64_t *)rows->open.data;

	if (err)
		return err;
	for (uint32_t i = 0; i < rows->columns; i++) {
		uint64_t difference = zigzag(values[i] - expected(state, i));

		rows->open.size += leb128_write(difference, rows->open.data + rows->open.size);
		learn(state, i, values[i]);
	}
	rows->count++;
	if (values[0] > rows->latest_ns)
		rows->latest_ns = values[0];
	else if (rows->latest_ns - values[0] > rows->lateness_ns)
		rows->lateness_ns = rows->latest_ns - values[0];
	return 0;
}

void packed_rows_deinit(struct packed_rows *rows)
{
	vec_for_each (block, &rows->blocks)
		free(block->bytes);
	vec_deinit(&rows->blocks);
	vec_deinit(&rows->open);
}

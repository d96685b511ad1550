/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/deflate_code.h"

#include <errno.h>

#include "base/scope.h"

#define STOP_SYMBOL   256
#define FIRST_LENGTH  257
#define INVALID_ENTRY ((struct deflate_entry){.bits = 1, .kind = DEFLATE_INVALID})

/* A base, and the number of bits to add. */
struct range {
	uint16_t base;
	uint8_t extra_bits;
};

static const struct range lengths_of[] = {
	{3, 0},	  {4, 0},   {5, 0},   {6, 0},	{7, 0},	  {8, 0},  {9, 0},  {10, 0},
	{11, 1},  {13, 1},  {15, 1},  {17, 1},	{19, 2},  {23, 2}, {27, 2}, {31, 2},
	{35, 3},  {43, 3},  {51, 3},  {59, 3},	{67, 4},  {83, 4}, {99, 4}, {115, 4},
	{131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};

static const struct range distances_of[] = {
	{1, 0},	    {2, 0},	{3, 0},	    {4, 0},	 {5, 1},      {7, 1},
	{9, 2},	    {13, 2},	{17, 3},    {25, 3},	 {33, 4},     {49, 4},
	{65, 5},    {97, 5},	{129, 6},   {193, 6},	 {257, 7},    {385, 7},
	{513, 8},   {769, 8},	{1025, 9},  {1537, 9},	 {2049, 10},  {3073, 10},
	{4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13},
};

static struct deflate_entry entry_of(enum deflate_alphabet alphabet, uint32_t symbol)
{
	const struct range *range = NULL;

	if (alphabet == DEFLATE_PRECODE || (alphabet == DEFLATE_LENGTHS && symbol < STOP_SYMBOL))
		return (struct deflate_entry){(uint16_t)symbol, 0, DEFLATE_LITERAL};
	if (alphabet == DEFLATE_LENGTHS && symbol == STOP_SYMBOL)
		return (struct deflate_entry){0, 0, DEFLATE_STOP};
	if (alphabet == DEFLATE_LENGTHS && symbol - FIRST_LENGTH < ARRAY_SIZE(lengths_of))
		range = &lengths_of[symbol - FIRST_LENGTH];
	if (alphabet == DEFLATE_DISTANCES && symbol < ARRAY_SIZE(distances_of))
		range = &distances_of[symbol];
	return range ? (struct deflate_entry){range->base, 0, range->extra_bits} : INVALID_ENTRY;
}

struct making {
	struct deflate_entry *table;
	uint32_t bits, room, used;
	uint32_t longest;
	uint32_t left[DEFLATE_CODE_BITS_MAX + 1]; /* codes of each length that are not placed */
	uint32_t code;				  /* the next one, its first bit lowest */
};

/* Returns the number of bits that index the next table for codes longer than the first one's. */
static uint32_t bits_of_table(const struct making *making, uint32_t length)
{
	uint32_t bits = length - making->bits;
	int64_t free = 1ll << bits;

	while (bits + making->bits < making->longest) {
		free -= making->left[bits + making->bits];
		if (free <= 0)
			break;
		bits++;
		free <<= 1;
	}
	return bits;
}

static void fill(struct deflate_entry *table, uint32_t from, uint32_t size, uint32_t length,
		 struct deflate_entry entry)
{
	entry.bits = (uint8_t)length;
	for (uint32_t i = from; i < size; i += 1u << length)
		table[i] = entry;
}

static int place(struct making *making, struct deflate_entry entry, uint32_t length)
{
	uint32_t mask = (1u << making->bits) - 1, low = making->code & mask;
	struct deflate_entry *first = &making->table[low];

	if (length <= making->bits) {
		fill(making->table, making->code, mask + 1, length, entry);
		return 0;
	}
	if (!(first->kind & DEFLATE_TABLE)) {
		uint32_t bits = bits_of_table(making, length);

		if (making->room - making->used < 1u << bits)
			return -EBADMSG;
		*first = (struct deflate_entry){(uint16_t)making->used, (uint8_t)making->bits,
						(uint8_t)(DEFLATE_TABLE | bits)};
		making->used += 1u << bits;
	}
	fill(making->table + first->value, making->code >> making->bits, 1u << (first->kind & 15),
	     length - making->bits, entry);
	return 0;
}

static void next_code(struct making *making, uint32_t length)
{
	uint32_t bit = 1u << (length - 1);

	making->left[length]--;
	while (making->code & bit)
		bit >>= 1;
	making->code = bit ? (making->code & (bit - 1)) + bit : 0;
}

/* Returns the number of codes that are not assigned, as a fraction of 2^15; negative: too many. */
static int32_t unassigned(const struct making *making)
{
	int32_t free = 1 << DEFLATE_CODE_BITS_MAX;

	for (uint32_t length = 1; length <= DEFLATE_CODE_BITS_MAX; length++)
		free -= (int32_t)(making->left[length] << (DEFLATE_CODE_BITS_MAX - length));
	return free;
}

int deflate_code_make(struct deflate_entry *table, enum deflate_alphabet alphabet,
		      const uint8_t *lengths, uint32_t count)
{
	static const struct {
		uint8_t bits;
		uint16_t room;
	} sizes[] = {
		[DEFLATE_LENGTHS] = {DEFLATE_LENGTH_BITS, DEFLATE_LENGTHS_ROOM},
		[DEFLATE_DISTANCES] = {DEFLATE_DISTANCE_BITS, DEFLATE_DISTANCES_ROOM},
		[DEFLATE_PRECODE] = {DEFLATE_PRECODE_BITS, DEFLATE_PRECODE_ROOM},
	};
	struct making making = {
		.table = table,
		.bits = sizes[alphabet].bits,
		.room = sizes[alphabet].room,
		.used = 1u << sizes[alphabet].bits,
	};
	uint16_t sorted[DEFLATE_SYMBOLS_MAX], places[DEFLATE_CODE_BITS_MAX + 2] = {0};
	uint32_t used = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++)
		making.left[lengths[i]]++;
	making.left[0] = 0;
	for (uint32_t length = 1; length <= DEFLATE_CODE_BITS_MAX; length++) {
		making.longest = making.left[length] ? length : making.longest;
		places[length + 1] = (uint16_t)(places[length] + making.left[length]);
	}
	/* As zlib: an incomplete code may only have one symbol, of one bit. */
	if (unassigned(&making) < 0 || (unassigned(&making) && making.longest > 1) ||
	    (unassigned(&making) && making.longest && alphabet == DEFLATE_PRECODE))
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		if (lengths[i])
			sorted[places[lengths[i]]++] = (uint16_t)i, used++;
	}
	for (uint32_t i = 0; i < making.used; i++)
		table[i] = INVALID_ENTRY;
	for (uint32_t i = 0; i < used && !err; i++) {
		err = place(&making, entry_of(alphabet, sorted[i]), lengths[sorted[i]]);
		next_code(&making, lengths[sorted[i]]);
	}
	return err;
}

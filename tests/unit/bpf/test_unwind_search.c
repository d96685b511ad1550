/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stddef.h>
#include <stdint.h>

#include "uapi/unwind.h"

#define MAPPINGS (UNWIND_PROCESS_MAPPINGS_MAX + 16)
#define ROWS	 (UNWIND_PAGE_ROWS_MAX + 16)

static struct unwind_mapping mappings[MAPPINGS];
static struct unwind_row rows[ROWS];

#define unwind_mapping_at(index) ((index) < MAPPINGS ? &mappings[index] : NULL)
#define unwind_row_at(index)	 ((index) < ROWS ? &rows[index] : NULL)

#include "bpf/unwind_search.h"
#include "tests/unit/cases.h"

/* The turns of a search, as bpf/unwind_walk.h does them. */
static int find_mapping(uint32_t first, uint32_t count, uint64_t address,
			struct unwind_mapping *ret)
{
	struct unwind_range range = {first, count};
	int state = UNWIND_MORE;

	for (int i = 0; i < UNWIND_MAPPING_TURNS && state == UNWIND_MORE; i++)
		state = unwind_search_mappings(&range, address, ret);
	return state == UNWIND_FOUND;
}

/* Mapping i is [100 i + 10, 100 i + 60). */
static int setup(void **state)
{
	for (uint32_t i = 0; i < MAPPINGS; i++)
		mappings[i] = (struct unwind_mapping){
			.start = 100 * (uint64_t)i + 10, .end = 100 * (uint64_t)i + 60, .owner = i};
	for (uint32_t i = 0; i < ROWS; i++)
		rows[i] = (struct unwind_row){.pc = (uint16_t)(3 * i), .cfa = (int32_t)(8 * i)};
	return 0;
}

static void assert_mapped(uint32_t first, uint32_t count, uint64_t address, uint32_t owner)
{
	struct unwind_mapping found = {0};

	assert_int_equal(find_mapping(first, count, address, &found), 1);
	assert_int_equal(found.owner, owner);
}

static void assert_unmapped(uint32_t first, uint32_t count, uint64_t address)
{
	struct unwind_mapping found = {.owner = 77}, before = found;

	assert_int_equal(find_mapping(first, count, address, &found), 0);
	assert_memory_equal(&found, &before, sizeof(found));
}

/* Each mapping is found by its first and last byte, in tables of all sizes. */
CASE(test_mappings_are_found)
{
	static const uint32_t counts[] = {
		1, 2, 3, 4, 5, 64, 1000, 4095, UNWIND_PROCESS_MAPPINGS_MAX};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (uint32_t i = 5; i < 5 + counts[c]; i++) {
			assert_mapped(5, counts[c], 100 * (uint64_t)i + 10, i);
			assert_mapped(5, counts[c], 100 * (uint64_t)i + 59, i);
			assert_unmapped(5, counts[c], 100 * (uint64_t)i + 9);
			assert_unmapped(5, counts[c], 100 * (uint64_t)i + 60);
		}
	}
}

/* Mappings beside the range of a process belong to other processes. */
CASE(test_mappings_of_others)
{
	assert_unmapped(5, 3, 100 * 4 + 30);
	assert_unmapped(5, 3, 100 * 8 + 30);
	assert_unmapped(5, 0, 100 * 5 + 30);
	assert_unmapped(5, 3, 0);
	assert_unmapped(5, 3, UINT64_MAX);
}

/* An entry that is overwritten while it is read yields no mapping. */
CASE(test_mappings_that_make_no_sense)
{
	assert_unmapped(MAPPINGS, 3, 30);
	assert_unmapped(MAPPINGS - 1, UINT32_MAX, 30);
	assert_unmapped(UINT32_MAX, UINT32_MAX, 30);
	assert_unmapped(0, UINT32_MAX, 100 * 7 + 30);
}

static int32_t row_at(uint32_t first, uint32_t count, uint32_t offset)
{
	struct unwind_range range = {first, count};
	int state = UNWIND_MORE;

	for (int i = 0; i < UNWIND_ROW_TURNS && state == UNWIND_MORE; i++)
		state = unwind_search_rows(&range, offset);
	if (state == UNWIND_ABSENT || range.first >= ROWS)
		return UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
	return rows[range.first].cfa;
}

CASE(test_rows_hold_up_to_the_next)
{
	static const uint32_t counts[] = {1, 2, 3, 4, 5, 100, 4095, UNWIND_PAGE_ROWS_MAX};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (uint32_t offset = 0; offset < UNWIND_PAGE_BYTES; offset++) {
			uint32_t i = offset / 3 < counts[c] ? offset / 3 : counts[c] - 1;

			assert_int_equal(row_at(0, counts[c], offset), 8 * i);
		}
	}
	assert_int_equal(row_at(10, 4, 3 * 11 + 2), 8 * 11);
	assert_int_equal(row_at(10, 4, UNWIND_PAGE_BYTES - 1), 8 * 13);
}

CASE(test_reserved_page)
{
	assert_int_equal(row_at(0, 0, 5), UNWIND_CFA_COMMAND(UNWIND_NOT_MADE));
	assert_int_equal(row_at(7, 0, 5), UNWIND_CFA_COMMAND(UNWIND_NOT_MADE));
}

CASE(test_rows_that_make_no_sense)
{
	int32_t not_made = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);

	assert_int_equal(row_at(ROWS, 1, 0), not_made);
	assert_int_equal(row_at(ROWS - 1, UINT32_MAX, 5), not_made);
	assert_int_equal(row_at(UINT32_MAX, 1, 5), not_made);
	assert_int_equal(row_at(UINT32_MAX, UINT32_MAX, 5), not_made);
	/* A page whose first row has a pc above 0. */
	assert_int_equal(row_at(7, 2, 0), 8 * 7);
}

CASES_GROUP(setup, NULL)

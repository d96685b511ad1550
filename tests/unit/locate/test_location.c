/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "locate/location.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"

static uint32_t add(struct location_table *table, enum location_kind kind, uint64_t owner,
		    uint64_t offset)
{
	struct location location = {.kind = kind, .owner = owner, .offset = offset};
	uint32_t number = UINT32_MAX;

	assert_int_equal(location_table_add(table, &location, &number), 0);
	return number;
}

CASE(test_equal_places_share_a_number)
{
	struct location_table table = {0};

	assert_int_equal(add(&table, LOCATION_NATIVE, 1, 2), 0);
	assert_int_equal(add(&table, LOCATION_NATIVE, 2, 1), 1);
	assert_int_equal(add(&table, LOCATION_NATIVE, 1, 3), 2);
	assert_int_equal(add(&table, LOCATION_JIT, 1, 2), 3);
	assert_int_equal(add(&table, LOCATION_NATIVE, 1, 2), 0);
	assert_int_equal(add(&table, LOCATION_JIT, 1, 2), 3);
	assert_int_equal(table.locations.size, 4);
	location_table_deinit(&table);
}

CASE(test_many)
{
	struct location_table table = {0};

	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(add(&table, LOCATION_KERNEL, 0, i * 16), i);
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(add(&table, LOCATION_KERNEL, 0, i * 16), i);
	assert_int_equal(table.locations.data[777].offset, 777 * 16);
	location_table_deinit(&table);
}

static void counted_free(struct space_value *value)
{
	*value = (struct space_value){0};
}

/* The table takes one reference to a location's code, however often the location is added. */
CASE(test_holds_its_code)
{
	struct code_region region = {.value = {.refs = 1, .free = counted_free}};
	struct space_value *code = &region.value;
	struct location location = {.kind = LOCATION_JIT, .owner = 3, .code = code};
	struct location_table table = {0};
	uint32_t number;

	assert_int_equal(location_table_add(&table, &location, &number), 0);
	assert_int_equal(location_table_add(&table, &location, &number), 0);
	assert_int_equal(code->refs, 2);
	location.offset = 1;
	assert_int_equal(location_table_add(&table, &location, &number), 0);
	assert_int_equal(code->refs, 3);
	space_value_put(code);
	assert_non_null(code->free);
	location_table_deinit(&table);
	assert_null(code->free);
}

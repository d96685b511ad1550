/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of kinds have a complete row for each kind, and one for all other numbers. */
#include <stdint.h>
#include <string.h>

#include "locate/code_kinds.h"
#include "locate/location.h"
#include "tests/unit/cases.h"

CASE(test_frame_kinds)
{
	for (uint32_t i = 0; i < FRAME_KIND_COUNT; i++) {
		const struct frame_kind_info *kind = frame_kind_info(i);

		assert_non_null(kind->label);
		assert_non_null(kind->short_word);
		assert_non_null(kind->suffix);
		assert_non_null(kind->category_colour);
		for (uint32_t j = 0; j < i; j++) {
			assert_string_not_equal(kind->label, frame_kind_info(j)->label);
			assert_string_not_equal(kind->word, frame_kind_info(j)->word);
			assert_string_not_equal(kind->category, frame_kind_info(j)->category);
		}
	}
	assert_ptr_equal(frame_kind_info(FRAME_KIND_COUNT), frame_kind_info(FRAME_KIND_UNKNOWN));
	assert_ptr_equal(frame_kind_info(UINT32_MAX), frame_kind_info(FRAME_KIND_UNKNOWN));
}

/*
 * Code without symbols or a function has none of what needs them. Functions of runtimes have no
 * addresses.
 */
CASE(test_location_kinds)
{
	for (uint32_t i = 0; i < LOCATION_KIND_COUNT; i++) {
		const struct location_kind_info *kind = location_kind_info(i);

		assert_true(kind->name && *kind->name);
		assert_true(kind->module && *kind->module);
		assert_true(kind->frame < FRAME_KIND_COUNT);
		assert_true(kind->has_function || !kind->has_symbols);
		assert_true(kind->has_function || !kind->has_lib);
		assert_false(kind->has_function && kind->code_unknown);
		assert_true(!kind->has_function || i == LOCATION_RUNTIME ||
			    kind->space != LOCATION_SPACE_NONE);
	}
	assert_ptr_equal(location_kind_info(LOCATION_KIND_COUNT), location_kind_info(0));
	assert_true(location_kind_info(UINT32_MAX)->code_unknown);
}

CASE(test_base)
{
	struct {
		struct kernel_code code;
		char name[8];
	} generated = {.code = {.address = 0x5000}};
	struct location location = {.kind = LOCATION_KERNEL_CODE, .offset = 8};
	uint64_t base = 1;

	assert_false(location_base(&location, &base));
	assert_int_equal(base, 1);
	location.code = &generated.code.value;
	assert_true(location_base(&location, &base));
	assert_int_equal(base, 0x5000);
	location = (struct location){.kind = LOCATION_NATIVE, .offset = 8};
	assert_true(location_base(&location, &base));
	assert_int_equal(base, 0);
	location.kind = LOCATION_JIT;
	assert_false(location_base(&location, &base));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* .debug_aranges saves reading all units; whatever it says, no frame is lost by it. */
#include <stdint.h>

#include "symbolize/debug/debug_info.h"
#include "symbolize/debug/debug_units.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/debug_image.h"

#define VERSION 2

/* Add the ranges of a unit: one range. */
static void put_aranges(struct debug_image *image, uint16_t version, uint32_t unit, uint64_t start,
			uint64_t size_bytes)
{
	struct bytes *to = &image->sections[IMAGE_ARANGES];

	put_uint(to, 44, 4);
	put_uint(to, version, 2);
	put_uint(to, unit, 4);
	PUT(to, 8, 0, 0, 0, 0, 0);
	put_uint(to, start, 8);
	put_uint(to, size_bytes, 8);
	put_fill(to, 0, 16);
}

/* An image with one function and its unit at offset 0. */
static void begin(struct debug_image *image)
{
	image_begin(image);
	image_function(image, "main");
	PUT(&image->sections[IMAGE_INFO], 0, 0);
}

static struct blob finish(struct debug_image *image)
{
	image_finish(image);
	return blob_of_memory(image->file.v.data, image->file.v.size);
}

static void assert_main(struct debug_image *image)
{
	struct blob blob = finish(image);
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	struct debug_info *info;
	uint32_t count = 0;

	assert_int_equal(debug_info_create(&blob, 1, &info), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(debug_info_frames(info, DEBUG_TEXT + 17, frames, &count), 0);
		assert_int_equal(count, 1);
		assert_string_equal(frames[0].name, "main");
	}
	debug_info_destroy(info);
	image_deinit(image);
}

CASE(units_are_read_when_they_are_needed)
{
	struct debug_unit *unit, *same = NULL;
	struct debug_index_unit *entry;
	struct debug_image image;
	struct debug_units units;
	struct blob blob;

	begin(&image);
	put_aranges(&image, VERSION, 0, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	blob = finish(&image);
	assert_int_equal(debug_units_init(&units, &blob, 1), 0);
	assert_false(units.index.complete);
	entry = debug_index_find(&units.index, DEBUG_TEXT + 17, 0);
	assert_non_null(entry);
	assert_null(debug_index_find(&units.index, DEBUG_TEXT + DEBUG_TEXT_BYTES, 0));
	debug_units_begin(&units);
	assert_int_equal(debug_units_read(&units, entry, &unit), 0);
	assert_false(units.index.complete);
	/* A loaded unit stays where it is. */
	assert_int_equal(debug_units_at(&units, 20, &same), 0);
	assert_true(units.index.complete);
	assert_ptr_equal(unit, same);
	assert_int_equal(units.index.units.size, 1);
	debug_units_end(&units);
	debug_units_deinit(&units);
	image_deinit(&image);
}

/* A unit that .debug_aranges invents stays loaded while it is in use. */
CASE(a_unit_that_is_none_stays)
{
	struct debug_unit *unit, *other = NULL;
	struct debug_image image;
	struct bytes *info = &image.sections[IMAGE_INFO];
	struct debug_units units;
	struct blob blob;
	uint32_t inside;

	begin(&image);
	/* The bytes of a unit inside the unit. */
	inside = (uint32_t)info->v.size;
	put_uint(info, 26, 4);
	PUT(info, 5, 0, 1, 8, 0, 0, 0, 0, 1);
	put_uint(info, DEBUG_TEXT, 8);
	put_uint(info, DEBUG_TEXT_BYTES, 4);
	put_uint(info, 0, 4);
	PUT(info, 0);
	put_aranges(&image, VERSION, inside, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	blob = finish(&image);
	assert_int_equal(debug_units_init(&units, &blob, 1), 0);
	debug_units_begin(&units);
	assert_int_equal(
		debug_units_read(&units, debug_index_find(&units.index, DEBUG_TEXT, 0), &unit), 0);
	assert_int_equal(debug_units_at(&units, 0, &other), 0);
	assert_ptr_not_equal(unit, other);
	assert_int_equal(units.index.units.size, 2);
	assert_int_equal(units.read.size, 2);
	/* It contains no offset. */
	assert_int_equal(debug_units_at(&units, inside + 4, &unit), 0);
	assert_ptr_equal(unit, other);
	debug_units_end(&units);
	debug_units_deinit(&units);
	image_deinit(&image);
}

CASE(what_it_lacks_is_found_by_reading_all_units)
{
	struct debug_image image;

	begin(&image);
	assert_main(&image);
	begin(&image);
	put_aranges(&image, VERSION, 0, DEBUG_TEXT + 0x100, 0x100);
	assert_main(&image);
	begin(&image);
	put_aranges(&image, VERSION, 0, DEBUG_TEXT, 0);
	assert_main(&image);
}

CASE(nonsense_in_it_is_harmless)
{
	static const uint32_t wrong_units[] = {1, 12, 1000, UINT32_MAX};
	struct debug_image image;

	for (unsigned i = 0; i < sizeof(wrong_units) / sizeof(*wrong_units); i++) {
		begin(&image);
		put_aranges(&image, VERSION, wrong_units[i], DEBUG_TEXT, DEBUG_TEXT_BYTES);
		assert_main(&image);
	}
	begin(&image);
	put_aranges(&image, VERSION + 1, 0, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	assert_main(&image);
	begin(&image);
	put_aranges(&image, VERSION, 0, UINT64_MAX, DEBUG_TEXT_BYTES);
	assert_main(&image);
	begin(&image);
	put_aranges(&image, VERSION, 7, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	put_aranges(&image, VERSION, 0, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	assert_main(&image);
	begin(&image);
	put_aranges(&image, VERSION, 0, DEBUG_TEXT, DEBUG_TEXT_BYTES);
	image.sections[IMAGE_ARANGES].v.data[0] = 0xff; /* longer than the section */
	assert_main(&image);
}

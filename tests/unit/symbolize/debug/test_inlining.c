/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inlined frames and lines of a compiled program are compared with addr2line,
 * with its debug info in all possible places.
 */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/symbolize/inlining_fixture.h"

static void dwarf_agrees(struct fixture *fixture, const char *variant)
{
	struct tally tally;

	begin(fixture, variant);
	tally = addr2line_agrees(fixture, variant);
	assert_true(tally.addresses > 1000);
	assert_true(tally.inlined > tally.addresses / 3);
	assert_true(tally.nobodys < tally.addresses / 20);
	assert_true(tally.deepest > SYMBOL_FRAMES_MAX);
	assert_int_equal(symbolizer_counts(fixture->symbolizer).with_debug, 1);
}

CASE_WITH(dwarf_4_says_what_addr2line_says, setup, teardown)
{
	dwarf_agrees(*state, "4");
}

CASE_WITH(dwarf_5_says_what_addr2line_says, setup, teardown)
{
	dwarf_agrees(*state, "5");
}

CASE_WITH(narrow_dwarf_says_what_addr2line_says, setup, teardown)
{
	static const char *const variants[] = {"narrow-4", "narrow-5", "narrow-packed"};

	struct fixture *fixture = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		symbolizer_destroy(fixture->symbolizer);
		dwarf_agrees(fixture, variants[i]);
	}
}

CASE_WITH(packed_sections_say_the_same, setup, teardown)
{
	static const char *const variants[] = {"packed", "packed-gnu"};
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		symbolizer_destroy(fixture->symbolizer);
		begin(fixture, variants[i]);
		assert_true(addr2line_agrees(fixture, "4").inlined > 300);
	}
}

CASE_WITH(debug_info_is_found_by_build_id, setup, teardown)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(blob_close) struct blob blob = {0};
	struct fixture *fixture = *state;
	uint8_t id[JITBPF_BUILD_ID_MAX];
	uint32_t id_bytes;
	char path[128];
	int length;

	begin(fixture, "stripped");
	assert_int_equal(file_blob(fixture->path, &blob), 0);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	id_bytes = elf_file_build_id(&elf, id);
	length = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (uint32_t i = 1; i < id_bytes; i++)
		length += snprintf(path + length, sizeof(path) - (size_t)length, "%02x", id[i]);
	snprintf(path + length, sizeof(path) - (size_t)length, ".debug");
	fixture->debug = path;
	strcpy(fixture->debug_variant, "stripped.debug");
	assert_true(addr2line_agrees(fixture, "5").inlined > 300);
}

CASE_WITH(debug_info_is_found_by_its_link, setup, teardown)
{
	static const char *const places[] = {"/.debug/inlining-stripped.debug",
					     "/debug/inlining-stripped.debug"};
	struct fixture *fixture = *state;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];

	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		symbolizer_destroy(fixture->symbolizer);
		begin(fixture, "stripped");
		fixture->debug = places[i];
		strcpy(fixture->debug_variant, "stripped.debug");
		frames_at(fixture, fixture->text, frames);
		assert_int_equal(symbolizer_counts(fixture->symbolizer).with_debug, 1);
		assert_int_equal(symbolizer_counts(fixture->symbolizer).without_names, 0);
	}
}

CASE_WITH(what_programs_share_is_found, setup, teardown)
{
	struct fixture *fixture = *state;

	fixture->debug = "/usr/lib/debug/.dwz/inlining.debug";
	strcpy(fixture->debug_variant, "shared.common");
	begin(fixture, "shared");
	assert_true(addr2line_agrees(fixture, "4").inlined > 300);
}

/* Some names are missing then, but no frame and no line. */
CASE_WITH(what_programs_share_may_be_missing, setup, teardown)
{
	struct fixture *fixture = *state;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	unsigned inlined = 0, unnamed = 0;

	begin(fixture, "shared");
	for (uint64_t address = fixture->text; address < fixture->text_end; address++) {
		if (frames_at(fixture, address, frames) == 1)
			continue;
		inlined++;
		unnamed += !*frames[0].name;
		assert_int_not_equal(frames[0].line, 0);
	}
	assert_true(inlined > 300);
	assert_true(unnamed > 300);
}

CASE_WITH(debug_info_of_another_build_is_refused, setup, teardown)
{
	struct fixture *fixture = *state;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];

	begin(fixture, "stripped");
	fixture->debug = ".debug";
	strcpy(fixture->debug_variant, "4");
	for (uint64_t address = fixture->text; address < fixture->text_end; address += 64) {
		assert_int_equal(frames_at(fixture, address, frames), 1);
		assert_null(frames[0].file);
	}
	assert_int_equal(symbolizer_counts(fixture->symbolizer).with_debug, 0);
}

static uint32_t count_linked_names(struct fixture *fixture)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 0;

	for (uint64_t address = fixture->text; address < fixture->text_end; address += 16) {
		uint32_t last = frames_at(fixture, address, frames) - 1;

		count += !strncmp(frames[last].name, "_Z", 2);
	}
	return count;
}

CASE_WITH(names_can_be_had_as_they_were_linked, setup, teardown)
{
	struct fixture *fixture = *state;

	begin(fixture, "5");
	assert_int_equal(count_linked_names(fixture), 0);
	symbolizer_set_no_demangle(fixture->symbolizer);
	assert_true(count_linked_names(fixture) > 10);
}

CASE_WITH(symbols_come_from_mini_debug_info, setup, teardown)
{
	struct fixture *fixture = *state;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	unsigned towers = 0, named = 0;

	begin(fixture, "mini");
	for (uint64_t address = fixture->text; address < fixture->text_end; address++) {
		assert_int_equal(frames_at(fixture, address, frames), 1);
		towers += !strcmp(frames[0].name, "climb_towers");
		named += *frames[0].name != '\0';
	}
	assert_true(towers > 50);
	assert_true(named > (fixture->text_end - fixture->text) / 2);
}

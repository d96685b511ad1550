/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inlined frames and lines of a program that a compiler made, against what
 * addr2line says of it; and its debug info in all the places where it may be.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>

#include "decode/elf_file.h"
#include "symbolize/symbolizer.h"
#include "tests/unit/symbolize/inlining_files.h"

struct fixture {
	struct symbolizer *symbolizer;
	struct module module;
	char path[4096];
	uint64_t text, text_end, text_offset;
	const char *debug;	/* the only path at which there is debug info, or its end */
	char debug_variant[64]; /* and which file that is */
};

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	return file_blob(module->path, ret);
}

static int open_debug(void *fixture_, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	struct fixture *fixture = fixture_;
	size_t length = strlen(path), wanted = fixture->debug ? strlen(fixture->debug) : 0;
	char real[4096];

	if (!ours || !wanted || length < wanted || strcmp(path + length - wanted, fixture->debug))
		return -ENOENT;
	inlining_path(fixture->debug_variant, real);
	return file_blob(real, ret);
}

static void begin(struct fixture *fixture, const char *variant)
{
	struct file_source source = {
		.open_module = open_module,
		.open_debug = open_debug,
		.context = fixture,
	};
	CLEANUP(blob_close) struct blob blob = {0};
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	const struct elf_section *text;

	inlining_path(variant, fixture->path);
	fixture->module = (struct module){.number = 1, .path = fixture->path};
	assert_int_equal(file_blob(fixture->path, &blob), 0);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	text = elf_file_section(&elf, ".text");
	assert_non_null(text);
	fixture->text = text->address;
	fixture->text_end = text->address + text->size_bytes;
	fixture->text_offset = text->file_offset;
	assert_int_equal(symbolizer_create(&source, &fixture->symbolizer), 0);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	symbolizer_destroy(fixture->symbolizer);
	free(fixture);
	return 0;
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return !*state;
}

static uint32_t frames_at(struct fixture *fixture, uint64_t address, struct symbol_frame *frames)
{
	uint32_t count;

	assert_int_equal(symbolizer_native(fixture->symbolizer, &fixture->module,
					   address - fixture->text + fixture->text_offset, frames,
					   &count),
			 0);
	return count;
}

/* A line of addr2line without its end, and without what it adds to line numbers. */
static bool read_line(FILE *f, char *line, int size_bytes)
{
	char *discriminator;

	if (!fgets(line, size_bytes, f))
		return false;
	line[strcspn(line, "\n")] = '\0';
	discriminator = strstr(line, " (discriminator ");
	if (discriminator)
		*discriminator = '\0';
	return true;
}

/*
 * Of a function that the compiler split or cloned, debug info has the name, and
 * symbols that of the part ("main.cold"). We show symbols, addr2line either.
 */
static void assert_name(const char *name, const char *expected)
{
	size_t length = strlen(expected);

	if (!strncmp(name, expected, length) &&
	    (name[length] == '.' || !strncmp(name + length, " [clone ", 8)))
		return;
	assert_string_equal(name, strcmp(expected, "??") ? expected : "");
}

/* Function and "file:line" of a frame; addr2line does not know what is at line 0 either. */
static void assert_frame(const struct symbol_frame *frame, const char *name, const char *place)
{
	const char *colon = strrchr(place, ':');
	bool known = frame->line;

	/* Padding is nobody's, where addr2line names the function before. */
	if (*frame->name || frame->inlined)
		assert_name(frame->name, name);
	assert_non_null(colon);
	assert_int_equal(frame->line, strtoul(colon + 1, NULL, 10));
	if (known) {
		char file[4096];

		snprintf(file, sizeof(file), "%.*s", (int)(colon - place), place);
		assert_string_equal(frame->file, file);
	}
}

/* The addresses, one a line, in a file for addr2line to read. */
static void write_addresses(const struct fixture *fixture, const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (uint64_t address = fixture->text; address < fixture->text_end; address++)
		fprintf(f, "%#" PRIx64 "\n", address);
}

struct tally {
	unsigned addresses, inlined, nobodys, deepest;
};

/* Each address of the text: all frames are those of addr2line. */
static void compare_all(struct fixture *fixture, FILE *addr2line, struct tally *tally)
{
	static char lines[2 * 128 + 2][1 << 16];
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	bool more = read_line(addr2line, lines[0], sizeof(lines[0]));

	while (more) {
		uint64_t address = strtoull(lines[0], NULL, 16);
		uint32_t count = frames_at(fixture, address, frames), expected = 0;

		while ((more = read_line(addr2line, lines[0], sizeof(lines[0]))) &&
		       strncmp(lines[0], "0x", 2)) {
			memcpy(lines[2 * expected + 1], lines[0], sizeof(lines[0]));
			assert_true(
				read_line(addr2line, lines[2 * expected + 2], sizeof(lines[0])));
			expected++;
		}
		tally->addresses++;
		tally->inlined += count > 1;
		if (expected > tally->deepest)
			tally->deepest = expected;
		/* Of a chain that is too long, what is next to the function is left out. */
		if (expected > SYMBOL_FRAMES_MAX)
			assert_int_equal(count, SYMBOL_FRAMES_MAX);
		else
			assert_int_equal(count, expected);
		for (uint32_t i = 0; i + 1 < count || (i < count && count == expected); i++) {
			assert_frame(&frames[i], lines[2 * i + 1], lines[2 * i + 2]);
			assert_int_equal(frames[i].inlined, i + 1 < count);
		}
		if (expected > SYMBOL_FRAMES_MAX) {
			assert_name(frames[count - 1].name, lines[2 * expected - 1]);
			assert_int_equal(frames[count - 1].line, 0);
		}
		tally->nobodys += !*frames[count - 1].name;
	}
}

static struct tally addr2line_agrees(struct fixture *fixture, const char *truth)
{
	char addresses[4096], command[3 * 4096], program[4096];
	struct tally tally = {0};
	FILE *addr2line;

	inlining_path(truth, program);
	inlining_path("addresses", addresses);
	write_addresses(fixture, addresses);
	snprintf(command, sizeof(command), "addr2line -a -i -f -C -e %s <%s", program, addresses);
	addr2line = popen(command, "re");
	assert_non_null(addr2line);
	compare_all(fixture, addr2line, &tally);
	assert_int_equal(pclose(addr2line), 0);
	unlink(addresses);
	return tally;
}

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

static void dwarf_4_says_what_addr2line_says(void **state)
{
	dwarf_agrees(*state, "4");
}

static void dwarf_5_says_what_addr2line_says(void **state)
{
	dwarf_agrees(*state, "5");
}

static void packed_sections_say_the_same(void **state)
{
	static const char *const variants[] = {"packed", "packed-gnu"};
	struct fixture *fixture = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		symbolizer_destroy(fixture->symbolizer);
		begin(fixture, variants[i]);
		assert_true(addr2line_agrees(fixture, "4").inlined > 300);
	}
}

static void debug_info_is_found_by_build_id(void **state)
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

static void debug_info_is_found_by_its_link(void **state)
{
	static const char *const places[] = {"/.debug/inlining-stripped.debug",
					     "/symbolize/inlining-stripped.debug"};
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

static void what_programs_share_is_found(void **state)
{
	struct fixture *fixture = *state;

	fixture->debug = "/usr/lib/debug/.dwz/inlining.debug";
	strcpy(fixture->debug_variant, "shared.common");
	begin(fixture, "shared");
	assert_true(addr2line_agrees(fixture, "4").inlined > 300);
}

/* Some names are missing then; no frame is, nor a line. */
static void what_programs_share_may_be_missing(void **state)
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

static void debug_info_of_another_build_is_refused(void **state)
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

static void names_can_be_had_as_they_were_linked(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, "5");
	assert_int_equal(count_linked_names(fixture), 0);
	symbolizer_set_no_demangle(fixture->symbolizer);
	assert_true(count_linked_names(fixture) > 10);
}

static void symbols_come_from_mini_debug_info(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dwarf_4_says_what_addr2line_says, setup, teardown),
		cmocka_unit_test_setup_teardown(dwarf_5_says_what_addr2line_says, setup, teardown),
		cmocka_unit_test_setup_teardown(packed_sections_say_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_info_is_found_by_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_info_is_found_by_its_link, setup, teardown),
		cmocka_unit_test_setup_teardown(what_programs_share_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_programs_share_may_be_missing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(debug_info_of_another_build_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(symbols_come_from_mini_debug_info, setup, teardown),
		cmocka_unit_test_setup_teardown(names_can_be_had_as_they_were_linked, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of functions of Go, with code as its compiler makes it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/go_frames.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

#define START 0x401000
#define BYTES 0x80

struct made {
	struct go_frames frames;
	uint8_t code[BYTES];
};

/* systemstack of Go 1.26, from its call on. */
static const uint8_t systemstack[] = {
	0xff, 0xd7, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x58,
	0x30, 0x48, 0x8b, 0x83, 0xb8, 0x00, 0x00, 0x00, 0x64, 0x48, 0x89, 0x04, 0x25, 0xf8,
	0xff, 0xff, 0xff, 0x48, 0x8b, 0x60, 0x38, 0x48, 0x8b, 0x68, 0x60, 0x48, 0xc7, 0x40,
};

static int setup(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->frames.is_go = true;
	made->frames.stopped =
		(struct unwind_row){.cfa = UNWIND_SAVED_AT(48, 184, 56, 40), .rbp = -1};
	memset(made->code, 0x90, sizeof(made->code));
	*state = made;
	return 0;
}

static int teardown(void **state)
{
	struct made *made = *state;

	go_frames_deinit(&made->frames);
	free(made);
	return 0;
}

static void give_role(struct made *made, enum go_role role)
{
	struct go_function function = {START, role};

	assert_int_equal(vec_push(&made->frames.functions, function), 0);
}

/* Put the prologue of Go 1.21 and later at an offset. */
static void put_prologue(struct made *made, size_t at)
{
	static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x18};

	memcpy(made->code + at, prologue, sizeof(prologue));
}

/*
 * Compare the rows of [from, BYTES) with "OFFSET:CFA,RBP ...", made from rows "OFFSET:CFA" of
 * Go's call frame information, which have no rbp.
 */
static void assert_rows(const struct made *made, uint32_t from, const uint32_t (*raw)[2],
			size_t count, const char *expected)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0}, out = {0};
	struct go_code code = {START, made->code, BYTES};
	struct frame_window window = {
		.start = START + from, .end = START + BYTES, .offset = 0x700 + from, .rows = &out};
	char text[512] = "";

	for (size_t i = 0; i < count; i++)
		assert_int_equal(unwind_rows_add(&rows, 0x700 + raw[i][0], (int32_t)raw[i][1],
						 UNWIND_RBP_KEPT),
				 0);
	assert_int_equal(go_frames_add(&made->frames, &code, &rows, &window), 0);
	vec_for_each (row, &out.rows) {
		size_t length = strlen(text);
		int rule = row->cfa & UNWIND_RULE_MASK;

		snprintf(text + length, sizeof(text) - length, "%s%x:", length ? " " : "",
			 row->offset - 0x700);
		length = strlen(text);
		if (rule == UNWIND_COMMAND)
			snprintf(text + length, sizeof(text) - length, "command%d",
				 UNWIND_COMMAND_OF(row->cfa));
		else if (row->rbp == UNWIND_RBP_KEPT)
			snprintf(text + length, sizeof(text) - length, "%d,kept", row->cfa);
		else
			snprintf(text + length, sizeof(text) - length, "%d,%d", row->cfa, row->rbp);
	}
	assert_string_equal(text, expected);
}

static const uint32_t usual[][2] = {{0, 8}, {9, 16}, {16, 40}, {0x60, 16}, {0x61, 8}};

CASE_WITH(test_ordinary, setup, teardown)
{
	struct made *made = *state;

	put_prologue(made, 8);
	assert_rows(made, 0, usual, ARRAY_SIZE(usual),
		    "0:8,kept 9:16,-2 10:40,-2 60:16,-2 61:8,kept");
	/* The prologue is on the page before. */
	assert_rows(made, 0x40, (const uint32_t[][2]){{0x40, 40}, {0x61, 8}}, 2,
		    "40:40,-2 61:8,kept");
}

/* sub $N,%rsp; mov %rbp,N-8(%rsp); lea N-8(%rsp),%rbp */
CASE_WITH(test_earlier_releases, setup, teardown)
{
	static const uint8_t small[] = {0x48, 0x89, 0x6c, 0x24, 0x18, 0x48, 0x8d, 0x6c, 0x24, 0x18};
	static const uint8_t large[] = {0x48, 0x89, 0xac, 0x24, 0x90, 0x01, 0x00, 0x00,
					0x48, 0x8d, 0xac, 0x24, 0x90, 0x01, 0x00, 0x00};
	static const uint32_t raw[][2] = {{0, 8}, {0x10, 40}, {0x61, 8}};
	struct made *made = *state;

	memcpy(made->code + 0x10, small, sizeof(small));
	assert_rows(made, 0, raw, ARRAY_SIZE(raw), "0:8,kept 10:40,kept 15:40,-2 61:8,kept");
	memcpy(made->code + 0x10, large, sizeof(large));
	assert_rows(made, 0, raw, ARRAY_SIZE(raw), "0:8,kept 10:40,kept 18:40,-2 61:8,kept");
	give_role(made, GO_SWITCHES);
	assert_rows(made, 0, raw, ARRAY_SIZE(raw),
		    "0:8,kept 10:40,kept 18:40,-2 20:command7 61:8,kept");
}

/* Assembly that pushes other registers than rbp. */
CASE_WITH(test_without_frame_pointer, setup, teardown)
{
	assert_rows(*state, 0, usual, ARRAY_SIZE(usual),
		    "0:8,kept 9:16,kept 10:40,kept 60:16,kept 61:8,kept");
}

CASE_WITH(test_switches, setup, teardown)
{
	struct made *made = *state;

	put_prologue(made, 8);
	give_role(made, GO_SWITCHES);
	assert_rows(made, 0, usual, ARRAY_SIZE(usual), "0:8,kept 9:16,-2 c:command7 61:8,kept");
	assert_rows(made, 0x40, (const uint32_t[][2]){{0x40, 40}, {0x61, 8}}, 2,
		    "40:command7 61:8,kept");
}

CASE_WITH(test_first, setup, teardown)
{
	struct made *made = *state;

	put_prologue(made, 8);
	give_role(made, GO_FIRST);
	assert_rows(made, 0, usual, ARRAY_SIZE(usual), "0:command2");
	assert_rows(made, 0x40, (const uint32_t[][2]){{0x40, 40}}, 1, "40:command2");
}

/* mov 0x38(%r14),%rsp at 0x30 */
static void check_load(struct made *made, enum go_role role, const char *expected)
{
	static const uint8_t load[] = {0x49, 0x8b, 0x66, 0x38};
	static const uint8_t other[] = {0x48, 0x8b, 0x5b, 0x08}; /* mov 8(%rbx),%rbx */

	put_prologue(made, 8);
	memcpy(made->code + 0x20, other, sizeof(other));
	memcpy(made->code + 0x30, load, sizeof(load));
	give_role(made, role);
	assert_rows(made, 0, usual, ARRAY_SIZE(usual), expected);
}

CASE_WITH(test_starts, setup, teardown)
{
	check_load(*state, GO_STARTS, "0:8,kept 9:16,-2 10:40,-2 34:command2");
}

CASE_WITH(test_stops, setup, teardown)
{
	check_load(*state, GO_STOPS, "0:8,kept 9:16,-2 10:40,-2 34:command8");
}

CASE_WITH(test_leaves, setup, teardown)
{
	check_load(*state, GO_LEAVES, "0:8,kept 9:16,-2 10:40,-2 34:command1");
}

/* Without the instruction, nothing is known of the function. */
CASE_WITH(test_no_load, setup, teardown)
{
	struct made *made = *state;

	give_role(made, GO_STARTS);
	assert_rows(made, 0, usual, ARRAY_SIZE(usual), "0:command1");
}

/* Makes a program with systemstack's code at its text's start. Returns go_frames_init()'s row. */
static struct unwind_row stopped_row(const uint8_t *code, size_t code_bytes)
{
	AUTO_FREE struct elf_image *image = calloc(1, sizeof(*image));
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(go_frames_deinit) struct go_frames frames = {0};
	struct blob blob;

	assert_non_null(image);
	image_init(image);
	image_sections_init(image);
	image_section(image, SECTION_DATA)->sh_name =
		image_string(image, SECTION_NAMES, ".gopclntab");
	*image_segment(image, 0) = (Elf64_Phdr){.p_type = PT_LOAD,
						.p_flags = PF_R | PF_X,
						.p_offset = IMAGE_TEXT,
						.p_vaddr = IMAGE_TEXT_ADDRESS,
						.p_filesz = IMAGE_TEXT_BYTES,
						.p_memsz = IMAGE_TEXT_BYTES};
	image_header(image)->e_phnum = 1;
	memcpy(image->bytes + IMAGE_TEXT, code, code_bytes);
	image_symbol(image, SECTION_SYMBOLS, "runtime.mcall", IMAGE_TEXT_ADDRESS + 0x80, 0x40,
		     STT_FUNC);
	image_symbol(image, SECTION_SYMBOLS, "runtime.systemstack.abi0", IMAGE_TEXT_ADDRESS, 0x40,
		     STT_FUNC);
	image_symbol(image, SECTION_SYMBOLS, "main.main", IMAGE_TEXT_ADDRESS + 0xc0, 0x40,
		     STT_FUNC);
	blob = image_blob(image);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	assert_int_equal(go_frames_init(&frames, &elf), 0);
	assert_true(frames.is_go);
	assert_int_equal(frames.functions.size, 2);
	assert_int_equal(frames.functions.data[0].role, GO_SWITCHES);
	assert_int_equal(frames.functions.data[1].start, IMAGE_TEXT_ADDRESS + 0x80);
	assert_int_equal(frames.functions.data[1].role, GO_STARTS);
	return frames.stopped;
}

CASE(test_offsets_of_the_runtime)
{
	uint8_t code[sizeof(systemstack)];
	struct unwind_row row = stopped_row(systemstack, sizeof(systemstack));

	assert_int_equal(row.rbp, -1);
	assert_int_equal(row.cfa, UNWIND_SAVED_AT(0x30, 0xb8, 0x38, 0x60 - 0x38));
	for (size_t i = 0; i < sizeof(code); i++) {
		memcpy(code, systemstack, sizeof(code));
		code[i] ^= 0x81;
		row = stopped_row(code, sizeof(code));
		if (row.cfa != UNWIND_CFA_COMMAND(UNWIND_UNKNOWN))
			assert_true(i < 11 || i >= 39 || row.rbp != -1); /* other code */
	}
}

CASE(test_names)
{
	assert_int_equal(go_role_of("runtime.goexit.abi0"), GO_FIRST);
	assert_int_equal(go_role_of("runtime.goexit"), GO_FIRST);
	assert_int_equal(go_role_of("runtime.goexit1"), GO_ORDINARY);
	assert_int_equal(go_role_of("runtime.morestack.abi0"), GO_STOPS);
	assert_int_equal(go_role_of("runtime.morestack_noctxt.abi0"), GO_ORDINARY);
	assert_int_equal(go_role_of("main.main"), GO_ORDINARY);
	assert_int_equal(go_role_of(""), GO_ORDINARY);
}

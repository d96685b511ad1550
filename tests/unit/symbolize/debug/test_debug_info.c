/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Damaged debug info costs frames, but neither unbounded time nor unbounded memory. */
#include <stdint.h>
#include <stdio.h>

#include "decode/elf/elf_file.h"
#include "symbolize/debug/debug_info.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/debug_image.h"
#include "tests/unit/symbolize/inlining_files.h"

#define FIRST_DIE 0x0c /* in .debug_info, after the unit header */

static struct debug_frame frames[DEBUG_FRAMES_MAX];

/* Returns the frames at an address of an image, which is consumed. */
static uint32_t frames_of(struct debug_image *image, uint64_t address, struct debug_info **ret)
{
	struct blob blob;
	uint32_t count = 0;

	image_finish(image);
	blob = blob_of_memory(image->file.v.data, image->file.v.size);
	assert_int_equal(debug_info_create(&blob, 1, ret), 0);
	assert_int_equal(debug_info_frames(*ret, address, frames, &count), 0);
	return count;
}

CASE(a_made_unit_reads_as_it_is_meant)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;
	struct bytes *bytes = &image.sections[IMAGE_INFO];
	uint32_t origin;

	image_begin(&image);
	origin = (uint32_t)bytes->v.size;
	PUT(bytes, 5);
	put_string(bytes, "_Z3fooi");
	image_function(&image, "main");
	image_inlined(&image, origin);
	PUT(bytes, 0, 0, 0);
	image_lines(&image);
	/* Line 1 from 0, line 4 from 16, then the end of the sequence. */
	PUT(&image.sections[IMAGE_LINE], 1, 2, 16, 3, 3, 1, 2, 16, 0, 1, 1);
	assert_int_equal(frames_of(&image, DEBUG_TEXT + 17, &info), 2);
	assert_string_equal(frames[0].name, "_Z3fooi");
	assert_string_equal(frames[0].file, "/src/a.c");
	assert_int_equal(frames[0].line, 4);
	assert_string_equal(frames[1].name, "main");
	assert_string_equal(frames[1].file, "/src/a.c");
	assert_int_equal(frames[1].line, 9);
}

/* Sets the file that declares the only function of a file, whose DIE has a flag in a form. */
static const char *declared_in(uint8_t form, int value)
{
	static char file[64];
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;
	struct bytes *bytes = &image.sections[IMAGE_INFO];

	image_begin(&image);
	/* function: name string, external, decl_file data1, low_pc addr, high_pc data4 */
	PUT(&image.sections[IMAGE_ABBREV], 6, 0x2e, 1, 0x03, 0x08, 0x3f, form, 0x3a, 0x0b, 0x11,
	    0x01, 0x12, 0x06, 0, 0);
	PUT(bytes, 6);
	put_string(bytes, "f");
	if (value >= 0)
		PUT(bytes, (uint8_t)value);
	PUT(bytes, 1);
	put_uint(bytes, DEBUG_TEXT, 8);
	put_uint(bytes, DEBUG_TEXT_BYTES, 4);
	PUT(bytes, 0, 0);
	image_lines(&image);
	PUT(&image.sections[IMAGE_LINE], 1, 2, 16, 0, 1, 1);
	assert_int_equal(frames_of(&image, DEBUG_TEXT + 1, &info), 1);
	assert_string_equal(frames[0].name, "f");
	snprintf(file, sizeof(file), "%s", frames[0].decl_file ?: "none");
	return file;
}

CASE(a_function_that_other_files_can_call_has_no_file)
{
	assert_string_equal(declared_in(0x0c, 0), "/src/a.c"); /* flag */
	assert_string_equal(declared_in(0x0c, 1), "none");
	assert_string_equal(declared_in(0x19, -1), "none"); /* flag_present */
}

CASE(nesting_without_end_ends)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;

	image_begin(&image);
	image_function(&image, "deep");
	for (unsigned i = 0; i < 300000; i++)
		image_inlined(&image, FIRST_DIE);
	put_fill(&image.sections[IMAGE_INFO], 0, 300002);
	assert_int_equal(frames_of(&image, DEBUG_TEXT, &info), DEBUG_FRAMES_MAX);
	assert_string_equal(frames[DEBUG_FRAMES_MAX - 1].name, "deep");
	/* The frame below it was dropped, so its call site is unknown. */
	assert_int_equal(frames[DEBUG_FRAMES_MAX - 1].line, 0);
}

CASE(nesting_that_is_not_closed_names_nothing)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;

	image_begin(&image);
	image_function(&image, "open");
	image_inlined(&image, FIRST_DIE);
	assert_int_equal(frames_of(&image, DEBUG_TEXT, &info), 0);
}

CASE(references_in_a_circle_have_no_name)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;
	struct bytes *bytes = &image.sections[IMAGE_INFO];
	uint32_t first;

	image_begin(&image);
	first = (uint32_t)bytes->v.size;
	PUT(bytes, 4);
	put_uint(bytes, first + 5, 4);
	PUT(bytes, 4);
	put_uint(bytes, first, 4);
	image_function(&image, "main");
	image_inlined(&image, first);
	PUT(bytes, 0, 0, 0);
	assert_int_equal(frames_of(&image, DEBUG_TEXT, &info), 2);
	assert_string_equal(frames[0].name, "");
	assert_string_equal(frames[1].name, "main");
}

CASE(references_to_nowhere_have_no_name)
{
	static const uint32_t nowhere[] = {0, 3, FIRST_DIE + 2, 1000, UINT32_MAX};

	for (unsigned i = 0; i < ARRAY_SIZE(nowhere); i++) {
		CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
		CLEANUP(image_deinit) struct debug_image image;

		image_begin(&image);
		image_function(&image, "main");
		image_inlined(&image, nowhere[i]);
		PUT(&image.sections[IMAGE_INFO], 0, 0, 0);
		assert_int_equal(frames_of(&image, DEBUG_TEXT, &info), 2);
		assert_string_equal(frames[0].name, "");
	}
}

CASE(a_line_program_without_end_has_no_lines)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;

	image_begin(&image);
	image_function(&image, "main");
	PUT(&image.sections[IMAGE_INFO], 0, 0);
	image_lines(&image);
	/* Each byte adds a row with the next line. */
	put_fill(&image.sections[IMAGE_LINE], 13 + 5 + 1 + 14, 6u << 20);
	PUT(&image.sections[IMAGE_LINE], 0, 1, 1);
	assert_int_equal(frames_of(&image, DEBUG_TEXT, &info), 1);
	assert_string_equal(frames[0].name, "main");
	assert_null(frames[0].file);
	assert_int_equal(frames[0].line, 0);
	assert_true(debug_info_bytes(info) < 16u << 20);
}

CASE(lines_that_go_back_are_none)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;

	image_begin(&image);
	image_function(&image, "main");
	PUT(&image.sections[IMAGE_INFO], 0, 0);
	image_lines(&image);
	PUT(&image.sections[IMAGE_LINE], 2, 64, 1, 0, 9, 2);
	put_uint(&image.sections[IMAGE_LINE], DEBUG_TEXT, 8);
	PUT(&image.sections[IMAGE_LINE], 3, 5, 1, 2, 127, 0, 1, 1);
	assert_int_equal(frames_of(&image, DEBUG_TEXT + 65, &info), 1);
	assert_int_equal(frames[0].line, 0);
}

CASE(a_packed_section_of_a_terabyte_is_refused)
{
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1};
	static const uint64_t sizes[] = {1ull << 40, UINT64_MAX, 300u << 20, 100};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		CLEANUP(image_deinit) struct debug_image image;
		struct debug_info *info = NULL;
		struct blob blob;

		image_begin(&image);
		image.sections[IMAGE_INFO].v.size = 0;
		header.ch_size = sizes[i];
		put(&image.sections[IMAGE_INFO], &header, sizeof(header));
		put_fill(&image.sections[IMAGE_INFO], 0, 400 << 10);
		image.flags[IMAGE_INFO] = SHF_COMPRESSED;
		image_finish(&image);
		/* image_finish() has overwritten the type with the unit's length. */
		memcpy(image.file.v.data + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), &header,
		       sizeof(header));
		blob = blob_of_memory(image.file.v.data, image.file.v.size);
		assert_int_not_equal(debug_info_create(&blob, 1, &info), 0);
		assert_null(info);
	}
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Symbolize addresses all over the text of a damaged file. */
static void ask_damaged(const uint8_t *bytes, size_t size_bytes)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	struct blob blob = blob_of_memory(bytes, size_bytes);
	uint32_t count;

	if (debug_info_create(&blob, 1, &info))
		return;
	for (uint64_t address = 0x1000; address < 0x3000; address += 0xd3) {
		assert_int_equal(debug_info_frames(info, address, frames, &count), 0);
		assert_true(count <= DEBUG_FRAMES_MAX);
		for (uint32_t i = 0; i < count; i++)
			assert_true(strlen(frames[i].name) < 1 << 20 &&
				    (frames[i].file || !frames[i].line));
	}
}

/* Find the range of the file that holds debug info; only that is damaged. */
static void find_debug_bytes(const uint8_t *bytes, size_t size_bytes, uint64_t *ret_begin,
			     uint64_t *ret_end)
{
	struct blob blob = blob_of_memory(bytes, size_bytes);
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	const struct elf_section *abbrev;

	assert_int_equal(elf_file_init(&elf, &blob), 0);
	*ret_begin = elf_file_section(&elf, ".debug_info")->file_offset;
	abbrev = elf_file_section(&elf, ".symtab");
	*ret_end = abbrev->file_offset;
	assert_true(*ret_begin < *ret_end);
}

CASE(flipped_bits_do_no_harm)
{
	static const char *const variants[] = {"4", "5", "packed"};

	for (unsigned v = 0; v < ARRAY_SIZE(variants); v++) {
		uint64_t random = 0x9e3779b97f4a7c15 + v, begin, end;
		AUTO_FREE uint8_t *bytes = NULL;
		AUTO_FREE uint8_t *damaged = NULL;
		size_t size_bytes = 0;
		char path[4096];

		inlining_path(variants[v], path);
		bytes = file_bytes(path, &size_bytes);
		damaged = malloc(size_bytes);
		assert_true(bytes && damaged);
		find_debug_bytes(bytes, size_bytes, &begin, &end);
		for (unsigned i = 0; i < 1500; i++) {
			memcpy(damaged, bytes, size_bytes);
			for (unsigned n = random_next(&random) % 12 + 1; n; n--)
				damaged[begin + random_next(&random) % (end - begin)] ^=
					1 << random_next(&random) % 8;
			ask_damaged(damaged, size_bytes);
		}
	}
}

CASE(files_that_end_early_do_no_harm)
{
	AUTO_FREE uint8_t *bytes = NULL;
	size_t size_bytes = 0;
	char path[4096];

	inlining_path("5", path);
	bytes = file_bytes(path, &size_bytes);
	assert_non_null(bytes);
	for (size_t cut = 0; cut < size_bytes; cut += 97) {
		AUTO_FREE uint8_t *exact = malloc(size_bytes - cut);

		memcpy(exact, bytes, size_bytes - cut);
		ask_damaged(exact, size_bytes - cut);
	}
}

/* A file that is truncated, or a disk that fails, during reads. */
struct failing {
	const uint8_t *bytes;
	unsigned left;
};

static int failing_read(void *failing_, uint64_t offset, void *buf, size_t size_bytes)
{
	struct failing *failing = failing_;

	if (!failing->left)
		return -EIO;
	failing->left--;
	memcpy(buf, failing->bytes + offset, size_bytes);
	return 0;
}

CASE(files_that_fail_while_they_are_read_do_no_harm)
{
	AUTO_FREE uint8_t *bytes = NULL;
	size_t size_bytes = 0;
	char path[4096];
	uint32_t count;

	inlining_path("5", path);
	bytes = file_bytes(path, &size_bytes);
	assert_non_null(bytes);
	for (unsigned reads = 0; reads < 400; reads++) {
		CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
		struct failing failing = {bytes, reads};
		struct blob blob = {
			.size_bytes = size_bytes, .read = failing_read, .context = &failing};

		if (debug_info_create(&blob, 1, &info))
			continue;
		for (uint64_t address = 0x1000; address < 0x3000; address += 0x3d3)
			assert_int_equal(debug_info_frames(info, address, frames, &count), 0);
	}
}

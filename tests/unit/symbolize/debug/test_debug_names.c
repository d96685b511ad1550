/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions without a linkage name are shown with their scopes. */
#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "symbolize/debug/debug_info.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/debug_image.h"
#include "tests/unit/symbolize/inlining_files.h"

static const char *const expected[] = {
	"in_no_scope",
	"(anonymous namespace)::in_nameless",
	"(anonymous namespace)::plain::plain",
	"(anonymous namespace)::plain::inner::in_inner",
	"outer::(anonymous namespace)::box<int>::in_template",
	"outer::nested::in_nested",
	"outer::nested::lambdas::{lambda}::operator()",
	"outer::nested::lambdas::local::in_local",
};

/* All functions of the program that are static are in one file. */
static void assert_declared(const struct debug_frame *frame)
{
	static const char file[] = "/tests/unit/symbolize/scopes.cpp";
	size_t bytes = frame->decl_file ? strlen(frame->decl_file) : 0;

	/* Compilers give no file for the function of a lambda. */
	if (strstr(frame->name, "operator()"))
		assert_null(frame->decl_file);
	else if (bytes < strlen(file) || strcmp(frame->decl_file + bytes - strlen(file), file) != 0)
		fail_msg("%s is declared in %s", frame->name, frame->decl_file ?: "no file");
}

static void names_of(const char *variant, bool seen[ARRAY_SIZE(expected)])
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(blob_close) struct blob blob = {0};
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	const struct elf_section *text;
	char path[4096];
	struct blob again;
	uint32_t count;

	inlining_path(variant, path);
	assert_int_equal(file_blob(path, &blob), 0);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	text = elf_file_section(&elf, ".text");
	assert_non_null(text);
	again = blob;
	again.close = NULL;
	assert_int_equal(debug_info_create(&again, 1, &info), 0);
	for (uint64_t i = 0; i < text->size_bytes; i++) {
		assert_int_equal(debug_info_frames(info, text->address + i, frames, &count), 0);
		for (uint32_t frame = 0; frame + 1 < count; frame++) {
			size_t known = 0;

			while (known < ARRAY_SIZE(expected) &&
			       strcmp(frames[frame].name, expected[known]))
				known++;
			if (known == ARRAY_SIZE(expected))
				fail_msg("nobody expects %s", frames[frame].name);
			seen[known] = true;
			assert_declared(&frames[frame]);
		}
	}
}

CASE(names_stand_in_their_scopes)
{
	static const char *const variants[] = {"scopes-4", "scopes-5"};

	for (unsigned v = 0; v < ARRAY_SIZE(variants); v++) {
		bool seen[ARRAY_SIZE(expected)] = {false};

		names_of(variants[v], seen);
		for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
			if (!seen[i])
				fail_msg("%s: no %s", variants[v], expected[i]);
		}
	}
}

/* The number of scopes shown is limited, and so is the time. */
CASE(scopes_without_end_end)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	struct bytes *bytes = &image.sections[IMAGE_INFO];
	struct blob blob;
	uint32_t count = 0;

	image_begin(&image);
	/* namespace: name string, with children */
	PUT(&image.sections[IMAGE_ABBREV], 6, 0x39, 1, 0x03, 0x08, 0, 0);
	for (unsigned i = 0; i < 200000; i++) {
		PUT(bytes, 6);
		put_string(bytes, "n");
	}
	image_function(&image, "f");
	put_fill(bytes, 0, 200002);
	image_finish(&image);
	blob = blob_of_memory(image.file.v.data, image.file.v.size);
	assert_int_equal(debug_info_create(&blob, 1, &info), 0);
	assert_int_equal(debug_info_frames(info, DEBUG_TEXT, frames, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(frames[0].name, "n::n::n::n::n::n::n::n::n::n::n::n::n::n::n::n::f");
}

CASE(an_empty_name_is_none)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	CLEANUP(image_deinit) struct debug_image image;
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	struct blob blob;
	uint32_t count = 0;

	image_begin(&image);
	image_function(&image, "");
	PUT(&image.sections[IMAGE_INFO], 0, 0);
	image_finish(&image);
	blob = blob_of_memory(image.file.v.data, image.file.v.size);
	assert_int_equal(debug_info_create(&blob, 1, &info), 0);
	assert_int_equal(debug_info_frames(info, DEBUG_TEXT, frames, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(frames[0].name, "");
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Split units: found in .dwo files and packages, missing, or damaged. */
#include <stdint.h>

#include "symbolize/debug/debug_info.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/inlining_fixture.h"

static void assert_split_agrees(struct fixture *fixture, const char *variant, const char *truth,
				const char *suffix)
{
	symbolizer_destroy(fixture->symbolizer);
	fixture->debug = suffix;
	snprintf(fixture->debug_variant, sizeof(fixture->debug_variant), "%s%s", variant, suffix);
	begin(fixture, variant);
	assert_true(addr2line_agrees(fixture, truth).inlined > 300);
	assert_int_equal(symbolizer_counts(fixture->symbolizer).splits_missing, 0);
}

CASE_WITH(split_units_are_found, setup, teardown)
{
	assert_split_agrees(*state, "split-4", "4", ".dwo");
	assert_split_agrees(*state, "split-5", "5", ".dwo");
}

CASE_WITH(split_units_are_found_in_packages, setup, teardown)
{
	assert_split_agrees(*state, "split-4", "4", ".dwp");
	assert_split_agrees(*state, "split-5", "5", ".dwp");
}

/* Without split units, or with those of another build, lines and symbols remain. */
CASE_WITH(split_units_may_be_missing, setup, teardown)
{
	static const char *const others[] = {"no such file", "split-4.dwo", "split-4.dwp", "5"};
	struct fixture *fixture = *state;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	unsigned lines;

	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		symbolizer_destroy(fixture->symbolizer);
		fixture->debug = strstr(others[i], ".dw") ?: ".dwo";
		strcpy(fixture->debug_variant, others[i]);
		begin(fixture, "split-5");
		lines = 0;
		for (uint64_t a = fixture->text; a < fixture->text_end; a += 3) {
			assert_int_equal(frames_at(fixture, a, frames), 1);
			lines += frames[0].line != 0;
		}
		assert_true(lines > 300);
		assert_int_equal(symbolizer_counts(fixture->symbolizer).splits_missing, 1);
		assert_int_equal(symbolizer_counts(fixture->symbolizer).with_debug, 1);
	}
}

/* The bytes of all .dwo files and packages. */
struct damaged {
	const uint8_t *bytes;
	size_t size_bytes;
};

static int open_damaged(void *damaged_, const struct module *module, const char *path, bool ours,
			struct blob *ret)
{
	const struct damaged *damaged = damaged_;

	*ret = blob_of_memory(damaged->bytes, damaged->size_bytes);
	return 0;
}

/* Returns the number of addresses that still have inlined frames. */
static unsigned ask_with_damaged(const char *path, struct damaged *damaged)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = NULL;
	struct file_source source = {.open_debug = open_damaged, .context = damaged};
	struct module module = {.path = path};
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	unsigned inlined = 0;
	struct blob blob;
	uint32_t count;

	assert_int_equal(file_blob(path, &blob), 0);
	assert_int_equal(debug_info_create(&blob, 1, &info), 0);
	assert_int_equal(debug_info_set_splits(info, &source, &module, path), 0);
	for (uint64_t address = 0x1000; address < 0x3000; address += 0x53) {
		assert_int_equal(debug_info_frames(info, address, frames, &count), 0);
		assert_true(count <= DEBUG_FRAMES_MAX);
		inlined += count > 1;
	}
	return inlined;
}

CASE(damaged_split_units_do_no_harm)
{
	static const char *const variants[] = {"split-4.dwo", "split-4.dwp", "split-5.dwo",
					       "split-5.dwp"};

	for (unsigned v = 0; v < ARRAY_SIZE(variants); v++) {
		uint64_t random = 0x9e3779b97f4a7c15 + v;
		AUTO_FREE uint8_t *bytes = NULL;
		AUTO_FREE uint8_t *copy = NULL;
		char path[4096], main_path[4096], variant[16];
		struct damaged damaged = {0};
		unsigned inlined = 0;

		snprintf(variant, sizeof(variant), "%.7s", variants[v]);
		inlining_path(variant, main_path);
		inlining_path(variants[v], path);
		bytes = file_bytes(path, &damaged.size_bytes);
		copy = malloc(damaged.size_bytes);
		assert_true(bytes && copy);
		damaged.bytes = copy;
		for (unsigned i = 0; i < 600; i++) {
			memcpy(copy, bytes, damaged.size_bytes);
			for (unsigned n = i % 8; n; n--) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				copy[random % damaged.size_bytes] ^= 1 << (random >> 40) % 8;
			}
			inlined += ask_with_damaged(main_path, &damaged) != 0;
		}
		assert_true(inlined >= 75);
	}
}

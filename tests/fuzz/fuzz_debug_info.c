/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug info, from the sections to the frames at addresses in and around its ranges. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/elf/debug_link.h"
#include "symbolize/debug/debug_info.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(14);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check_frames(struct debug_info *info, uint64_t address)
{
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	uint32_t count;

	CHECK(!debug_info_frames(info, address, frames, &count));
	CHECK(count <= DEBUG_FRAMES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		CHECK(strlen(frames[i].name) <= 1 << 20);
		CHECK(!frames[i].file || strlen(frames[i].file) < DEBUG_FILE_BYTES_MAX);
		CHECK(!frames[i].line || frames[i].file);
	}
}

static void check_links(const struct elf_file *elf)
{
	struct debug_alt_link alternate;
	struct debug_link link;
	uint8_t *inflated;
	size_t size_bytes;

	if (!debug_link_read(elf, &link)) {
		CHECK(*link.name && !strchr(link.name, '/'));
		debug_link_check(&link, elf->blob);
	}
	if (!debug_alt_link_read(elf, &alternate))
		CHECK(*alternate.path && alternate.build_id_bytes <= JITBPF_BUILD_ID_MAX);
	if (!mini_debug_inflate(elf, &inflated, &size_bytes))
		free(inflated);
}

static int open_same(void *blob, const struct module *module, const char *path, bool ours,
		     struct blob *ret)
{
	*ret = *(const struct blob *)blob;
	return 0;
}

/*
 * The input is its own alternate file, .dwo file and package, so references can
 * go back and forth.
 */
static void set_others(struct debug_info *info, struct blob *blob)
{
	static struct module module = {.path = "/fuzz"};
	struct file_source source = {.open_debug = open_same, .context = blob};
	struct debug_info *alternate;
	struct blob again = *blob;

	CHECK(!debug_info_set_splits(info, &source, &module, "/fuzz"));
	if (!debug_info_create(&again, 1, &alternate))
		debug_info_set_alternate(info, alternate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct blob blob = blob_of_memory(data, size_bytes), again = blob;
	struct debug_info *info;
	struct elf_file elf;

	if (elf_file_init_any(&elf, &blob))
		return 0;
	check_links(&elf);
	if (!debug_info_create(&again, 1, &info)) {
		seed_taken();
		set_others(info, &blob);
		vec_for_each (segment, &elf.segments) {
			uint64_t step = segment->memory_bytes / 48 + 1;

			for (uint64_t i = 0; i < 48 && segment->executable; i++)
				check_frames(info, segment->address + i * step);
		}
		check_frames(info, 1);
		check_frames(info, UINT64_MAX);
		debug_info_destroy(info);
	}
	elf_file_deinit(&elf);
	return 0;
}

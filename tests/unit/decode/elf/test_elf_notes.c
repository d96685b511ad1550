/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

#define ID "0123456789abcdefghij"

static struct elf_image image;
static struct blob blob;
static struct elf_file elf;
static uint8_t id[JITBPF_BUILD_ID_MAX];
static struct elf_probe probe;

static int setup(void **state)
{
	image_init(&image);
	blob = image_blob(&image);
	elf = (struct elf_file){0};
	memset(id, 0xee, sizeof(id));
	probe = (struct elf_probe){42, 42};
	return 0;
}

static int teardown(void **state)
{
	elf_file_deinit(&elf);
	return 0;
}

static void open_image(void)
{
	elf_file_deinit(&elf);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
}

static uint32_t build_id(void)
{
	open_image();
	return elf_file_build_id(&elf, id);
}

static Elf64_Nhdr *first_note(void)
{
	return (Elf64_Nhdr *)(image.bytes + IMAGE_BUILD_ID);
}

static void no_section(enum image_section number)
{
	image_section(&image, number)->sh_type = SHT_PROGBITS;
}

static void no_note_segment(void)
{
	image_segment(&image, 2)->p_type = PT_NULL;
}

CASE_WITH(build_id_is_found_in_segments_and_sections, setup, teardown)
{
	assert_int_equal(build_id(), 20);
	assert_memory_equal(id, ID, 20);
	no_section(SECTION_BUILD_ID);
	assert_int_equal(build_id(), 20);
	image_init(&image);
	no_note_segment();
	assert_int_equal(build_id(), 20);
	no_section(SECTION_BUILD_ID);
	memset(id, 0xee, sizeof(id));
	assert_int_equal(build_id(), 0);
	assert_int_equal(id[0], 0xee);
}

CASE_WITH(build_id_stands_behind_other_notes, setup, teardown)
{
	no_note_segment();
	image_section(&image, SECTION_BUILD_ID)->sh_size = 0;
	image_note(&image, SECTION_BUILD_ID, "", 7, "abc", 3);
	image_note(&image, SECTION_BUILD_ID, ELF_NOTE_GNU, NT_GNU_ABI_TAG, "abcd", 4);
	image_note(&image, SECTION_BUILD_ID, "GNV", NT_GNU_BUILD_ID, "abcd", 4);
	image_note(&image, SECTION_BUILD_ID, ELF_NOTE_GNU, NT_GNU_BUILD_ID, "abcdefgh", 8);
	assert_int_equal(build_id(), 8);
	assert_memory_equal(id, "abcdefgh", 8);
}

CASE_WITH(notes_may_be_aligned_to_8, setup, teardown)
{
	no_note_segment();
	image_section(&image, SECTION_BUILD_ID)->sh_size = 0;
	image_section(&image, SECTION_BUILD_ID)->sh_addralign = 8;
	image_note(&image, SECTION_BUILD_ID, "GN", 5, "abcdefghi", 9);
	image_note(&image, SECTION_BUILD_ID, ELF_NOTE_GNU, NT_GNU_BUILD_ID, ID, 20);
	assert_int_equal(build_id(), 20);
	assert_memory_equal(id, ID, 20);
	/* With an alignment of 4, the second note would start too early. */
	image_section(&image, SECTION_BUILD_ID)->sh_addralign = 4;
	assert_int_equal(build_id(), 0);
}

CASE_WITH(last_note_needs_no_padding, setup, teardown)
{
	first_note()->n_descsz = 3;
	image_segment(&image, 2)->p_filesz = 16 + 3;
	assert_int_equal(build_id(), 3);
	assert_memory_equal(id, ID, 3);
}

CASE_WITH(build_id_of_unlikely_size_is_none, setup, teardown)
{
	no_section(SECTION_BUILD_ID);
	first_note()->n_descsz = 21;
	image_segment(&image, 2)->p_filesz = 16 + 24;
	assert_int_equal(build_id(), 0);
	first_note()->n_descsz = 0;
	assert_int_equal(build_id(), 0);
}

CASE_WITH(notes_that_lie_end_the_search, setup, teardown)
{
	static const uint32_t sizes[] = {UINT32_MAX, UINT32_MAX - 2, 0x80000000, 25};

	no_section(SECTION_BUILD_ID);
	for (unsigned i = 0; i < 4; i++) {
		first_note()->n_namesz = sizes[i];
		first_note()->n_descsz = 20;
		assert_int_equal(build_id(), 0);
		first_note()->n_namesz = 4;
		first_note()->n_descsz = sizes[i];
		assert_int_equal(build_id(), 0);
	}
	first_note()->n_descsz = 20;
	image_segment(&image, 2)->p_filesz = 11;
	assert_int_equal(build_id(), 0);
	image_segment(&image, 2)->p_filesz = UINT64_MAX;
	assert_int_equal(build_id(), 0);
	image_segment(&image, 2)->p_filesz = 0x24;
	image_segment(&image, 2)->p_offset = UINT64_MAX - 4;
	assert_int_equal(build_id(), 0);
}

static int find_probe(const char *provider, const char *name)
{
	open_image();
	return elf_file_probe(&elf, provider, name, &probe);
}

CASE_WITH(probe_is_converted_to_offsets, setup, teardown)
{
	image_probe(&image, IMAGE_TEXT_ADDRESS + 0x10, 0x601000, 0, "jitbpf", "other");
	image_probe(&image, IMAGE_TEXT_ADDRESS + 0x40, 0x601000, IMAGE_DATA_ADDRESS + 6, "jitbpf",
		    "event");
	image_probe(&image, IMAGE_TEXT_ADDRESS + 0x80, 0x601000, 0, "jitbpf", "event");
	assert_int_equal(find_probe("jitbpf", "event"), 0);
	assert_int_equal(probe.offset, IMAGE_TEXT + 0x40);
	assert_int_equal(probe.semaphore_offset, IMAGE_DATA + 6);
	assert_int_equal(find_probe("jitbpf", "other"), 0);
	assert_int_equal(probe.offset, IMAGE_TEXT + 0x10);
	assert_int_equal(probe.semaphore_offset, 0);
	assert_int_equal(find_probe("jitbpf", "even"), -ENOENT);
	assert_int_equal(find_probe("other", "event"), -ENOENT);
}

CASE_WITH(probe_follows_prelink, setup, teardown)
{
	uint64_t moved = 0x7000000;

	image_probe(&image, IMAGE_TEXT_ADDRESS + 0x40 + moved, 0x601000 + moved,
		    IMAGE_DATA_ADDRESS + 6 + moved, "jitbpf", "event");
	assert_int_equal(find_probe("jitbpf", "event"), 0);
	assert_int_equal(probe.offset, IMAGE_TEXT + 0x40);
	assert_int_equal(probe.semaphore_offset, IMAGE_DATA + 6);
	/* Without the section, the displacement is unknown. */
	image_section(&image, SECTION_BASE)->sh_name = 0;
	assert_int_equal(find_probe("jitbpf", "event"), -EBADMSG);
}

CASE_WITH(probe_outside_of_the_file_is_refused, setup, teardown)
{
	probe.offset = 42;
	image_probe(&image, 0x1234, 0x601000, 0, "a", "site");
	image_probe(&image, IMAGE_TEXT_ADDRESS, 0x601000, IMAGE_DATA_ADDRESS + 0x180, "a", "bss");
	image_probe(&image, UINT64_MAX, 1, UINT64_MAX, "a", "wraps");
	assert_int_equal(find_probe("a", "site"), -EBADMSG);
	assert_int_equal(find_probe("a", "bss"), -EBADMSG);
	assert_int_equal(find_probe("a", "wraps"), -EBADMSG);
	assert_int_equal(probe.offset, 42);
}

CASE_WITH(probe_notes_that_lie_are_passed_over, setup, teardown)
{
	uint64_t addresses[3] = {IMAGE_TEXT_ADDRESS, 0x601000, 0};
	char desc[40];

	image_note(&image, SECTION_PROBES, "stapsdt", 3, addresses, 23);
	image_note(&image, SECTION_PROBES, "stapsdt", 3, addresses, 24);
	memcpy(desc, addresses, 24);
	memcpy(desc + 24, "a\0event", 7); /* without the NUL */
	image_note(&image, SECTION_PROBES, "stapsdt", 3, desc, 31);
	image_note(&image, SECTION_PROBES, "stapsdt", 4, desc, 32);
	image_note(&image, SECTION_PROBES, "stapsd", 3, desc, 32);
	assert_int_equal(find_probe("a", "event"), -ENOENT);
	desc[31] = '\0';
	image_note(&image, SECTION_PROBES, "stapsdt", 3, desc, 32);
	assert_int_equal(find_probe("a", "event"), 0);
	no_section(SECTION_PROBES);
	assert_int_equal(find_probe("a", "event"), -ENOENT);
}

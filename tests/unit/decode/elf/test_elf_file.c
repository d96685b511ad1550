/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>

#include "decode/elf/elf_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

static struct elf_image image;
static struct blob blob;
static struct elf_file elf;

static int setup(void **state)
{
	image_init(&image);
	blob = image_blob(&image);
	elf = (struct elf_file){0};
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

static void assert_refused(int err)
{
	struct elf_file untouched = {.entry = 42};

	assert_int_equal(elf_file_init(&untouched, &blob), err);
	assert_int_equal(untouched.entry, 42);
	assert_null(untouched.segments.data);
}

CASE_WITH(reads_headers, setup, teardown)
{
	open_image();
	assert_int_equal(elf.type, ET_DYN);
	assert_int_equal(elf.machine, EM_X86_64);
	assert_int_equal(elf.entry, IMAGE_TEXT_ADDRESS);
	assert_int_equal(elf.segments.size, 2);
	assert_true(elf.segments.data[0].executable);
	assert_false(elf.segments.data[1].executable);
	assert_int_equal(elf.notes.size, 1);
	assert_int_equal(elf.sections.size, SECTION_COUNT);
	assert_int_equal(elf.section_names, SECTION_NAMES);
}

CASE_WITH(refuses_what_is_not_such_a_file, setup, teardown)
{
	static const struct {
		unsigned offset;
		uint8_t value;
	} changes[] = {
		{0, 'M'},     {EI_CLASS, ELFCLASS32}, {EI_DATA, ELFDATA2MSB}, {EI_VERSION, 2},
		{16, ET_REL}, {16, ET_CORE},	      {18, EM_AARCH64},
	};

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		image_init(&image);
		image.bytes[changes[i].offset] = changes[i].value;
		assert_refused(-ENOEXEC);
	}
	image_init(&image);
	blob.size_bytes = sizeof(Elf64_Ehdr) - 1;
	assert_refused(-ENOEXEC);
	blob.size_bytes = 0;
	assert_refused(-ENOEXEC);
}

CASE_WITH(refuses_damaged_headers, setup, teardown)
{
	image_header(&image)->e_phentsize--;
	assert_refused(-EBADMSG);
	image_init(&image);
	image_header(&image)->e_shentsize++;
	assert_refused(-EBADMSG);
	image_init(&image);
	image_header(&image)->e_phoff = UINT64_MAX - 8;
	assert_refused(-EBADMSG);
	image_init(&image);
	image_header(&image)->e_phoff = IMAGE_BYTES - sizeof(Elf64_Phdr);
	assert_refused(-EBADMSG);
}

static int failing_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	unsigned *left = context;

	if (!*left)
		return -EIO;
	--*left;
	memcpy(buf, image.bytes + offset, size_bytes);
	return 0;
}

CASE_WITH(passes_on_errors_of_the_blob, setup, teardown)
{
	unsigned left;

	blob.read = failing_read;
	blob.context = &left;
	for (unsigned reads = 0; reads < 4; reads++) {
		left = reads;
		assert_refused(-EIO);
	}
	left = 4; /* reads: header, first section, segments, sections */
	open_image();
	struct elf_symbols symbols;

	assert_int_equal(elf_file_symbols(&elf, false, &symbols), -EIO);
	left = 1;
	assert_int_equal(elf_file_symbols(&elf, false, &symbols), -EIO);
	struct elf_probe probe;

	image_note(&image, SECTION_PROBES, "x", 1, "", 0);
	left = 4;
	open_image();
	assert_int_equal(elf_file_probe(&elf, "a", "b", &probe), -EIO);
}

CASE_WITH(does_without_sections_that_are_cut_off, setup, teardown)
{
	uint8_t id[JITBPF_BUILD_ID_MAX];
	struct elf_symbols symbols;

	blob.size_bytes = IMAGE_SECTIONS + 100;
	open_image();
	assert_int_equal(elf.sections.size, 0);
	assert_int_equal(elf.segments.size, 2);
	assert_int_equal(elf_file_build_id(&elf, id), 20);
	assert_int_equal(elf_file_symbols(&elf, false, &symbols), -ENOENT);
	assert_null(elf_file_section(&elf, ".text"));
	blob.size_bytes = IMAGE_SECTIONS;
	open_image();
	assert_int_equal(elf.sections.size, 0);
	blob.size_bytes = IMAGE_BYTES;
	image_header(&image)->e_shoff = 0;
	image_header(&image)->e_shentsize = 0;
	open_image();
	assert_int_equal(elf.sections.size, 0);
}

CASE_WITH(reads_extended_numbering, setup, teardown)
{
	Elf64_Shdr *first = image_section(&image, SECTION_NULL);

	image_header(&image)->e_shnum = 0;
	first->sh_size = SECTION_COUNT;
	image_header(&image)->e_shstrndx = SHN_XINDEX;
	first->sh_link = SECTION_NAMES;
	image_header(&image)->e_phnum = PN_XNUM;
	first->sh_info = 2;
	open_image();
	assert_int_equal(elf.sections.size, SECTION_COUNT);
	assert_int_equal(elf.section_names, SECTION_NAMES);
	assert_int_equal(elf.segments.size, 2);
	assert_int_equal(elf.notes.size, 0);
	first->sh_info = UINT32_MAX;
	assert_refused(-EBADMSG);
	first->sh_info = 2;
	first->sh_size = UINT64_MAX;
	open_image();
	assert_int_equal(elf.sections.size, 0);
	image_header(&image)->e_shoff = 0;
	assert_refused(-EBADMSG);
}

CASE_WITH(converts_offsets_and_addresses, setup, teardown)
{
	uint64_t at = 0;

	open_image();
	assert_true(elf_file_address(&elf, IMAGE_TEXT, &at));
	assert_int_equal(at, IMAGE_TEXT_ADDRESS);
	assert_true(elf_file_address(&elf, IMAGE_TEXT + IMAGE_TEXT_BYTES - 1, &at));
	assert_int_equal(at, IMAGE_TEXT_ADDRESS + IMAGE_TEXT_BYTES - 1);
	assert_true(elf_file_address(&elf, IMAGE_DATA + 0xff, &at));
	assert_int_equal(at, IMAGE_DATA_ADDRESS + 0xff);
	assert_false(elf_file_address(&elf, IMAGE_DATA + 0x100, &at));
	assert_false(elf_file_address(&elf, IMAGE_TEXT - 1, &at));
	assert_false(elf_file_address(&elf, UINT64_MAX, &at));
	assert_true(elf_file_offset(&elf, IMAGE_DATA_ADDRESS + 1, &at));
	assert_int_equal(at, IMAGE_DATA + 1);
	/* In memory, but not in the file. */
	assert_false(elf_file_offset(&elf, IMAGE_DATA_ADDRESS + 0x100, &at));
	assert_false(elf_file_offset(&elf, 0, &at));
}

CASE_WITH(prefers_executable_segments_and_drops_wrapping_ones, setup, teardown)
{
	uint64_t at = 0;

	*image_segment(&image, 2) = *image_segment(&image, 0);
	image_segment(&image, 0)->p_flags = PF_R;
	image_segment(&image, 2)->p_vaddr = 0x801000;
	open_image();
	assert_true(elf_file_address(&elf, IMAGE_TEXT, &at));
	assert_int_equal(at, 0x801000);
	image_segment(&image, 2)->p_vaddr = UINT64_MAX - 1;
	image_segment(&image, 1)->p_offset = UINT64_MAX;
	open_image();
	assert_int_equal(elf.segments.size, 1);
}

CASE_WITH(finds_sections_by_name, setup, teardown)
{
	open_image();
	assert_ptr_equal(elf_file_section(&elf, ".text"), &elf.sections.data[SECTION_TEXT]);
	assert_ptr_equal(elf_file_section(&elf, ".shstrtab"), &elf.sections.data[SECTION_NAMES]);
	assert_null(elf_file_section(&elf, ".tex"));
	assert_null(elf_file_section(&elf, ".text.hot"));
	assert_null(elf_file_section(
		&elf, ".a-name-that-is-longer-than-any-that-a-compiler-makes-up-for-sections"));
	/* Names outside the table, and a table outside the file. */
	image_section(&image, SECTION_TEXT)->sh_name = UINT32_MAX;
	open_image();
	assert_null(elf_file_section(&elf, ".text"));
	image_section(&image, SECTION_NAMES)->sh_offset = UINT64_MAX - 4;
	open_image();
	assert_null(elf_file_section(&elf, ".data"));
	image_section(&image, SECTION_NAMES)->sh_type = SHT_NOBITS;
	open_image();
	assert_int_equal(elf.section_names, 0);
}

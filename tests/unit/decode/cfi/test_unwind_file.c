/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of files, page by page: by .eh_frame_hdr, by the index, by .debug_frame. */
#include "tests/unit/decode/cfi/frame_image.h"

/* Functions in the first page, across its end, in the second page, and at the end of the text. */
#define FUNCTIONS 4
static const struct function {
	uint64_t offset, size_bytes;
} functions[FUNCTIONS] = {
	{0xf010, 0x20},
	{0xf040, 0x100},
	{0xfff0, 0x100},
	{0x20f00, 0x100},
};

#define PAGE_0 "0:guess f010:8 f011:16 f030:guess f040:8 f041:16 f140:guess fff0:8 fff1:16"
#define PAGE_1 "0:16 f0:guess"
#define PAGE_2 "0:guess f00:8 f01:16 1000:guess"

static void add_functions(struct image *image, size_t fdes[FUNCTIONS])
{
	/* Not in order of addresses. */
	for (int i = FUNCTIONS - 1; i >= 0; i--)
		fdes[i] = frames_fde(&image->frames, image->cie, CODE(functions[i].offset),
				     functions[i].size_bytes);
	place_frames(image);
}

static void assert_pages(struct image *image)
{
	assert_page(image, 0, PAGE_0);
	assert_page(image, 1, PAGE_1);
	assert_page(image, 2, PAGE_2);
	assert_page(image, 3, "0:guess");
	assert_page(image, UINT32_MAX, "0:guess");
}

CASE_WITH(test_header, setup, teardown)
{
	static const uint8_t encodings[] = {
		TABLE_USUAL,	    DWARF_EH_PE_DATAREL | DWARF_EH_PE_SDATA8,
		DWARF_EH_PE_ABSPTR, DWARF_EH_PE_UDATA4,
		FRAMES_USUAL,
	};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		header_begin(image, encodings[i], FUNCTIONS);
		for (size_t f = 0; f < FUNCTIONS; f++)
			header_add(image, encodings[i], CODE(functions[f].offset), fdes[f]);
		place_header(image);
		assert_pages(image);
		/* No index was built. */
		assert_true(unwind_file_bytes(image->file) < 40000);
		unwind_file_destroy(image->file);
		image->file = NULL;
	}
}

/* Without section headers, .eh_frame ends at its terminator or at the end of its segment. */
CASE_WITH(test_header_without_sections, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	header_begin(image, TABLE_USUAL, FUNCTIONS);
	for (size_t f = 0; f < FUNCTIONS; f++)
		header_add(image, TABLE_USUAL, CODE(functions[f].offset), fdes[f]);
	place_header(image);
	((Elf64_Ehdr *)image->bytes)->e_shoff = 0;
	assert_pages(image);
}

CASE_WITH(test_index, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	assert_pages(image);
}

/* The header locates .eh_frame, but its table is missing or invalid. */
CASE_WITH(test_header_without_table, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	((Elf64_Ehdr *)image->bytes)->e_shoff = 0;
	for (int i = 0; i < 5; i++) {
		header_begin(image, i == 1 ? DWARF_EH_PE_ULEB128 : TABLE_USUAL,
			     i == 2 ? UINT32_MAX : FUNCTIONS);
		for (size_t f = 0; f < FUNCTIONS; f++)
			header_add(image, TABLE_USUAL, CODE(functions[f].offset), fdes[f]);
		if (i == 0)
			image->header.bytes[2] = DWARF_EH_PE_OMIT;
		if (i == 3)
			image->header.bytes[3] = DWARF_EH_PE_OMIT;
		if (i == 4)
			image->header.size -= 1; /* the table is truncated */
		place_header(image);
		assert_pages(image);
		unwind_file_destroy(image->file);
		image->file = NULL;
	}
}

/* An inconsistent table is replaced by an index of the whole section. */
CASE_WITH(test_header_lies, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	for (int i = 0; i < 5; i++) {
		uint64_t starts[FUNCTIONS];
		size_t where[FUNCTIONS];

		for (size_t f = 0; f < FUNCTIONS; f++) {
			starts[f] = CODE(functions[f].offset);
			where[f] = fdes[f];
		}
		if (i == 0)
			starts[0] = CODE(0xf060); /* not sorted, and different from the FDE */
		if (i == 1)
			where[0] = fdes[1];
		if (i == 2)
			where[0] = image->cie;
		if (i == 3)
			where[0] = 0x7fffff00;
		if (i == 4)
			where[0] = fdes[0] + 1;
		header_begin(image, TABLE_USUAL, FUNCTIONS);
		for (size_t f = 0; f < FUNCTIONS; f++)
			header_add(image, TABLE_USUAL, starts[f], where[f]);
		place_header(image);
		assert_pages(image);
		unwind_file_destroy(image->file);
		image->file = NULL;
	}
}

/* If the header is invalid, the section is found by name. */
CASE_WITH(test_header_refused, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	for (int i = 0; i < 4; i++) {
		header_begin(image, TABLE_USUAL, 0);
		if (i == 0)
			image->header.bytes[0] = 2;
		if (i == 1)
			image->header.bytes[1] = DWARF_EH_PE_INDIRECT | FRAMES_USUAL;
		if (i == 2)
			memset(image->header.bytes + 4, 0x7f, 4);
		if (i == 3)
			image->header.size = 3;
		place_header(image);
		assert_pages(image);
		unwind_file_destroy(image->file);
		image->file = NULL;
	}
}

/* Functions overlap: the one that starts last counts. */
CASE_WITH(test_overlap, setup, teardown)
{
	struct image *image = *state;

	frames_fde(&image->frames, image->cie, CODE(0xf000), 0x100);
	frames_fde(&image->frames, image->cie, CODE(0xf080), 0x10);
	frames_fde(&image->frames, image->cie, CODE(0xf200), 0x10);
	frames_fde(&image->frames, image->cie, CODE(0xf200), 0x20);
	place_frames(image);
	assert_page(image, 0,
		    "0:guess f000:8 f001:16 f080:8 f081:16 f090:guess f200:8 f201:16 f220:guess");
}

/* FDEs outside the text, of functions that the linker discarded, are ignored. */
CASE_WITH(test_outside, setup, teardown)
{
	struct image *image = *state;

	frames_fde(&image->frames, image->cie, 0, 0x10);
	frames_fde(&image->frames, image->cie, CODE(TEXT) - 8, 0x10);
	frames_fde(&image->frames, image->cie, CODE(0xf100), 0);
	frames_fde(&image->frames, image->cie, CODE(TEXT_END), 0x10);
	place_frames(image);
	assert_page(image, 0, "0:guess");
	assert_page(image, 2, "0:guess");
}

/* A damaged entry is skipped; an entry with an invalid size hides all entries after it. */
CASE_WITH(test_damage, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	memset(image->bytes + FRAMES + fdes[1] + 4, 0xee, 4);
	assert_page(image, 0, "0:guess f010:8 f011:16 f030:guess fff0:8 fff1:16");
	unwind_file_destroy(image->file);
	image->file = NULL;
	memset(image->bytes + FRAMES + fdes[1], 0xee, 4);
	assert_page(image, 0, "0:guess fff0:8 fff1:16");
}

CASE_WITH(test_debug_frame, setup, teardown)
{
	struct image *image = *state;

	frames_fde(&image->debug, image->debug_cie, CODE(0xf040), 0x10);
	place_debug(image);
	assert_page(image, 0, "0:guess f040:8 f041:16 f050:guess");
}

/* .eh_frame has precedence; .debug_frame fills its gaps. */
CASE_WITH(test_both, setup, teardown)
{
	struct image *image = *state;

	frames_fde(&image->frames, image->cie, CODE(0xf100), 0x100);
	frames_fde(&image->debug, image->debug_cie, CODE(0xf0f0), 0x120);
	frames_fde(&image->debug, image->debug_cie, CODE(0xf400), 0x10);
	place_frames(image);
	place_debug(image);
	assert_page(image, 0,
		    "0:guess f0f0:8 f0f1:16 f100:8 f101:16 f210:guess f400:8 f401:16 f410:guess");
}

CASE_WITH(test_nothing, setup, teardown)
{
	struct image *image = *state;

	assert_page(image, 0, "0:guess");
	assert_page(image, 1, "0:guess");
}

CASE_WITH(test_segments, setup, teardown)
{
	struct image *image = *state;
	Elf64_Phdr *other = segment(image, SEGMENT_HEADER);
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	/*
	 * The second half of the text is loaded elsewhere, out of order. Bytes
	 * of both segments belong to the first one.
	 */
	*other = *segment(image, SEGMENT_TEXT);
	segment(image, SEGMENT_TEXT)->p_offset = 0x10000;
	segment(image, SEGMENT_TEXT)->p_vaddr = CODE(0x10000);
	segment(image, SEGMENT_TEXT)->p_filesz = TEXT_END - 0x10000;
	other->p_filesz = 0x1010;
	assert_pages(image);
	unwind_file_destroy(image->file);
	image->file = NULL;
	segment(image, SEGMENT_TEXT)->p_vaddr = CODE(0x20000);
	assert_page(image, 0, PAGE_0);
	assert_page(image, 1, "0:16 10:guess f00:8 f01:16 1000:guess");
	assert_page(image, 2, "0:guess");
}

/* Signal trampolines, across the end of a page and twice, regardless of call frame information. */
CASE_WITH(test_signal_return, setup, teardown)
{
	static const uint8_t code[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	memcpy(image->bytes + 0xf060, code, sizeof(code));
	memcpy(image->bytes + 0xf067, code, sizeof(code));
	memcpy(image->bytes + 0xfffc, code, sizeof(code));
	memcpy(image->bytes + TEXT_END + 0x10, code, sizeof(code));
	assert_page(image, 0,
		    "0:guess f010:8 f011:16 f030:guess f040:8 f041:16 f05f:signal f06e:16 "
		    "f140:guess fff0:8 fff1:16 fffb:signal");
	assert_page(image, 1, "0:signal 3:16 f0:guess");
	assert_page(image, 2, PAGE_2);
}

/* The search for signal trampolines is bounded. */
CASE_WITH(test_signal_returns_bounded, setup, teardown)
{
	static const uint8_t code[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct image *image = *state;
	size_t signals = 0;

	for (size_t at = TEXT; at + 16 <= 0x10000; at += 16)
		memcpy(image->bytes + at, code, sizeof(code));
	assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	assert_int_equal(unwind_file_page(image->file, 0, &rows), 0);
	vec_for_each (row, &rows.rows)
		signals += row->cfa == UNWIND_CFA_COMMAND(UNWIND_SIGNAL);
	assert_in_range(signals, 1, 64);
}

static struct unwind_row row_at(struct image *image, uint32_t offset)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};

	if (!image->file)
		assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	assert_int_equal(unwind_file_page(image->file, offset >> UNWIND_PAGE_SHIFT, &rows), 0);
	return unwind_rows_at(&rows, offset & (UNWIND_PAGE_BYTES - 1));
}

/* Functions without a return instruction, also across the end of a page. */
CASE_WITH(test_functions_that_cannot_return, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	image->bytes[0xf02f] = 0xc3; /* the last byte of the first function */
	assert_int_equal(row_at(image, 0xf011).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
	assert_int_equal(row_at(image, 0xf041).cfa, UNWIND_CFA(UNWIND_CFA_RSP_FINAL, 16));
	assert_int_equal(row_at(image, 0xfff1).cfa, UNWIND_CFA(UNWIND_CFA_RSP_FINAL, 16));
	assert_int_equal(row_at(image, 0x10000).cfa, UNWIND_CFA(UNWIND_CFA_RSP_FINAL, 16));
	unwind_file_destroy(image->file);
	image->file = NULL;
	image->bytes[0xfff8] = 0xc3;
	assert_int_equal(row_at(image, 0xfff1).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
	assert_int_equal(row_at(image, 0x10000).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
}

/* Code where stacks begin, across the end of a page and without call frame information. */
CASE_WITH(test_stack_starts, setup, teardown)
{
	static const uint8_t code[] = {0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89, 0xc7,
				       0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	memcpy(image->bytes + 0xf032, code, sizeof(code));
	memcpy(image->bytes + 0xfff8, code, sizeof(code));
	assert_page(image, 0,
		    "0:guess f010:8 f011:16 f030:guess f032:root f041:16 f140:guess "
		    "fff0:8 fff1:16 fff8:root");
	assert_page(image, 1, "0:root 7:16 f0:guess");
	assert_page(image, 2, PAGE_2);
}

/* The start of a program. In a library, the entry point can be any function. */
CASE_WITH(test_entry, setup, teardown)
{
	static const uint8_t code[] = {0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x83, 0xe4,
				       0xf0, 0xe8, 0x00, 0x00, 0x00, 0x00, 0xf4};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	((Elf64_Ehdr *)image->bytes)->e_entry = CODE(0xf200);
	assert_pages(image);
	unwind_file_destroy(image->file);
	image->file = NULL;
	memcpy(image->bytes + 0xf200, code, sizeof(code));
	assert_page(image, 0,
		    "0:guess f010:8 f011:16 f030:guess f040:8 f041:16 f140:guess f200:root "
		    "f20e:guess fff0:8 fff1:16");
}

/* Rows are unknown after the work budget is spent. */
CASE_WITH(test_budget, setup, teardown)
{
	struct image *image = *state;
	uint64_t size = 5 << 20;
	uint8_t *bytes = calloc(1, FRAMES + size);
	size_t fdes[FUNCTIONS];
	uint32_t length;

	/* A function with a program of 5 MB, which does not fit into the image. */
	add_functions(image, fdes);
	memcpy(bytes, image->bytes, FRAMES + image->frames.size);
	((Elf64_Ehdr *)bytes)->e_shoff = 0;
	length = (uint32_t)(size - fdes[0] - 4);
	memcpy(bytes + FRAMES + fdes[0], &length, 4);
	memcpy(image->bytes, bytes, HEADER);
	header_begin(image, TABLE_USUAL, 2);
	header_add(image, TABLE_USUAL, CODE(functions[0].offset), fdes[0]);
	header_add(image, TABLE_USUAL, CODE(functions[1].offset), fdes[1]);
	place_header(image);
	segment(image, SEGMENT_FRAMES)->p_filesz = FRAMES - HEADER + size;
	memcpy(bytes, image->bytes, FRAMES);
	((Elf64_Ehdr *)bytes)->e_shoff = 0;
	image->blob = blob_of_memory(bytes, FRAMES + size);
	assert_page(image, 0, "0:guess f000:unknown");
	unwind_file_destroy(image->file);
	image->file = NULL;
	free(bytes);
}

CASE_WITH(test_blob_errors, setup, teardown)
{
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	header_begin(image, TABLE_USUAL, FUNCTIONS);
	for (size_t f = 0; f < FUNCTIONS; f++)
		header_add(image, TABLE_USUAL, CODE(functions[f].offset), fdes[f]);
	place_header(image);
	for (int reads = 0;; reads++) {
		CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
		int err;

		assert_true(reads < 100);
		image->fails_after = reads;
		err = unwind_file_create(&image->blob, &image->file);
		if (!err)
			err = unwind_file_page(image->file, 0, &rows);
		unwind_file_destroy(image->file);
		image->file = NULL;
		if (!err && reads > 4)
			break;
		assert_true(err == -EIO || !err);
	}
}

CASE_WITH(test_not_elf, setup, teardown)
{
	struct image *image = *state;

	image->bytes[0] = 0;
	assert_int_equal(unwind_file_create(&image->blob, &image->file), -ENOEXEC);
	assert_null(image->file);
	unwind_file_destroy(NULL);
}

/* A source that knows the code of one of two windows, and notes the gaps that it is asked for. */
struct source {
	uint64_t known; /* address in the gap that it knows; 0: none */
	int error;
	char text[512];
};

static int source_add(void *source_, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	struct source *source = source_;
	size_t length = strlen(source->text);

	snprintf(source->text + length, sizeof(source->text) - length, "%s%x-%x in %x-%x",
		 length ? ", " : "", (unsigned)(gap->window->start - ADDRESS),
		 (unsigned)(gap->window->end - ADDRESS), (unsigned)(gap->low - ADDRESS),
		 (unsigned)(gap->high - ADDRESS));
	assert_true(*work_bytes > 0);
	if (source->known < gap->window->start || source->known >= gap->window->end)
		return source->error ?: -ENOENT;
	return frame_window_add(gap->window, gap->window->start, UNWIND_CFA(UNWIND_CFA_RSP, 24),
				UNWIND_RBP_KEPT);
}

/* A gap is the code between two functions, whatever part of it a page has. */
CASE_WITH(test_sources, setup, teardown)
{
	struct source first = {.known = CODE(0xf035)}, second = {.known = CODE(0x20000)};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	unwind_file_add_source(image->file,
			       &(struct unwind_gap_source){.add = source_add, .context = &first});
	unwind_file_add_source(image->file,
			       &(struct unwind_gap_source){.add = source_add, .context = &second});
	assert_page(image, 0,
		    "0:guess f010:8 f011:16 f030:24 f040:8 f041:16 f140:guess fff0:8 fff1:16");
	assert_string_equal(first.text, "f000-f010 in f000-f010, f030-f040 in f030-f040, "
					"f140-fff0 in f140-fff0");
	assert_string_equal(second.text, "f000-f010 in f000-f010, f140-fff0 in f140-fff0");
	first.text[0] = second.text[0] = '\0';
	assert_page(image, 1, "0:16 f0:guess");
	assert_string_equal(first.text, "100f0-20000 in 100f0-20f00");
	first.text[0] = '\0';
	assert_page(image, 2, "0:24 f00:8 f01:16 1000:guess");
	assert_string_equal(first.text, "20000-20f00 in 100f0-20f00");
}

/* Over the budget, code is unknown; another error is the page's. */
CASE_WITH(test_source_fails, setup, teardown)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct source source = {.error = -E2BIG};
	struct image *image = *state;
	size_t fdes[FUNCTIONS];

	add_functions(image, fdes);
	assert_int_equal(unwind_file_create(&image->blob, &image->file), 0);
	unwind_file_add_source(image->file,
			       &(struct unwind_gap_source){.add = source_add, .context = &source});
	assert_page(image, 1, "0:16 f0:unknown");
	source.error = -EIO;
	assert_int_equal(unwind_file_page(image->file, 1, &rows), -EIO);
}

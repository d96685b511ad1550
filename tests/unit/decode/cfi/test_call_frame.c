/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of .eh_frame and .debug_frame: all encodings, and invalid input. */
#include <stdint.h>

#include "base/scope.h"
#include "decode/cfi/call_frame.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_frames.h"

#define ADDRESS 0x40000
#define START	0x1230
#define SIZE	0x40

struct opened {
	struct made_frames frames;
	struct blob blob;
	struct section_budget budget;
	struct call_frame_section section;
};

static int setup(void **state)
{
	struct opened *opened = calloc(1, sizeof(*opened));

	assert_non_null(opened);
	opened->frames.address = ADDRESS;
	*state = opened;
	return 0;
}

static int teardown(void **state)
{
	struct opened *opened = *state;

	call_frame_section_deinit(&opened->section);
	free(opened);
	return 0;
}

static void begin(struct opened *opened)
{
	opened->frames = (struct made_frames){.address = ADDRESS};
}

/* Read an entry of the section built so far. */
static int read_at(struct opened *opened, size_t at, struct call_frame *ret, uint64_t *ret_next)
{
	struct section_reader reader = {
		.blob = &opened->blob,
		.size_bytes = opened->frames.size,
		.budget = &opened->budget,
		.window_least = 512,
	};

	call_frame_section_deinit(&opened->section);
	opened->blob = blob_of_memory(opened->frames.bytes, opened->frames.size);
	opened->budget = (struct section_budget){.work_bytes = 1 << 20};
	call_frame_section_init(&opened->section, &reader, opened->frames.is_debug ? 0 : ADDRESS,
				!opened->frames.is_debug);
	return call_frame_read(&opened->section, at, ret, ret_next);
}

static void assert_frame(struct opened *opened, size_t at, int32_t cfa)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct frame_window window = {START, START + SIZE, .rows = &rows};
	struct call_frame frame;
	uint64_t next;

	assert_int_equal(read_at(opened, at, &frame, &next), 0);
	assert_int_equal(frame.start, START);
	assert_int_equal(frame.end, START + SIZE);
	assert_int_equal(next, opened->frames.size);
	assert_int_equal(call_frame_rows(&frame, &window), 0);
	assert_int_equal(rows.rows.size, 1);
	assert_int_equal(rows.rows.data[0].cfa, cfa);
}

static void assert_refused(struct opened *opened, size_t at)
{
	struct call_frame frame;
	uint64_t next;

	assert_int_equal(read_at(opened, at, &frame, &next), -EBADMSG);
	assert_int_equal(next, opened->frames.size);
}

/* Add an FDE with the rules of its CIE. */
static size_t fde(struct opened *opened, size_t cie, uint8_t encoding)
{
	size_t at = frames_fde_begin(&opened->frames, cie, encoding, START, SIZE);

	frames_end(&opened->frames, at);
	return at;
}

#define CALLED	UNWIND_CFA(UNWIND_CFA_RSP, 8)
#define UNKNOWN UNWIND_CFA_COMMAND(UNWIND_UNKNOWN)

CASE_WITH(test_encodings, setup, teardown)
{
	static const uint8_t encodings[] = {
		DWARF_EH_PE_ABSPTR,
		DWARF_EH_PE_UDATA2,
		DWARF_EH_PE_UDATA4,
		DWARF_EH_PE_UDATA8,
		DWARF_EH_PE_ULEB128,
		DWARF_EH_PE_SDATA2,
		DWARF_EH_PE_SDATA4,
		DWARF_EH_PE_SDATA8,
		DWARF_EH_PE_SLEB128,
		DWARF_EH_PE_PCREL | DWARF_EH_PE_ABSPTR,
		DWARF_EH_PE_PCREL | DWARF_EH_PE_UDATA8,
		DWARF_EH_PE_PCREL | DWARF_EH_PE_SDATA4,
		DWARF_EH_PE_PCREL | DWARF_EH_PE_SDATA8,
		DWARF_EH_PE_PCREL | DWARF_EH_PE_SLEB128,
	};
	struct opened *opened = *state;

	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		size_t cie;

		begin(opened);
		cie = frames_cie(&opened->frames, encodings[i]);
		assert_frame(opened, fde(opened, cie, encodings[i]), CALLED);
	}
}

/* Signed 2-byte pointers can be negative. */
CASE_WITH(test_encoding_short, setup, teardown)
{
	struct opened *opened = *state;
	uint8_t encoding = DWARF_EH_PE_PCREL | DWARF_EH_PE_SDATA2;
	struct call_frame frame;
	uint64_t next;
	size_t cie, at;

	cie = frames_cie(&opened->frames, encoding);
	at = frames_fde_begin(&opened->frames, cie, encoding, ADDRESS - 0x100, SIZE);
	frames_end(&opened->frames, at);
	assert_int_equal(read_at(opened, at, &frame, &next), 0);
	assert_int_equal(frame.start, ADDRESS - 0x100);
	assert_int_equal(frame.end, ADDRESS - 0x100 + SIZE);
}

CASE_WITH(test_encodings_refused, setup, teardown)
{
	static const uint8_t encodings[] = {
		DWARF_EH_PE_INDIRECT | FRAMES_USUAL,
		DWARF_EH_PE_DATAREL | DWARF_EH_PE_SDATA4, /* without a base */
		0x20 | DWARF_EH_PE_SDATA4,		  /* text-relative */
		0x40 | DWARF_EH_PE_SDATA4,		  /* function-relative */
		0x50,					  /* aligned */
		0x05,
		0x0f,
		DWARF_EH_PE_OMIT,
	};
	struct opened *opened = *state;

	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		size_t cie;

		begin(opened);
		cie = frames_cie(&opened->frames, encodings[i]);
		assert_refused(opened, fde(opened, cie, DWARF_EH_PE_SDATA4));
	}
}

/* Add a CIE with an augmentation and its data, and an FDE. */
static size_t augmented(struct opened *opened, const char *letters, const void *data,
			size_t data_bytes)
{
	struct made_frames *frames = &opened->frames;
	size_t cie;

	begin(opened);
	cie = frames_cie_begin(frames, 1, letters);
	if (letters[0] == 'z')
		frames_uint(frames, data_bytes, 1);
	frames_add(frames, data, data_bytes);
	frames_called(frames);
	frames_end(frames, cie);
	return fde(opened, cie, FRAMES_USUAL);
}

CASE_WITH(test_augmentations, setup, teardown)
{
	const uint8_t r[] = {FRAMES_USUAL, 0, 0};
	const uint8_t lr[] = {0x1b, FRAMES_USUAL};
	/* An indirect personality pointer is only skipped. */
	const uint8_t plr[] = {0x9b, 1, 2, 3, 4, 0x1b, FRAMES_USUAL};
	const uint8_t p8r[] = {DWARF_EH_PE_ABSPTR, 1, 2, 3, 4, 5, 6, 7, 8, FRAMES_USUAL};
	const uint8_t leb[] = {DWARF_EH_PE_ULEB128, 0x80, 1, FRAMES_USUAL};
	struct opened *opened = *state;

	assert_frame(opened, augmented(opened, "zR", r, 1), CALLED);
	assert_frame(opened, augmented(opened, "zR", r, 3), CALLED);
	assert_frame(opened, augmented(opened, "zRS", r, 1), CALLED);
	assert_frame(opened, augmented(opened, "zSR", r, 1), CALLED);
	assert_frame(opened, augmented(opened, "zRB", r, 1), CALLED);
	assert_frame(opened, augmented(opened, "zLR", lr, sizeof(lr)), CALLED);
	assert_frame(opened, augmented(opened, "zPLR", plr, sizeof(plr)), CALLED);
	assert_frame(opened, augmented(opened, "zPR", p8r, sizeof(p8r)), CALLED);
	assert_frame(opened, augmented(opened, "zPR", leb, sizeof(leb)), CALLED);
	/*
	 * The range of an FDE is known, but rules are unknown after an unknown
	 * augmentation letter.
	 */
	assert_frame(opened, augmented(opened, "zRX", r, 3), UNKNOWN);
}

CASE_WITH(test_augmentations_refused, setup, teardown)
{
	const uint8_t data[] = {FRAMES_USUAL, FRAMES_USUAL, FRAMES_USUAL};
	const uint8_t aligned[] = {0x55, FRAMES_USUAL, 0, 0, 0, 0, 0, 0};
	struct opened *opened = *state;

	assert_refused(opened, augmented(opened, "zXR", data, 3));
	assert_refused(opened, augmented(opened, "zR", data, 0));
	assert_refused(opened, augmented(opened, "zL", data, 0));
	assert_refused(opened, augmented(opened, "zP", data, 3));
	assert_refused(opened, augmented(opened, "zPR", aligned, sizeof(aligned)));
	assert_refused(opened, augmented(opened, "R", data, 1));
	assert_refused(opened, augmented(opened, "eh", data, 1));
}

/* An FDE's augmentation data are skipped; data beyond the entry are an error. */
CASE_WITH(test_augmentation_of_fde, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, FRAMES_USUAL), at;

	at = frames_fde_begin(frames, cie, FRAMES_USUAL, START, SIZE);
	frames->bytes[frames->size - 1] = 4;
	frames_uint(frames, 0x3f3f3f3f, 4);
	frames_end(frames, at);
	assert_frame(opened, at, CALLED);
	frames->bytes[at + 16] = 0x7f;
	assert_refused(opened, at);
}

CASE_WITH(test_versions, setup, teardown)
{
	static const uint8_t known[] = {1, 3, 4};
	struct opened *opened = *state;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t cie;

		begin(opened);
		opened->frames.is_debug = true;
		cie = frames_cie_begin(&opened->frames, known[i], "");
		frames_called(&opened->frames);
		frames_end(&opened->frames, cie);
		assert_frame(opened, fde(opened, cie, DWARF_EH_PE_ABSPTR), CALLED);
		opened->frames.bytes[cie + 8] = 2;
		assert_refused(opened, cie + opened->frames.bytes[cie] + 4);
		opened->frames.bytes[cie + 8] = 5;
		assert_refused(opened, cie + opened->frames.bytes[cie] + 4);
	}
	/* Address size and segment selector size of version 4. */
	opened->frames.bytes[8] = 4;
	assert_frame(opened, opened->frames.bytes[0] + 4, CALLED);
	opened->frames.bytes[10] = 4;
	assert_refused(opened, opened->frames.bytes[0] + 4);
	opened->frames.bytes[10] = 8;
	opened->frames.bytes[11] = 1;
	assert_refused(opened, opened->frames.bytes[0] + 4);
}

CASE_WITH(test_64bit, setup, teardown)
{
	struct opened *opened = *state;
	size_t cie;

	opened->frames.is_64bit = true;
	cie = frames_cie(&opened->frames, FRAMES_USUAL);
	assert_frame(opened, fde(opened, cie, FRAMES_USUAL), CALLED);
	begin(opened);
	opened->frames.is_64bit = opened->frames.is_debug = true;
	cie = frames_cie(&opened->frames, 0);
	assert_frame(opened, fde(opened, cie, DWARF_EH_PE_ABSPTR), CALLED);
}

/* CIEs whose program or return address register is not understood. */
CASE_WITH(test_opaque, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie_begin(frames, 1, "zR");

	frames->bytes[frames->size - 1] = 15;
	frames_uint(frames, 1, 1);
	frames_uint(frames, FRAMES_USUAL, 1);
	frames_called(frames);
	frames_end(frames, cie);
	assert_frame(opened, fde(opened, cie, FRAMES_USUAL), UNKNOWN);

	begin(opened);
	cie = frames_cie_begin(frames, 1, "zR");
	frames_uint(frames, 1, 1);
	frames_uint(frames, FRAMES_USUAL, 1);
	frames_uint(frames, 0x3f, 1);
	frames_end(frames, cie);
	assert_frame(opened, fde(opened, cie, FRAMES_USUAL), UNKNOWN);
}

CASE_WITH(test_entries, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, FRAMES_USUAL), end = frames->size;
	struct call_frame frame;
	uint64_t next;

	assert_int_equal(read_at(opened, cie, &frame, &next), 0);
	assert_true(frame.start == 0 && frame.end == 0);
	assert_int_equal(next, end);
	assert_int_equal(read_at(opened, end, &frame, &next), -ENOENT);
	assert_int_equal(read_at(opened, UINT64_MAX, &frame, &next), -ENOENT);
	/* A length of 0 ends .eh_frame, but not .debug_frame. */
	frames_uint(frames, 0, 4);
	assert_int_equal(read_at(opened, end, &frame, &next), -ENOENT);
	frames->is_debug = true;
	assert_int_equal(read_at(opened, end, &frame, &next), -EBADMSG);
	assert_int_equal(next, end + 4);
}

static void assert_cut(struct opened *opened, size_t at)
{
	struct call_frame frame;
	uint64_t next;

	assert_int_equal(read_at(opened, at, &frame, &next), -EBADMSG);
	assert_int_equal(next, 0);
}

CASE_WITH(test_lengths_lie, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, FRAMES_USUAL), at = fde(opened, cie, FRAMES_USUAL);
	uint32_t length = (uint32_t)(frames->size - at - 4);

	assert_frame(opened, at, CALLED);
	frames->bytes[at] = (uint8_t)(length + 1);
	assert_cut(opened, at);
	memset(frames->bytes + at, 0xfe, 4);
	assert_cut(opened, at);
	memset(frames->bytes + at, 0xff, 8); /* a 64-bit length far too large */
	assert_cut(opened, at);
	/* Lengths too small for the contents. */
	frames->size = at + 4;
	frames_uint(frames, at + 4 - cie, 4);
	for (uint32_t i = 4; i < 13; i++) {
		memcpy(frames->bytes + at, &i, 4);
		frames->size = at + 4 + i;
		assert_refused(opened, at);
	}
	frames->size = at + 2;
	assert_cut(opened, at);
}

CASE_WITH(test_cie_pointers_lie, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, FRAMES_USUAL), at = fde(opened, cie, FRAMES_USUAL);
	uint32_t id_at = (uint32_t)at + 4;
	uint32_t lies[] = {4 /* the FDE itself */, id_at - 8, id_at + 1, UINT32_MAX, 1};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		memcpy(frames->bytes + id_at, &lies[i], 4);
		assert_refused(opened, at);
	}
	begin(opened);
	frames->is_debug = true;
	cie = frames_cie(frames, 0);
	at = fde(opened, cie, DWARF_EH_PE_ABSPTR);
	memcpy(frames->bytes + at + 4, &(uint32_t){0x7fffffff}, 4);
	assert_refused(opened, at);
}

CASE_WITH(test_ranges, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, DWARF_EH_PE_ABSPTR), at;
	struct call_frame frame;
	uint64_t next;

	at = frames_fde_begin(frames, cie, DWARF_EH_PE_ABSPTR, UINT64_MAX - 1, 1);
	frames_end(frames, at);
	assert_int_equal(read_at(opened, at, &frame, &next), 0);
	at = frames_fde_begin(frames, cie, DWARF_EH_PE_ABSPTR, UINT64_MAX - 1, 2);
	frames_end(frames, at);
	assert_refused(opened, at);
}

/* With more CIEs than the cache holds, each is read again. */
CASE_WITH(test_many_cies, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cies[CALL_FRAME_CIES_KEPT + 2], fdes[CALL_FRAME_CIES_KEPT + 2];
	struct call_frame frame;
	uint64_t next;

	for (size_t i = 0; i < ARRAY_SIZE(cies); i++)
		cies[i] = frames_cie(frames, i % 2 ? FRAMES_USUAL : DWARF_EH_PE_UDATA8);
	for (size_t i = 0; i < ARRAY_SIZE(cies); i++)
		fdes[i] = fde(opened, cies[i], i % 2 ? FRAMES_USUAL : DWARF_EH_PE_UDATA8);
	assert_int_equal(read_at(opened, fdes[0], &frame, &next), 0);
	for (size_t i = 0; i < 3 * ARRAY_SIZE(cies); i++) {
		assert_int_equal(call_frame_read(&opened->section, fdes[i % ARRAY_SIZE(cies)],
						 &frame, &next),
				 0);
		assert_int_equal(frame.start, START);
	}
}

CASE_WITH(test_budget, setup, teardown)
{
	struct opened *opened = *state;
	struct made_frames *frames = &opened->frames;
	size_t cie = frames_cie(frames, FRAMES_USUAL), at = fde(opened, cie, FRAMES_USUAL);
	struct call_frame frame;
	uint64_t next;

	assert_frame(opened, at, CALLED);
	opened->budget.work_bytes = 30;
	assert_int_equal(call_frame_read(&opened->section, at, &frame, &next), -E2BIG);
}

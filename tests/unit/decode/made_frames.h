/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds call frame information entry by entry. */
#ifndef JITBPF_TESTS_MADE_FRAMES_H
#define JITBPF_TESTS_MADE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "decode/dwarf/dwarf_constants.h"

#define FRAMES_BYTES_MAX 0x4000

/* The encoding that compilers use. */
#define FRAMES_USUAL (DWARF_EH_PE_PCREL | DWARF_EH_PE_SDATA4)

struct made_frames {
	uint8_t bytes[FRAMES_BYTES_MAX];
	size_t size;
	uint64_t address; /* where the section is loaded */
	bool is_debug;	  /* in the format of .debug_frame */
	bool is_64bit;
};

static inline void frames_add(struct made_frames *frames, const void *bytes, size_t size_bytes)
{
	memcpy(frames->bytes + frames->size, bytes, size_bytes);
	frames->size += size_bytes;
}

static inline void frames_uint(struct made_frames *frames, uint64_t value, size_t size_bytes)
{
	frames_add(frames, &value, size_bytes);
}

static inline void frames_leb(struct made_frames *frames, int64_t value, bool is_signed)
{
	bool more = true;

	while (more) {
		uint8_t byte = value & 0x7f;

		value = is_signed ? value >> 7 : (int64_t)((uint64_t)value >> 7);
		more = !(value == 0 && !(is_signed && byte & 0x40)) &&
		       !(is_signed && value == -1 && byte & 0x40);
		frames_uint(frames, byte | (more ? 0x80 : 0), 1);
	}
}

/* Append a pointer; it is pc-relative if the encoding says so. */
static inline void frames_pointer(struct made_frames *frames, uint8_t encoding, uint64_t value)
{
	uint8_t format = encoding & DWARF_EH_PE_FORMAT;

	if ((encoding & DWARF_EH_PE_BASE) == DWARF_EH_PE_PCREL)
		value -= frames->address + frames->size;
	if (format == DWARF_EH_PE_ULEB128 || format == DWARF_EH_PE_SLEB128)
		frames_leb(frames, (int64_t)value, format == DWARF_EH_PE_SLEB128);
	else if (format == DWARF_EH_PE_UDATA2 || format == DWARF_EH_PE_SDATA2)
		frames_uint(frames, value, 2);
	else if (format == DWARF_EH_PE_UDATA4 || format == DWARF_EH_PE_SDATA4)
		frames_uint(frames, value, 4);
	else
		frames_uint(frames, value, 8);
}

/* Begin an FDE of `cie`, or a CIE if `cie` is UINT64_MAX. Returns the offset of the entry. */
static inline size_t frames_begin(struct made_frames *frames, uint64_t cie)
{
	size_t at = frames->size, id_bytes = frames->is_debug && frames->is_64bit ? 8 : 4;

	if (frames->is_64bit)
		frames_uint(frames, UINT32_MAX, 4);
	frames_uint(frames, 0, frames->is_64bit ? 8 : 4);
	if (cie == UINT64_MAX)
		frames_uint(frames, frames->is_debug ? UINT64_MAX : 0, id_bytes);
	else
		frames_uint(frames, frames->is_debug ? cie : frames->size - cie, id_bytes);
	return at;
}

/* Pad with DW_CFA_nop and set the length. */
static inline void frames_end(struct made_frames *frames, size_t at)
{
	size_t length_at = at + (frames->is_64bit ? 4 : 0);
	size_t begin = length_at + (frames->is_64bit ? 8 : 4);
	uint64_t length;

	while (frames->size % 8)
		frames_uint(frames, DWARF_CFA_NOP, 1);
	length = frames->size - begin;
	memcpy(frames->bytes + length_at, &length, begin - length_at);
}

/* Initial rules of all functions: the CFA is rsp + 8, the return address is at the CFA - 8. */
static inline void frames_called(struct made_frames *frames)
{
	static const uint8_t code[] = {DWARF_CFA_DEF_CFA, DWARF_REGISTER_RSP, 8,
				       DWARF_CFA_OFFSET | DWARF_REGISTER_RA, 1};

	frames_add(frames, code, sizeof(code));
}

/* A CIE up to its augmentation data, with alignment factors 1 and -8. */
static inline size_t frames_cie_begin(struct made_frames *frames, uint8_t version,
				      const char *augmentation)
{
	size_t at = frames_begin(frames, UINT64_MAX);

	frames_uint(frames, version, 1);
	frames_add(frames, augmentation, strlen(augmentation) + 1);
	if (version == 4) {
		frames_uint(frames, 8, 1);
		frames_uint(frames, 0, 1);
	}
	frames_leb(frames, 1, false);
	frames_leb(frames, -8, true);
	frames_uint(frames, DWARF_REGISTER_RA, 1);
	return at;
}

/* A CIE like that of a compiler: "zR" with an encoding; without augmentation in .debug_frame. */
static inline size_t frames_cie(struct made_frames *frames, uint8_t encoding)
{
	size_t at = frames_cie_begin(frames, 1, frames->is_debug ? "" : "zR");

	if (!frames->is_debug) {
		frames_uint(frames, 1, 1);
		frames_uint(frames, encoding, 1);
	}
	frames_called(frames);
	frames_end(frames, at);
	return at;
}

/* An FDE up to its program. */
static inline size_t frames_fde_begin(struct made_frames *frames, size_t cie, uint8_t encoding,
				      uint64_t start, uint64_t size_bytes)
{
	size_t at = frames_begin(frames, cie);

	frames_pointer(frames, encoding, start);
	frames_pointer(frames, encoding & DWARF_EH_PE_FORMAT, size_bytes);
	if (!frames->is_debug)
		frames_uint(frames, 0, 1); /* no augmentation data */
	return at;
}

/* An FDE of a function whose first instruction, of one byte, is a push. */
static inline size_t frames_fde(struct made_frames *frames, size_t cie, uint64_t start,
				uint64_t size_bytes)
{
	static const uint8_t code[] = {DWARF_CFA_ADVANCE_LOC | 1, DWARF_CFA_DEF_CFA_OFFSET, 16};
	uint8_t encoding = frames->is_debug ? DWARF_EH_PE_ABSPTR : FRAMES_USUAL;
	size_t at = frames_fde_begin(frames, cie, encoding, start, size_bytes);

	frames_add(frames, code, sizeof(code));
	frames_end(frames, at);
	return at;
}

#endif

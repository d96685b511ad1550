/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_aranges.h"

#include <string.h>

#include "decode/dwarf/dwarf_data.h"

#define VERSION	   2
#define HEADER_MAX 32 /* more than a header and its padding */

/* The ranges of one unit. Offsets are in the section. */
struct set {
	uint64_t unit;
	uint64_t pairs, end;
	uint8_t address_bytes; /* 4 or 8 */
};

static int set_read(struct section_reader *reader, uint64_t offset, struct set *ret)
{
	uint64_t length, version, pair_bytes;
	uint8_t offset_bytes, segment_bytes;
	struct cursor c;
	int err = section_view(reader, offset, HEADER_MAX, &c);

	err = err ?: dwarf_read_length(&c, &length, &offset_bytes);
	if (err)
		return err;
	if (length > reader->size_bytes - offset - cursor_offset(&c))
		return -EBADMSG;
	ret->end = offset + cursor_offset(&c) + length;
	err = dwarf_read_uint(&c, 2, &version);
	err = err ?: dwarf_read_uint(&c, offset_bytes, &ret->unit);
	err = err ?: dwarf_read_u8(&c, &ret->address_bytes);
	err = err ?: dwarf_read_u8(&c, &segment_bytes);
	if (err || version != VERSION || (ret->address_bytes != 4 && ret->address_bytes != 8) ||
	    segment_bytes)
		return -EBADMSG;
	/* Pairs are aligned from the start of the set. */
	pair_bytes = 2ull * ret->address_bytes;
	ret->pairs = offset + (cursor_offset(&c) + pair_bytes - 1) / pair_bytes * pair_bytes;
	return 0;
}

static int pairs_read(struct section_reader *reader, const struct set *set, size_t max,
		      dwarf_aranges *ret)
{
	uint64_t pair_bytes = 2ull * set->address_bytes;

	for (uint64_t at = set->pairs; at < set->end; at += pair_bytes) {
		struct dwarf_arange range = {.unit = set->unit};
		uint64_t pair[2] = {0};
		struct cursor c;
		int err;

		if (set->end - at < pair_bytes)
			return -EBADMSG;
		err = section_view(reader, at, pair_bytes, &c);
		err = err ?: dwarf_read_uint(&c, set->address_bytes, &pair[0]);
		err = err ?: dwarf_read_uint(&c, set->address_bytes, &pair[1]);
		if (err)
			return err;
		if (!pair[0] && !pair[1])
			return 0;
		if (pair[1] > UINT64_MAX - pair[0])
			return -EBADMSG;
		range.start = pair[0];
		range.end = pair[0] + pair[1];
		if (ret->size >= max)
			return -E2BIG;
		err = pair[1] ? vec_push(ret, range) : 0;
		if (err)
			return err;
	}
	return 0;
}

int dwarf_aranges_read(struct dwarf_file *file, size_t max, dwarf_aranges *ret)
{
	struct section_reader *reader = &file->sections[DWARF_ARANGES];
	struct set set = {0};

	if (!reader->size_bytes)
		return -ENOENT;
	for (uint64_t at = 0, before = 0; at < reader->size_bytes; at = set.end) {
		int err = set_read(reader, at, &set);

		if (!err && at && set.unit <= before)
			err = -EBADMSG;
		err = err ?: pairs_read(reader, &set, max, ret);
		if (err)
			return err;
		before = set.unit;
	}
	return 0;
}

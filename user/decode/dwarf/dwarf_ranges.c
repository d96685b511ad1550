/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_ranges.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

#define LIST_FIRST_BYTES 128
#define LIST_VIEW_BYTES	 4096

/* State of reading one range list. */
struct list {
	struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t base;
	struct dwarf_ranges *to;
	bool ended;
};

static int list_add(struct list *list, uint64_t start, uint64_t end)
{
	struct dwarf_range range = {start, end};

	return start < end ? vec_push(&list->to->ranges, range) : 0;
}

/* Read an entry of .debug_ranges (DWARF 2 to 4). */
static int entry_before_5(struct list *list, struct cursor *c)
{
	size_t bytes = list->unit->address_bytes;
	uint64_t start, end;

	if (dwarf_read_uint(c, bytes, &start) || dwarf_read_uint(c, bytes, &end))
		return -EBADMSG;
	if (start == (bytes == 4 ? UINT32_MAX : UINT64_MAX))
		list->base = end;
	else if (start || end)
		return list_add(list, list->base + start, list->base + end);
	else
		list->ended = true;
	return 0;
}

/* Read an operand that is an index into .debug_addr. */
static int read_indexed(struct list *list, struct cursor *c, uint64_t *ret)
{
	struct dwarf_value value = {.class = DWARF_ADDRESS_INDEX};
	int err = leb128_read(c, &value.u);

	return err ?: dwarf_address(list->file, list->unit, value, ret);
}

static int entry_since_5(struct list *list, struct cursor *c)
{
	size_t bytes = list->unit->address_bytes;
	uint64_t a = 0, b = 0;
	uint8_t kind;
	int err = dwarf_read_u8(c, &kind);

	if (err)
		return err;
	switch (kind) {
	case DWARF_RLE_END_OF_LIST:
		list->ended = true;
		return 0;
	case DWARF_RLE_BASE_ADDRESSX:
		return read_indexed(list, c, &list->base);
	case DWARF_RLE_BASE_ADDRESS:
		return dwarf_read_uint(c, bytes, &list->base);
	case DWARF_RLE_STARTX_ENDX:
		err = read_indexed(list, c, &a);
		err = err ?: read_indexed(list, c, &b);
		return err ?: list_add(list, a, b);
	case DWARF_RLE_STARTX_LENGTH:
		err = read_indexed(list, c, &a);
		err = err ?: leb128_read(c, &b);
		return err ?: list_add(list, a, a + b);
	case DWARF_RLE_OFFSET_PAIR:
		err = leb128_read(c, &a);
		err = err ?: leb128_read(c, &b);
		return err ?: list_add(list, list->base + a, list->base + b);
	case DWARF_RLE_START_END:
		err = dwarf_read_uint(c, bytes, &a);
		err = err ?: dwarf_read_uint(c, bytes, &b);
		return err ?: list_add(list, a, b);
	case DWARF_RLE_START_LENGTH:
		err = dwarf_read_uint(c, bytes, &a);
		err = err ?: leb128_read(c, &b);
		return err ?: list_add(list, a, a + b);
	default:
		return -EBADMSG;
	}
}

static int list_read(struct list *list, uint64_t offset, uint64_t *left)
{
	bool before_5 = list->unit->version < 5;
	/*
	 * Only DWARF 5 moves range lists to the .dwo file; .debug_ranges stays
	 * with the skeletons.
	 */
	struct dwarf_file *skeletons = list->file->skeletons ?: list->file;
	struct section_reader *reader = before_5 ? &skeletons->sections[DWARF_RANGES]
						 : &list->file->sections[DWARF_RNGLISTS];
	uint64_t wanted = LIST_FIRST_BYTES;

	while (!list->ended) {
		struct cursor c, entry;
		int err = section_view(reader, offset, wanted, &c);

		if (err)
			return err;
		entry = c;
		while (!list->ended && !err) {
			if (!*left)
				return -E2BIG;
			--*left;
			entry = c;
			err = before_5 ? entry_before_5(list, &c) : entry_since_5(list, &c);
		}
		/*
		 * An entry that the end of the view truncates is read again at
		 * the start of the next view.
		 */
		if (err && (err != -EBADMSG || !cursor_offset(&entry)))
			return err;
		offset += cursor_offset(&entry);
		wanted = LIST_VIEW_BYTES;
	}
	return 0;
}

/* Resolve an index to a list's offset, by the unit's table of offsets relative to its base. */
static int offset_of_index(struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t index,
			   uint64_t *ret)
{
	struct section_reader *reader = &file->sections[DWARF_RNGLISTS];
	uint64_t offset;
	struct cursor c;
	int err;

	if (index > reader->size_bytes / unit->offset_bytes ||
	    unit->rnglists_base > reader->size_bytes)
		return -EBADMSG;
	err = section_view(reader, unit->rnglists_base + index * unit->offset_bytes,
			   unit->offset_bytes, &c);
	err = err ?: dwarf_read_uint(&c, unit->offset_bytes, &offset);
	if (!err)
		*ret = unit->rnglists_base + offset;
	return err;
}

static int contiguous_read(struct dwarf_file *file, const struct dwarf_unit *unit,
			   struct dwarf_value low_pc, struct dwarf_value high_pc,
			   struct dwarf_ranges *to)
{
	struct dwarf_range range;
	int err = dwarf_address(file, unit, low_pc, &range.start);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = dwarf_address(file, unit, high_pc, &range.end);
	if (err == -ENOENT && high_pc.class == DWARF_NUMBER) {
		range.end = range.start + high_pc.u;
		err = 0;
	}
	if (err)
		return err == -ENOENT ? 0 : err;
	return range.start < range.end ? vec_push(&to->ranges, range) : 0;
}

int dwarf_ranges_read(struct dwarf_file *file, const struct dwarf_unit *unit,
		      struct dwarf_value low_pc, struct dwarf_value high_pc,
		      struct dwarf_value ranges, uint64_t *left, struct dwarf_ranges *to)
{
	struct list list = {.file = file, .unit = unit, .base = unit->base_address, .to = to};
	uint64_t offset = ranges.u;
	int err;

	switch (ranges.class) {
	case DWARF_LIST_INDEX:
		err = offset_of_index(file, unit, ranges.u, &offset);
		return err ?: list_read(&list, offset, left);
	case DWARF_OFFSET:
	case DWARF_NUMBER: /* before DWARF 4 */
		return list_read(&list, unit->ranges_base + offset, left);
	default:
		return contiguous_read(file, unit, low_pc, high_pc, to);
	}
}

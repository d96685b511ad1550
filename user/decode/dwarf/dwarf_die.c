/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_die.h"

#include <string.h>

#include "base/scope.h"
#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

#define DIE_FIRST_BYTES 256
#define DIE_BYTES_MAX	(1u << 20)

bool dwarf_tag_is_type(uint16_t tag)
{
	return tag == DWARF_TAG_CLASS_TYPE || tag == DWARF_TAG_STRUCTURE_TYPE ||
	       tag == DWARF_TAG_UNION_TYPE || tag == DWARF_TAG_INTERFACE_TYPE;
}

bool dwarf_tag_is_scope(uint16_t tag)
{
	return tag == DWARF_TAG_NAMESPACE || tag == DWARF_TAG_SUBPROGRAM || dwarf_tag_is_type(tag);
}

/* Returns the bit set of slots to decode for DIEs of a tag. */
static uint32_t kept_slots(enum dwarf_keep keep, uint16_t tag)
{
	const uint32_t code =
		1u << DWARF_SLOT_LOW_PC | 1u << DWARF_SLOT_HIGH_PC | 1u << DWARF_SLOT_RANGES;
	const uint32_t call = 1u << DWARF_SLOT_CALL_FILE | 1u << DWARF_SLOT_CALL_LINE;

	switch (keep) {
	case DWARF_KEEP_SCOPES:
		return dwarf_tag_is_scope(tag) ? 1u << DWARF_SLOT_SIBLING : 0;
	case DWARF_KEEP_FUNCTIONS:
		return (tag == DWARF_TAG_SUBPROGRAM ? code : 0) |
		       (tag == DWARF_TAG_SUBPROGRAM || dwarf_tag_is_type(tag)
				? 1u << DWARF_SLOT_SIBLING
				: 0);
	case DWARF_KEEP_CALLS:
		return tag == DWARF_TAG_SUBPROGRAM || tag == DWARF_TAG_INLINED_SUBROUTINE
			       ? code | call
			       : 0;
	default:
		return (1u << DWARF_SLOTS) - 1;
	}
}

/*
 * Skip a value. Sizes that are known in advance are summed in *passed, so that
 * one skip covers several values.
 */
static int value_pass(struct dwarf_walk *walk, const struct dwarf_attribute *attribute,
		      size_t *passed)
{
	struct dwarf_value ignored;
	int err;

	if (attribute->bytes == DWARF_BYTES_VARY) {
		err = cursor_skip(&walk->c, *passed);
		*passed = 0;
		return err
			       ?: dwarf_value_read(&walk->c, attribute->form, attribute->implicit,
						   walk->unit, walk->base, &ignored);
	}
	if (attribute->bytes == DWARF_BYTES_OFFSET)
		*passed += walk->unit->offset_bytes;
	else if (attribute->bytes == DWARF_BYTES_ADDRESS)
		*passed += walk->unit->address_bytes;
	else
		*passed += attribute->bytes;
	return 0;
}

static int value_keep(struct dwarf_walk *walk, const struct dwarf_attribute *attribute,
		      size_t *passed, struct dwarf_value *ret)
{
	int err = cursor_skip(&walk->c, *passed);

	*passed = 0;
	return err
		       ?: dwarf_value_read(&walk->c, attribute->form, attribute->implicit,
					   walk->unit, walk->base, ret);
}

static int values_read(struct dwarf_walk *walk, const struct dwarf_abbrev *abbrev, uint32_t slots,
		       struct dwarf_die *die)
{
	size_t passed = 0;
	int err = 0;

	for (uint32_t left = slots; left; left &= left - 1)
		die->values[__builtin_ctz(left)] = (struct dwarf_value){0};
	if (!(slots & abbrev->slots) && abbrev->fixed_bytes != DWARF_SIZE_VARIES)
		return cursor_skip(&walk->c,
				   abbrev->fixed_bytes +
					   (uint64_t)abbrev->offsets * walk->unit->offset_bytes +
					   (uint64_t)abbrev->addresses * walk->unit->address_bytes);
	if (abbrev->count > walk->budget->work_bytes) {
		walk->budget->spent = true;
		return -E2BIG;
	}
	walk->budget->work_bytes -= abbrev->count;
	for (uint32_t i = 0; i < abbrev->count && !err; i++) {
		const struct dwarf_attribute *attribute =
			&walk->abbrevs->attributes.data[abbrev->first + i];

		if (slots >> attribute->slot & 1)
			err = value_keep(walk, attribute, &passed, &die->values[attribute->slot]);
		else
			err = value_pass(walk, attribute, &passed);
	}
	return err ?: cursor_skip(&walk->c, passed);
}

int dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_die *ret)
{
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	ret->offset = walk->base + cursor_offset(&walk->c);
	if (leb128_read(&walk->c, &code))
		return -EBADMSG;
	if (!code) {
		ret->tag = 0;
		ret->children = false;
		return 0;
	}
	abbrev = dwarf_abbrevs_find(walk->abbrevs, code);
	if (!abbrev)
		return -EBADMSG;
	ret->tag = abbrev->tag;
	ret->children = abbrev->children;
	return values_read(walk, abbrev, kept_slots(walk->keep, abbrev->tag), ret);
}

int dwarf_walk_pass(struct dwarf_walk *walk, struct dwarf_die *die, bool *ret_passed)
{
	const struct dwarf_value *sibling = &die->values[DWARF_SLOT_SIBLING];
	uint64_t at = walk->base + cursor_offset(&walk->c);
	int err;

	if (!die->children || sibling->class != DWARF_REFERENCE || sibling->u <= at)
		return 0;
	err = cursor_skip(&walk->c, sibling->u - at);
	if (err)
		return err;
	die->children = false;
	*ret_passed = true;
	return 0;
}

int dwarf_die_at(struct dwarf_file *file, const struct dwarf_unit *unit,
		 const struct dwarf_abbrevs *abbrevs, uint64_t offset, struct dwarf_die *ret)
{
	struct dwarf_walk walk = {
		.keep = DWARF_KEEP_ALL,
		.unit = unit,
		.abbrevs = abbrevs,
		.base = offset,
		.budget = file->sections[DWARF_INFO].budget,
	};
	uint64_t left = unit->end - offset;
	int err;

	if (offset < unit->dies || offset >= unit->end)
		return -EBADMSG;
	for (uint64_t wanted = DIE_FIRST_BYTES;; wanted *= 16) {
		wanted = wanted < left ? wanted : left;
		err = 0;
		if (!section_view_held(&file->sections[DWARF_INFO], offset, wanted, &walk.c))
			err = section_view(&file->sections[DWARF_INFO_AGAIN], offset, wanted,
					   &walk.c);
		err = err ?: dwarf_walk_next(&walk, ret);
		if (err != -EBADMSG || wanted == left || wanted > DIE_BYTES_MAX)
			break;
	}
	if (!err && !ret->tag)
		return -EBADMSG;
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_abbrevs.h"

#include "base/scope.h"
#include "base/search.h"
#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

#define ABBREVS_FIRST_BYTES 1024
#define ABBREVS_BYTES_MAX   (4u << 20) /* limit of one table */

_Static_assert(DWARF_SLOTS < 32, "a bit for each slot, and none for what has no slot");

static enum dwarf_slot slot_of_attribute(uint64_t name)
{
	switch (name) {
	case DWARF_AT_NAME:
		return DWARF_SLOT_NAME;
	case DWARF_AT_LINKAGE_NAME:
	case DWARF_AT_MIPS_LINKAGE_NAME:
		return DWARF_SLOT_LINKAGE_NAME;
	case DWARF_AT_ABSTRACT_ORIGIN:
		return DWARF_SLOT_ABSTRACT_ORIGIN;
	case DWARF_AT_SPECIFICATION:
		return DWARF_SLOT_SPECIFICATION;
	case DWARF_AT_DECL_FILE:
		return DWARF_SLOT_DECL_FILE;
	case DWARF_AT_EXTERNAL:
		return DWARF_SLOT_EXTERNAL;
	case DWARF_AT_LOW_PC:
		return DWARF_SLOT_LOW_PC;
	case DWARF_AT_HIGH_PC:
		return DWARF_SLOT_HIGH_PC;
	case DWARF_AT_RANGES:
		return DWARF_SLOT_RANGES;
	case DWARF_AT_CALL_FILE:
		return DWARF_SLOT_CALL_FILE;
	case DWARF_AT_CALL_LINE:
		return DWARF_SLOT_CALL_LINE;
	case DWARF_AT_STMT_LIST:
		return DWARF_SLOT_STMT_LIST;
	case DWARF_AT_COMP_DIR:
		return DWARF_SLOT_COMP_DIR;
	case DWARF_AT_ADDR_BASE:
	case DWARF_AT_GNU_ADDR_BASE:
		return DWARF_SLOT_ADDR_BASE;
	case DWARF_AT_STR_OFFSETS_BASE:
		return DWARF_SLOT_STR_OFFSETS_BASE;
	case DWARF_AT_RNGLISTS_BASE:
		return DWARF_SLOT_RNGLISTS_BASE;
	case DWARF_AT_GNU_RANGES_BASE:
		return DWARF_SLOT_RANGES_BASE;
	case DWARF_AT_SIBLING:
		return DWARF_SLOT_SIBLING;
	case DWARF_AT_LANGUAGE:
		return DWARF_SLOT_LANGUAGE;
	case DWARF_AT_DWO_NAME:
	case DWARF_AT_GNU_DWO_NAME:
		return DWARF_SLOT_DWO_NAME;
	case DWARF_AT_GNU_DWO_ID:
		return DWARF_SLOT_DWO_ID;
	default:
		return DWARF_SLOTS;
	}
}

/* Size of a form's value in bytes, or another value of struct dwarf_attribute.bytes. */
static uint16_t form_bytes(uint64_t form)
{
	switch (form) {
	case DWARF_FORM_STRP:
	case DWARF_FORM_LINE_STRP:
	case DWARF_FORM_SEC_OFFSET:
	case DWARF_FORM_STRP_SUP:
	case DWARF_FORM_GNU_STRP_ALT:
	case DWARF_FORM_GNU_REF_ALT:
		return DWARF_BYTES_OFFSET;
	case DWARF_FORM_FLAG_PRESENT:
	case DWARF_FORM_IMPLICIT_CONST:
		return 0;
	case DWARF_FORM_DATA1:
	case DWARF_FORM_REF1:
	case DWARF_FORM_FLAG:
	case DWARF_FORM_STRX1:
	case DWARF_FORM_ADDRX1:
		return 1;
	case DWARF_FORM_DATA2:
	case DWARF_FORM_REF2:
	case DWARF_FORM_STRX2:
	case DWARF_FORM_ADDRX2:
		return 2;
	case DWARF_FORM_DATA4:
	case DWARF_FORM_REF4:
	case DWARF_FORM_STRX4:
	case DWARF_FORM_ADDRX4:
		return 4;
	case DWARF_FORM_DATA8:
	case DWARF_FORM_REF8:
	case DWARF_FORM_REF_SIG8:
		return 8;
	case DWARF_FORM_ADDR:
		return DWARF_BYTES_ADDRESS;
	case DWARF_FORM_DATA16:
		return 16;
	default:
		return DWARF_BYTES_VARY;
	}
}

static void add_size(struct dwarf_abbrev *abbrev, uint16_t bytes)
{
	if (bytes == DWARF_BYTES_OFFSET && abbrev->offsets < UINT16_MAX)
		abbrev->offsets++;
	else if (bytes == DWARF_BYTES_ADDRESS && abbrev->addresses < UINT16_MAX)
		abbrev->addresses++;
	else if (bytes >= DWARF_BYTES_ADDRESS)
		abbrev->fixed_bytes = DWARF_SIZE_VARIES;
	else if (abbrev->fixed_bytes != DWARF_SIZE_VARIES)
		abbrev->fixed_bytes += bytes;
}

static int attributes_parse(struct cursor *c, struct dwarf_abbrevs *abbrevs,
			    struct dwarf_abbrev *abbrev)
{
	abbrev->first = (uint32_t)abbrevs->attributes.size;
	for (;;) {
		struct dwarf_attribute attribute = {0};
		uint64_t name, form;

		if (leb128_read(c, &name) || leb128_read(c, &form))
			return -EBADMSG;
		if (!name && !form)
			return 0;
		if (form == DWARF_FORM_IMPLICIT_CONST && dwarf_read_sleb(c, &attribute.implicit))
			return -EBADMSG;
		attribute.form = form < UINT32_MAX ? (uint32_t)form : UINT32_MAX;
		attribute.slot = slot_of_attribute(name);
		attribute.bytes = form_bytes(form);
		if (vec_push(&abbrevs->attributes, attribute))
			return -ENOMEM;
		abbrev->count++;
		abbrev->slots |= 1u << attribute.slot;
		add_size(abbrev, attribute.bytes);
	}
}

static int abbrevs_parse(struct cursor *c, uint64_t until_code, struct dwarf_abbrevs *abbrevs)
{
	struct dwarf_abbrev abbrev = {0};
	uint8_t children;
	uint64_t tag;
	int err;

	do {
		abbrev = (struct dwarf_abbrev){0};
		if (leb128_read(c, &abbrev.code))
			return -EBADMSG;
		if (!abbrev.code)
			return 0;
		if (leb128_read(c, &tag) || dwarf_read_u8(c, &children))
			return -EBADMSG;
		abbrev.tag = tag < UINT16_MAX ? tag : UINT16_MAX;
		abbrev.children = children;
		err = attributes_parse(c, abbrevs, &abbrev);
		if (!err)
			err = vec_push(&abbrevs->abbrevs, abbrev);
	} while (!err && abbrev.code != until_code);
	return err;
}

static int compare_codes(const void *a_, const void *b_)
{
	const struct dwarf_abbrev *a = a_, *b = b_;

	/*
	 * Duplicate codes are sorted by position, so that the result of a
	 * search is deterministic.
	 */
	if (a->code == b->code)
		return a->first < b->first ? -1 : a->first > b->first;
	return a->code < b->code ? -1 : 1;
}

/* Compilers write abbreviations in order of their codes. */
static bool is_sorted(const struct dwarf_abbrevs *abbrevs)
{
	const struct dwarf_abbrev *all = abbrevs->abbrevs.data;

	for (size_t i = 1; i < abbrevs->abbrevs.size; i++) {
		if (all[i - 1].code > all[i].code)
			return false;
	}
	return true;
}

int dwarf_abbrevs_read(struct dwarf_file *file, uint64_t offset, uint64_t until_code,
		       struct dwarf_abbrevs *ret)
{
	CLEANUP(dwarf_abbrevs_deinit) struct dwarf_abbrevs abbrevs = {0};
	uint64_t wanted = ABBREVS_FIRST_BYTES;
	struct cursor c;
	int err;

	/*
	 * The length of a table is known only at its end, so the view grows
	 * until the table fits.
	 */
	for (;; wanted *= 8) {
		abbrevs.abbrevs.size = abbrevs.attributes.size = 0;
		err = section_view(&file->sections[DWARF_ABBREV], offset, wanted, &c);
		if (err)
			return err;
		err = abbrevs_parse(&c, until_code, &abbrevs);
		if (err != -EBADMSG || (size_t)(c.end - c.begin) < wanted)
			break;
		if (wanted > ABBREVS_BYTES_MAX)
			return -E2BIG;
	}
	if (err)
		return err;
	if (!is_sorted(&abbrevs))
		qsort(abbrevs.abbrevs.data, abbrevs.abbrevs.size, sizeof(*abbrevs.abbrevs.data),
		      compare_codes);
	vec_fit(&abbrevs.abbrevs);
	vec_fit(&abbrevs.attributes);
	*ret = abbrevs;
	abbrevs = (struct dwarf_abbrevs){0};
	return 0;
}

void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs)
{
	vec_deinit(&abbrevs->abbrevs);
	vec_deinit(&abbrevs->attributes);
}

size_t dwarf_abbrevs_bytes(const struct dwarf_abbrevs *abbrevs)
{
	return abbrevs->abbrevs.capacity * sizeof(*abbrevs->abbrevs.data) +
	       abbrevs->attributes.capacity * sizeof(*abbrevs->attributes.data);
}

const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev *all = abbrevs->abbrevs.data;
	size_t at, count = abbrevs->abbrevs.size;

	/* Fast path: compilers number abbreviations from 1 without gaps. */
	if (code - 1 < count && all[code - 1].code == code)
		return &all[code - 1];
	at = partition_point(0, count, i, all[i].code < code);
	return at < count && all[at].code == code ? &all[at] : NULL;
}

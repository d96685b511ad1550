/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Abbreviations, which define the layout of DIEs: of which attributes they have values. */
#ifndef JITBPF_DECODE_DWARF_DWARF_ABBREVS_H
#define JITBPF_DECODE_DWARF_DWARF_ABBREVS_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

enum dwarf_slot {
	DWARF_SLOT_NAME,
	DWARF_SLOT_LINKAGE_NAME,
	DWARF_SLOT_ABSTRACT_ORIGIN,
	DWARF_SLOT_SPECIFICATION,
	DWARF_SLOT_DECL_FILE,
	DWARF_SLOT_EXTERNAL,
	DWARF_SLOT_LOW_PC,
	DWARF_SLOT_HIGH_PC,
	DWARF_SLOT_RANGES,
	DWARF_SLOT_CALL_FILE,
	DWARF_SLOT_CALL_LINE,
	DWARF_SLOT_STMT_LIST,
	DWARF_SLOT_COMP_DIR,
	DWARF_SLOT_ADDR_BASE,
	DWARF_SLOT_STR_OFFSETS_BASE,
	DWARF_SLOT_RNGLISTS_BASE,
	DWARF_SLOT_RANGES_BASE,
	DWARF_SLOT_LANGUAGE,
	DWARF_SLOT_DWO_NAME,
	DWARF_SLOT_DWO_ID,
	DWARF_SLOT_SIBLING,
	DWARF_SLOTS, /* number of slots; also the slot of an attribute without one */
};

struct dwarf_attribute {
	int64_t implicit;
	uint32_t form;
	uint16_t slot;	/* enum dwarf_slot */
	uint16_t bytes; /* size of the value, or one of the following */
};

#define DWARF_BYTES_ADDRESS 0xfffd /* 4 or 8, the unit's address_bytes */
#define DWARF_BYTES_OFFSET  0xfffe /* 4 or 8, the unit's offset_bytes */
#define DWARF_BYTES_VARY    0xffff

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, count; /* range in dwarf_abbrevs.attributes */
	uint32_t fixed_bytes;  /* size of the values, or DWARF_SIZE_VARIES */
	/* numbers of values that add the unit's offset_bytes, or address_bytes, to fixed_bytes */
	uint16_t offsets, addresses;
	uint32_t slots; /* bit set of the slots present */
	uint16_t tag;
	bool children;
};

#define DWARF_SIZE_VARIES UINT32_MAX

/* Zero-initialized is empty. */
struct dwarf_abbrevs {
	VEC(struct dwarf_abbrev) abbrevs; /* sorted by code */
	VEC(struct dwarf_attribute) attributes;
};

/*
 * Read the abbreviation table at an offset of .debug_abbrev, up to the entry of
 * until_code, or whole if until_code is 0. Returns 0, -EBADMSG, -E2BIG, -ENOMEM
 * or section_view()'s error; on failure *ret is unchanged. The caller calls
 * dwarf_abbrevs_deinit().
 */
int dwarf_abbrevs_read(struct dwarf_file *file, uint64_t offset, uint64_t until_code,
		       struct dwarf_abbrevs *ret);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

size_t dwarf_abbrevs_bytes(const struct dwarf_abbrevs *abbrevs);

/* Returns the abbreviation of a code, or NULL. */
const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);

#endif

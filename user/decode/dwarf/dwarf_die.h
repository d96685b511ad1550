/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debugging information entries, one after the other, and the abbreviations
 * that say how they are laid out. Only the attributes with a slot are kept.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_DIE_H
#define JITBPF_DECODE_DWARF_DWARF_DIE_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"

enum dwarf_slot {
	DWARF_SLOT_NAME,
	DWARF_SLOT_LINKAGE_NAME,
	DWARF_SLOT_ABSTRACT_ORIGIN,
	DWARF_SLOT_SPECIFICATION,
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
	DWARF_SLOTS, /* also: has none */
};

struct dwarf_attribute {
	int64_t implicit;
	uint32_t form;
	uint16_t slot;	/* enum dwarf_slot */
	uint16_t bytes; /* that it takes, DWARF_BYTES_OFFSET or DWARF_BYTES_VARY */
};

#define DWARF_BYTES_OFFSET 0xfffe /* the unit's offset_bytes */
#define DWARF_BYTES_VARY   0xffff

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, count; /* its attributes */
	uint32_t fixed_bytes;  /* that they take, or DWARF_SIZE_VARIES; and with them */
	uint32_t offsets;      /* so many of the unit's offset_bytes */
	uint32_t slots;	       /* a bit for each that it has */
	uint16_t tag;
	bool children;
};

#define DWARF_SIZE_VARIES UINT32_MAX

/* Zero-initialized is empty. */
struct dwarf_abbrevs {
	VEC(struct dwarf_abbrev) abbrevs; /* by code */
	VEC(struct dwarf_attribute) attributes;
};

/*
 * Read the table at an offset of .debug_abbrev: whole, or until it has a code
 * (0: whole). Returns 0, -EBADMSG, -E2BIG, -ENOMEM or section_view()'s error;
 * on failure *ret is unchanged. The caller deinits *ret.
 */
int dwarf_abbrevs_read(struct dwarf_file *file, uint64_t offset, uint64_t until_code,
		       struct dwarf_abbrevs *ret);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

size_t dwarf_abbrevs_bytes(const struct dwarf_abbrevs *abbrevs);

/* NULL where there is no such code. */
const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Whether DIEs with a tag are types that have members; or are scopes of names. */
bool dwarf_tag_is_type(uint16_t tag);
bool dwarf_tag_is_scope(uint16_t tag);

struct dwarf_die {
	uint64_t offset;
	uint16_t tag; /* 0: not one, but the end of its siblings */
	bool children;
	struct dwarf_value values[DWARF_SLOTS]; /* class DWARF_NONE: not there */
};

/* Which values a walk sets: all others are passed over, which costs much less. */
enum dwarf_keep {
	DWARF_KEEP_SCOPES,    /* of dwarf_tag_is_scope(): its sibling */
	DWARF_KEEP_FUNCTIONS, /* of DWARF_TAG_SUBPROGRAM: its code; its sibling, and a type's */
	DWARF_KEEP_CALLS,     /* of DWARF_TAG_INLINED_SUBROUTINE too: its code, and the call */
	DWARF_KEEP_ALL,
};

/* Walks the DIEs of a unit in a cursor. */
struct dwarf_walk {
	enum dwarf_keep keep;
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct cursor c;
	uint64_t base;		       /* offset in .debug_info at which c begins */
	struct section_budget *budget; /* attributes that take no bytes cost work too */
};

/*
 * The next DIE. Returns 0, -EBADMSG (the end is damage too: ask cursor_left() before) or
 * -E2BIG (the budget's work is spent).
 */
int dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_die *ret);

/*
 * Pass over what is inside of the DIE that was read last, where its sibling was kept and is
 * believed: *ret_passed is set then, and it counts as one without children. Returns 0 or -EBADMSG.
 */
int dwarf_walk_pass(struct dwarf_walk *walk, struct dwarf_die *die, bool *ret_passed);

/*
 * The one DIE at an offset inside a unit, which is not the end of its siblings.
 * Returns 0, -EBADMSG, or section_view()'s error.
 */
int dwarf_die_at(struct dwarf_file *file, const struct dwarf_unit *unit,
		 const struct dwarf_abbrevs *abbrevs, uint64_t offset, struct dwarf_die *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debugging information entries (DIEs) in sequence. Only attributes with a slot (dwarf_abbrevs.h)
 * are decoded.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_DIE_H
#define JITBPF_DECODE_DWARF_DWARF_DIE_H

#include "decode/dwarf/dwarf_abbrevs.h"

/*
 * Returns true if DIEs of a tag are types with members; or, for _scope(), such types or namespaces.
 */
bool dwarf_tag_is_type(uint16_t tag);
bool dwarf_tag_is_scope(uint16_t tag);

struct dwarf_die {
	uint64_t offset;
	uint16_t tag; /* 0: a null entry, which ends a list of siblings */
	bool children;
	struct dwarf_value values[DWARF_SLOTS]; /* absent values have class DWARF_NONE */
};

/* Selects the values that a walk decodes. Skipping the others is much faster. */
enum dwarf_keep {
	DWARF_KEEP_SCOPES,    /* of dwarf_tag_is_scope() DIEs: sibling */
	DWARF_KEEP_FUNCTIONS, /* of subprograms: addresses, sibling; of types: sibling */
	DWARF_KEEP_CALLS,     /* of subprograms and inlined subroutines: addresses and call site */
	DWARF_KEEP_ALL,
};

/* A walk over the DIEs of a unit. */
struct dwarf_walk {
	enum dwarf_keep keep;
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct cursor c;
	uint64_t base;		       /* offset of c.begin in .debug_info */
	struct section_budget *budget; /* charged for each attribute, also those without bytes */
};

/*
 * Read the next DIE. Returns 0, -EBADMSG (also at the end of c: check
 * cursor_left() first) or -E2BIG (the work budget is spent).
 */
int dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_die *ret);

/*
 * Skip the children of the DIE that was read last, if its sibling value was
 * decoded and is plausible. In that case sets *ret_passed and clears
 * die->children. Returns 0 or -EBADMSG.
 */
int dwarf_walk_pass(struct dwarf_walk *walk, struct dwarf_die *die, bool *ret_passed);

/*
 * Read the DIE at an offset inside a unit. A null entry is -EBADMSG. Returns 0,
 * -EBADMSG, or section_view()'s error.
 */
int dwarf_die_at(struct dwarf_file *file, const struct dwarf_unit *unit,
		 const struct dwarf_abbrevs *abbrevs, uint64_t offset, struct dwarf_die *ret);

#endif

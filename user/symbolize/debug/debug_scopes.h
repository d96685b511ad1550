/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which namespaces, types and functions the DIEs of a unit stand in. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SCOPES_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SCOPES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_die.h"

#define DEBUG_SCOPES_MAX (1u << 20) /* of one unit */
#define DEBUG_SCOPE_NONE UINT32_MAX

/*
 * Found level by level: where the compiler tells what ends a scope, it is passed over
 * until something inside of it is asked for. Zero-initialized is empty.
 */
struct debug_scopes {
	VEC(struct debug_enclosure) enclosures; /* the unit's first DIE, then level by level */
};

struct debug_enclosure {
	uint64_t die, end;     /* its bytes in .debug_info */
	uint32_t parent;       /* DEBUG_SCOPE_NONE: the one that was looked into */
	uint32_t first, count; /* what was found inside, by die */
	uint16_t tag;
	bool passed; /* over: not looked into yet */
};

/*
 * The innermost one around the DIE at an offset of the unit, itself not counted; of
 * one that is damaged, what came before counts. *scopes is always the same unit's.
 * Returns 0, -ENOENT (there is none) or -ENOMEM; on failure *ret is unchanged.
 */
int debug_scopes_find(struct debug_scopes *scopes, struct dwarf_file *file,
		      const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs,
		      uint64_t offset, struct debug_enclosure *ret);
void debug_scopes_deinit(struct debug_scopes *scopes);

/* Memory that it takes. */
size_t debug_scopes_bytes(const struct debug_scopes *scopes);

#endif

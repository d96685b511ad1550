/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Enclosing scopes (namespaces, types, functions) of the DIEs of a unit. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SCOPES_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SCOPES_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_die.h"

#define DEBUG_SCOPES_MAX (1u << 20) /* limit of one unit */
#define DEBUG_SCOPE_NONE UINT32_MAX

/*
 * The scopes are found level by level: if a scope has a sibling attribute, its
 * children are skipped until an offset inside it is requested. Zero-initialized
 * is empty.
 */
struct debug_scopes {
	VEC(struct debug_enclosure) enclosures; /* the unit's first DIE, then level by level */
};

struct debug_enclosure {
	uint64_t die, end; /* range in .debug_info */
	/* index; DEBUG_SCOPE_NONE for a child of the scope whose children were read */
	uint32_t parent;
	uint32_t first, count; /* the scopes inside, sorted by die */
	uint16_t tag;
	bool passed; /* its children have not been read yet */
};

/*
 * Find the innermost scope around the DIE at an offset of the unit, not
 * counting the DIE itself. In a damaged scope, only the part before the damage
 * counts. *scopes must always be used with the same unit. Returns 0, -ENOENT
 * (no scope) or -ENOMEM; on failure *ret is unchanged.
 */
int debug_scopes_find(struct debug_scopes *scopes, struct dwarf_file *file,
		      const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs,
		      uint64_t offset, struct debug_enclosure *ret);
void debug_scopes_deinit(struct debug_scopes *scopes);

/* Memory in use, in bytes. */
size_t debug_scopes_bytes(const struct debug_scopes *scopes);

#endif

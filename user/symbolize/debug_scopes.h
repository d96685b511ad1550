/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which namespaces, types and functions the DIEs of a unit stand in. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_SCOPES_H
#define JITBPF_SYMBOLIZE_DEBUG_SCOPES_H

#include "base/vec.h"
#include "decode/dwarf_die.h"

#define DEBUG_SCOPES_MAX (1u << 20) /* of one unit */
#define DEBUG_SCOPE_NONE UINT32_MAX

/* Zero-initialized is empty. */
struct debug_scopes {
	VEC(struct debug_enclosure) enclosures; /* by die */
	bool read;
};

struct debug_enclosure {
	uint64_t die, end; /* its bytes in .debug_info */
	uint32_t parent;   /* DEBUG_SCOPE_NONE: the unit */
	uint16_t tag;
};

/*
 * Go through a unit, once. Of one that is damaged, what came before counts.
 * Returns 0 or -ENOMEM.
 */
int debug_scopes_read(struct debug_scopes *scopes, struct dwarf_file *file,
		      const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs);
void debug_scopes_deinit(struct debug_scopes *scopes);

/* The innermost one around the DIE at an offset, itself not counted; or NULL. */
const struct debug_enclosure *debug_scopes_around(const struct debug_scopes *scopes,
						  uint64_t offset);

/* Memory that it takes. */
size_t debug_scopes_bytes(const struct debug_scopes *scopes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Split units ("-gsplit-dwarf"): a unit's DIEs stand in a .dwo file of their own,
 * or with those of many others in a package (.dwp), and what a linker must see,
 * addresses and lines, in a skeleton unit. DWARF 5's, and GNU's for DWARF 4.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_SPLIT_H
#define JITBPF_DECODE_DWARF_DWARF_SPLIT_H

#include "decode/dwarf/dwarf_file.h"

/* Whether a unit (after dwarf_unit_root()) is a skeleton. */
static inline bool dwarf_unit_is_skeleton(const struct dwarf_unit *unit)
{
	return unit->dwo_name.class != DWARF_NONE && unit->dwo_id;
}

/*
 * The split unit in file that makes a pair with skeleton, ready as after
 * dwarf_unit_root(). file->skeletons is the skeleton's file. Returns 0, -ENOENT
 * (not in here), -EBADMSG, -ENOMEM or section_view()'s error; on failure *ret is
 * unchanged.
 */
int dwarf_split_find(struct dwarf_file *file, const struct dwarf_unit *skeleton,
		     struct dwarf_unit *ret);

#endif

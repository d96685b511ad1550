/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Split units ("-gsplit-dwarf", DWARF 5 and GNU's extension of DWARF 4). The
 * DIEs of a unit are in a separate .dwo file, or with those of other units in a
 * package (.dwp). A skeleton unit in the program keeps what the linker
 * relocates: addresses and lines.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_SPLIT_H
#define JITBPF_DECODE_DWARF_DWARF_SPLIT_H

#include "decode/dwarf/dwarf_file.h"

/* Returns true if a unit is a skeleton. Call after dwarf_unit_root(). */
static inline bool dwarf_unit_is_skeleton(const struct dwarf_unit *unit)
{
	return unit->dwo_name.class != DWARF_NONE && unit->dwo_id;
}

/*
 * Find the split unit of a skeleton in file, where file->skeletons is the file
 * of the skeleton. *ret is complete, as after dwarf_unit_root(). Returns 0,
 * -ENOENT (not in this file), -EBADMSG, -ENOMEM or section_view()'s error; on
 * failure *ret is unchanged.
 */
int dwarf_split_find(struct dwarf_file *file, const struct dwarf_unit *skeleton,
		     struct dwarf_unit *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a function that a DIE stands for is called. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_NAMES_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_NAMES_H

#include "symbolize/debug/debug_units.h"

/*
 * Append the name of the DIE at an offset of a unit, with its NUL: the one that it
 * is linked by where it, its abstract instance or its declaration has it (mangled);
 * else that of the source, with the namespaces, types and functions that it
 * stands in: "ns::(anonymous namespace)::type::name". Appends nothing where there is
 * none. Units that have to be read for it stay until the call of debug_units ends.
 * Returns 0, or -ENOMEM; then *to is unchanged.
 */
int debug_name_find(struct debug_units *units, struct debug_unit *unit, uint64_t offset,
		    struct dwarf_path *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions in debug info. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_NAMES_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_NAMES_H

#include "symbolize/debug/debug_units.h"

/*
 * Append the name of the DIE at an offset of a unit, NUL-terminated. The
 * linkage name of the DIE, its abstract origin or its declaration is preferred.
 * Otherwise the source name is qualified with its scopes: "ns::(anonymous
 * namespace)::type::name". Appends nothing if there is no name. Units loaded
 * for this stay loaded until debug_units_end(). Returns 0, or -ENOMEM with *to
 * unchanged.
 */
int debug_name_find(struct debug_units *units, struct debug_unit *unit, uint64_t offset,
		    struct dwarf_path *to);

/*
 * Append the path of the file that declares the function of a DIE, NUL-terminated and normalized
 * (path_normalize()). All its inlined calls and copies have the same one. Appends nothing if it is
 * not known, or if the function is not static: then its name tells it apart. Returns as
 * debug_name_find().
 */
int debug_decl_file_find(struct debug_units *units, struct debug_unit *unit, uint64_t offset,
			 struct dwarf_path *to);

#endif

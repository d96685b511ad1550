/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Demangling of C++, Rust and D names. */
#ifndef JITBPF_SYMBOLIZE_NAME_DEMANGLE_H
#define JITBPF_SYMBOLIZE_NAME_DEMANGLE_H

#define DEMANGLE_INPUT_MAX  (64u << 10)
#define DEMANGLE_OUTPUT_MAX (16u << 10) /* a short name can expand to exabytes */

/*
 * Demangle a name, with parameters, like "c++filt -i". A suffix "@plt" is kept. Returns a string
 * owned by the caller (free()). Returns NULL if the name is to be shown unchanged: because it is
 * not mangled, is too long or expands too far, or because memory is short. Thread-safe.
 */
char *demangle(const char *name);

#endif

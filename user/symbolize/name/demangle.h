/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mangled names (C++, Rust, D) as people read them. */
#ifndef JITBPF_SYMBOLIZE_NAME_DEMANGLE_H
#define JITBPF_SYMBOLIZE_NAME_DEMANGLE_H

#define DEMANGLE_INPUT_MAX  (64u << 10)
#define DEMANGLE_OUTPUT_MAX (16u << 10) /* a short name can unfold to exabytes */

/*
 * The readable form of a name, with parameters, as "c++filt -i" writes it. Returns
 * a string of the caller's (free()), or NULL where the name is to be shown as it
 * is: it is not mangled, it is too long or unfolds too far, or memory ran out. A
 * mangled name with "@plt" behind it keeps that.
 * Any thread.
 */
char *demangle(const char *name);

#endif

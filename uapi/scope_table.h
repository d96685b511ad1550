/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scope table of a load: which methods a compiler has inlined at each place of the code, with
 * their lines. It describes all inlining of the code in one event.
 *
 * A scope is a position in a method. Its caller is the scope of the call that the compiler has
 * replaced by the method's body; the outermost scope is in the method of the load itself. Ranges
 * that share callers share scopes. Contents: struct jitbpf_scope_table, then methods, scopes and
 * ranges, then NUL-terminated strings.
 *
 * A range begins at its offset and ends at that of the next one; the last one ends with the code.
 * An engine whose positions end their ranges (HotSpot: previous pc < x <= pc) adds 1 to each.
 *
 * The writer is not trusted, so readers check every number. Little-endian, no padding.
 */
#ifndef JITBPF_UAPI_SCOPE_TABLE_H
#define JITBPF_UAPI_SCOPE_TABLE_H

#include <linux/types.h>

#define JITBPF_NO_SCOPE		(~(__u32)0)
#define JITBPF_SCOPE_STRING_MAX 4096 /* bytes of one string without its NUL */
#define JITBPF_SCOPE_DEPTH_MAX	128  /* scopes of one place, with the outermost one */

struct jitbpf_scope_table {
	__u32 method_count;
	__u32 scope_count;
	__u32 range_count;
	__u32 string_bytes; /* with the last NUL; 0: there are no methods */
};

/* Offsets in the strings. */
struct jitbpf_scope_method {
	__u32 name;
	__u32 class_name;
	__u32 source; /* source file */
};

struct jitbpf_scope {
	__u32 caller;	/* index of a scope before this one, or JITBPF_NO_SCOPE: outermost */
	__u32 depth;	/* 1: outermost; else that of the caller + 1 */
	__u32 method;	/* index of the method */
	__s32 position; /* the engine's (bytecode index), of a place on that line; -1: none */
	__u32 line;	/* source line; 0: not known */
};

/* By ascending offset, each offset once. */
struct jitbpf_scope_range {
	__u32 offset; /* from the address of the load */
	__u32 scope;  /* index of the innermost scope, or JITBPF_NO_SCOPE: not known */
};

_Static_assert(sizeof(struct jitbpf_scope_table) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_scope_method) == 12, "ABI");
_Static_assert(sizeof(struct jitbpf_scope) == 20, "ABI");
_Static_assert(sizeof(struct jitbpf_scope_range) == 8, "ABI");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about the runtime of the Go language: which of its functions begin stacks, and which switch
 * rsp to another stack. Its call frame information describes neither. Constant data and pure
 * functions only.
 */
#ifndef JITBPF_ENGINES_GO_RUNTIME_H
#define JITBPF_ENGINES_GO_RUNTIME_H

#include <stdbool.h>

enum go_role {
	GO_ORDINARY,
	GO_FIRST,    /* a stack begins in this function */
	GO_SWITCHES, /* calls on another stack, and keeps rbp as frame pointer of its own frame */
	GO_STARTS,   /* a stack begins here as soon as the function has loaded rsp */
	/* After it has loaded rsp, its caller is where the thread's goroutine was stopped. */
	GO_STOPS,
	GO_LEAVES, /* once it has loaded rsp, it has neither a frame nor a caller */
};

/* Returns the role of a function by its name in a symbol table. */
enum go_role go_role_of(const char *name);

/* Names of sections that only Go's programs and libraries have; NULL behind the last one. */
extern const char *const go_sections[];

/* Returns true for the function from whose code decode/cfi/go_frames.c learns offsets. */
bool go_is_systemstack(const char *name);

#endif

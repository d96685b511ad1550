/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of methods, as JIT engines give them, as the people write them whose code it is. */
#ifndef JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H
#define JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H

/*
 * The readable form of a name: mangled ones as demangle.h has it. numba's, which
 * are mangled and written in C's letters, get Python's back, and its
 * prefixes ("cfunc.", "__gufunc__." and the like) stay before them:
 * "__main__::hot(Array<double, 1, C>)". Returns a string of the caller's (free()),
 * or NULL where the name is to be shown as it is. Any thread.
 */
char *engine_name(const char *name);

#endif

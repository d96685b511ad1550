/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Demangling of method names that JIT engines report. */
#ifndef JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H
#define JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H

/*
 * Demangle a method name as demangle.h does, and respell it for its engine (engines/engines.h).
 * A prefix that the engine put before the mangled name stays:
 * "cfunc.__main__::hot(Array<double, 1, C>)". Returns a string owned by the caller (free()), or
 * NULL if the name is to be shown unchanged. Any thread.
 */
char *engine_name(const char *name);

#endif

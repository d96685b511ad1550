/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Demangling of method names that JIT engines report. */
#ifndef JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H
#define JITBPF_SYMBOLIZE_NAME_ENGINE_NAME_H

/*
 * Demangle a method name. C++-style names are demangled as in demangle.h.
 * numba's mangling encodes Python names in C identifiers; those are decoded,
 * and its prefixes ("cfunc.", "__gufunc__.") are kept:
 * "__main__::hot(Array<double, 1, C>)". Returns a string owned by the caller
 * (free()), or NULL if the name is to be shown unchanged. Thread-safe.
 */
char *engine_name(const char *name);

#endif

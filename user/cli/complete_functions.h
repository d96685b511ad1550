/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a recording, for completion. */
#ifndef JITBPF_CLI_COMPLETE_FUNCTIONS_H
#define JITBPF_CLI_COMPLETE_FUNCTIONS_H

#include "base/vec.h"

#define COMPLETE_RECORDING_MAX (16u << 20) /* a replay of more bytes takes too long for a key */
#define COMPLETE_FUNCTIONS_MAX 512

/* Allocated strings, which are untrusted. Zero-initialized is empty. */
typedef VEC(char *) function_names;

/*
 * List the names of the functions with samples, most samples first; a name may occur several times.
 * The recording must be a regular file of this user's, so that a key in a folder of others reads
 * nothing of theirs. Returns 0 or a negative errno; the caller calls function_names_deinit() in
 * both cases.
 */
int complete_functions(const char *path, function_names *ret);
void function_names_deinit(function_names *names);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names in a recording, for completion. */
#ifndef JITBPF_CLI_COMPLETE_COMPLETE_RECORDED_H
#define JITBPF_CLI_COMPLETE_COMPLETE_RECORDED_H

#include "base/vec.h"

#define COMPLETE_RECORDING_MAX (16u << 20) /* a replay of more bytes takes too long for a key */
#define COMPLETE_NAMES_MAX     512

/* Allocated strings, which are untrusted. Zero-initialized is empty. */
typedef VEC(char *) recorded_names;

/*
 * List the names of the functions with samples, most samples first; a name may occur several times.
 * Or list the containers and units of the samples, each once. The recording must be a regular file
 * of this user's, so that a key in a folder of others reads nothing of theirs. Return 0 or a
 * negative errno; the caller calls recorded_names_deinit() in both cases.
 */
int complete_functions(const char *path, recorded_names *ret);
int complete_containers(const char *path, recorded_names *ret);
void recorded_names_deinit(recorded_names *names);

#endif

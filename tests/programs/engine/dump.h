/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's side of a jitdump file: jit-PID.dump, written through stdio as V8 does it, so that
 * the last records stay in the buffer of the process until it ends.
 */
#ifndef JITBPF_ENGINE_DUMP_H
#define JITBPF_ENGINE_DUMP_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dump {
	FILE *out; /* NULL: none is written */
	pthread_mutex_t lock;
	uint64_t loads;
};

/* Create the file in a folder, map it, and write the header. Returns 0 or a negative errno. */
int dump_open(struct dump *ret, const char *folder);

/* Write a load of code that is there, if there is a file. Thread-safe. */
void dump_load(struct dump *dump, const uint8_t *code, size_t code_bytes, const char *name);

#endif

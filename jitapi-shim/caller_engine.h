/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups the call sites of NotifyEvent by engine: all call sites in one mapped file belong to one
 * engine. Each such file has its own copy of the API's static part, which counts its own method
 * IDs.
 */
#ifndef JITBPF_SHIM_CALLER_ENGINE_H
#define JITBPF_SHIM_CALLER_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#define CALLERS_MAX 64

/* All zeros: no callers yet. */
struct caller_engines {
	uint8_t count;
	bool unknown; /* there are several callers, and the file of some caller is not known */
	struct caller {
		uint64_t address;
		uint64_t file;	/* device and inode; 0: none */
		uint8_t engine; /* the same number for all callers in one file */
	} callers[CALLERS_MAX];
	char buffer[4096];
};

/*
 * Returns the index of a caller in callers[]. Adds a new caller; if the table is full, sets
 * `unknown` and returns 0.
 */
uint8_t caller_engines_index(struct caller_engines *engines, uint64_t address);

/* Sets engine of all callers. If there are several, it reads /proc/self/maps. */
void caller_engines_resolve(struct caller_engines *engines);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups the call sites of NotifyEvent by engine: all call sites in one loaded file belong to one
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
		uint32_t file;	/* 0: none */
		uint8_t engine; /* the same number for all callers in one file */
	} callers[CALLERS_MAX];
};

/*
 * Note the files that are loaded now. Call it when the library is loaded: it takes the lock of the
 * dynamic linker, which can sleep.
 */
void caller_engines_find_files(void);

/*
 * Note the file of an address if it is not known. Call it only in a function that an engine calls
 * right after it has loaded a library: it may take the same lock.
 */
void caller_engines_find_file(uint64_t address);

/*
 * Returns the index of a caller in callers[]. Adds a new caller; if the table is full, sets
 * `unknown` and returns 0.
 */
uint8_t caller_engines_index(struct caller_engines *engines, uint64_t address);

/* Sets engine of all callers, by the files that were noted. */
void caller_engines_resolve(struct caller_engines *engines);

#endif

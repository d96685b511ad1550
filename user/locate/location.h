/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A location: a place in code that is independent of process and time. Equal
 * locations share a number, and numbers never change.
 */
#ifndef JITBPF_LOCATE_LOCATION_H
#define JITBPF_LOCATE_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/room.h"
#include "base/vec.h"
#include "state/code/code_map.h"

enum location_kind {
	LOCATION_KERNEL = 1, /* offset: address in the kernel image or a module; owner is 0 */
	/* owner: number of a run-time generated kernel symbol; offset: in it */
	LOCATION_KERNEL_CODE = 2,
	LOCATION_NATIVE = 3, /* owner: module number; offset: in the file */
	LOCATION_JIT = 4,    /* owner: region number; offset: in the region */
	LOCATION_ANON = 5,   /* executable memory without a known region or file; offset: address */
	LOCATION_UNKNOWN = 6,  /* nothing known at the address; offset: address */
	LOCATION_LEFT_OUT = 7, /* the frames that a profile had no room for */
	LOCATION_CUT = 8,      /* the outermost frames, which the stack walk did not reach */
	LOCATION_RUNTIME = 9,  /* owner: a runtime's number of a function; offset: position in it */
};

#define LOCATION_KIND_LAST LOCATION_RUNTIME

/*
 * offset is that of the looked-up address: the pc in a leaf frame, the return address minus 1 in
 * other frames.
 */
struct location {
	enum location_kind kind;
	uint32_t payer; /* location_table.payer when the location was added */
	uint64_t owner;
	uint64_t offset;
	/* for JIT a code_region, for KERNEL_CODE a kernel_code; a reference */
	const struct space_value *code;
};

/* Returns true if no code is known at a location. No record names functions of runtimes yet. */
static inline bool location_code_is_unknown(const struct location *location)
{
	return location->kind == LOCATION_UNKNOWN || location->kind == LOCATION_ANON ||
	       location->kind == LOCATION_RUNTIME;
}

/* Kernel code that was generated at run time (struct jitbpf_kernel_symbol). */
struct kernel_code {
	struct space_value value;
	uint64_t number;
	uint64_t address;
	char name[];
};

/* Zero-initialized is empty. */
struct location_table {
	VEC(struct location) locations; /* by number */
	struct index_map index;
	struct room room; /* LOCATION_BYTES for a new one */
	uint32_t payer;	  /* set by the owner of the table */
};

#define LOCATION_BYTES 128 /* with its places in indexes, and one frame */

#define LOCATION_NO_ROOM UINT32_MAX /* instead of a number */

/*
 * Find or add a location. A new location takes a reference to its code. Returns
 * 0 and sets *ret to its number, or -ENOMEM, or -EDQUOT (no room).
 */
int location_table_add(struct location_table *table, const struct location *location,
		       uint32_t *ret);

/* Returns the number of a location, or INDEX_MAP_NONE if the table does not have it. */
uint32_t location_table_find(const struct location_table *table, const struct location *location);

void location_table_deinit(struct location_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A location: a place in code that is independent of process and time. Equal
 * locations share a number, and numbers never change.
 */
#ifndef JITBPF_LOCATE_LOCATION_H
#define JITBPF_LOCATE_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/item_index.h"
#include "base/room.h"
#include "base/vec.h"
#include "locate/code_kinds.h"
#include "state/code/code_map.h"

/*
 * offset is that of the looked-up address: the pc in a leaf frame, the return address minus 1 in
 * other frames.
 */
struct location {
	enum location_kind kind : 16;
	/* It serves the frames of a runtime in the same stack (JITBPF_FRAME_INTERPRETER). */
	bool is_interpreter;
	uint32_t payer; /* location_table.payer when the location was added */
	uint64_t owner;
	uint64_t offset;
	/* for JIT a code_region, KERNEL_CODE a kernel_code, RUNTIME a known_function; a reference
	 */
	const struct space_value *code;
};

/* Kernel code that was generated at run time (struct jitbpf_kernel_symbol). */
struct kernel_code {
	struct space_value value;
	uint64_t number;
	uint64_t address;
	char name[];
};

/* Code that is not of one process. */
struct global_code {
	const struct space_map *kernel; /* generated at run time: struct kernel_code */
	const struct runtime_functions *functions;
};

/*
 * Set *ret to the address at which the code that a location is in begins; that of a file counts as
 * 0. Returns false if it is not known.
 */
bool location_base(const struct location *location, uint64_t *ret);

/* Zero-initialized is empty. */
struct location_table {
	VEC(struct location) locations; /* by number */
	struct item_index index;
	uint32_t interpreters; /* number of locations with is_interpreter */
	struct room room;      /* LOCATION_BYTES for a new one */
	uint32_t payer;	       /* set by the owner of the table */
};

#define LOCATION_BYTES 96 /* with its places in indexes, and one frame */

#define LOCATION_NO_ROOM UINT32_MAX /* instead of a number */

/*
 * Find or add a location. Its code is marked as sampled in any case; a new location takes a
 * reference to it. Returns 0 and sets *ret to its number, or -ENOMEM, or -EDQUOT (no room).
 */
int location_table_add(struct location_table *table, const struct location *location,
		       uint32_t *ret);

/* Returns the number of a location, or INDEX_MAP_NONE if the table does not have it. */
uint32_t location_table_find(const struct location_table *table, const struct location *location);

void location_table_deinit(struct location_table *table);

#endif

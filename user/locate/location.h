/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A place in code that means the same from now on: what (process, address,
 * time) was turned into. Numbers are stable; equal places share one.
 */
#ifndef JITBPF_LOCATE_LOCATION_H
#define JITBPF_LOCATE_LOCATION_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "state/code/code_map.h"

enum location_kind {
	LOCATION_KERNEL = 1,	  /* owner 0, offset: address in the kernel image or a module */
	LOCATION_KERNEL_CODE = 2, /* owner: a kernel symbol made at run time; offset in it */
	LOCATION_NATIVE = 3,	  /* owner: module number; offset: in the file */
	LOCATION_JIT = 4,	  /* owner: region number; offset in the region */
	LOCATION_ANON = 5,	  /* executable memory that nobody described; offset: address */
	LOCATION_UNKNOWN = 6,	  /* nothing was known to be there; offset: address */
};

/*
 * offset is that of the instruction looked up: of the pc itself in a leaf frame,
 * one less than the return address in all others.
 */
struct location {
	enum location_kind kind;
	uint64_t owner;
	uint64_t offset;
	const struct space_value *code; /* JIT: its code_region, KERNEL_CODE: its symbol; held */
};

/* Value of kernel code made at run time (uapi struct jitbpf_kernel_symbol). */
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
};

/*
 * The number of a location, added where it is new (then with a reference to
 * its code). Returns 0 and sets *ret, or -ENOMEM.
 */
int location_table_add(struct location_table *table, const struct location *location,
		       uint32_t *ret);

void location_table_deinit(struct location_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine code that a recording has of JIT code (JITBPF_KEPT_CODE), by region. */
#ifndef JITBPF_SYMBOLIZE_RECORDED_CODE_H
#define JITBPF_SYMBOLIZE_RECORDED_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"

#define RECORDED_CODE_BYTES_MAX (256u << 20) /* of all regions; more is left out */
#define RECORDED_CODE_CHARGE	64u	     /* bytes that a region is charged, besides its code */

struct recorded_region {
	uint64_t identity; /* code_region_identity() */
	uint8_t *bytes;	   /* the beginning of its code */
	uint32_t size_bytes;
};

/* Zero-initialized is empty. */
struct recorded_code {
	VEC(struct recorded_region) regions;
	struct index_map index;
	uint64_t bytes;
	uint64_t left_out; /* regions over the limit */
};

/* Add a copy of the code of a region, unless the region has code. Returns 0 or -ENOMEM. */
int recorded_code_add(struct recorded_code *code, uint64_t identity, const void *bytes,
		      uint32_t size_bytes);

/* Returns the code of a region, or NULL. Borrowed until the next change. */
const struct recorded_region *recorded_code_find(const struct recorded_code *code,
						 uint64_t identity);

void recorded_code_deinit(struct recorded_code *code);

#endif

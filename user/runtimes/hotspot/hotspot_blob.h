/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a blob of HotSpot's code cache: a compiled method, or code of the virtual machine itself.
 */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_BLOB_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_BLOB_H

#include <stdbool.h>

#include "runtimes/hotspot/hotspot_heap.h"

#define HOTSPOT_BLOB_NAME_MAX 255

struct hotspot_blob {
	uint64_t start, end;		      /* of all of it */
	uint64_t code_start, code_end;	      /* of its instructions */
	bool is_compiled;		      /* a method, or what calls a native method */
	bool is_permanent;		      /* it is never freed; set by who knows it */
	char name[HOTSPOT_BLOB_NAME_MAX + 1]; /* UTF-8; "" of a compiled one */
};

/* Returns 0; -EBADMSG if it is no valid blob; or the error of the memory. */
int hotspot_blob_read(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		      const struct hotspot_block *block, struct hotspot_blob *ret);

/* What a compiled method leads to. Addresses; sizes in bytes. */
struct hotspot_compiled {
	uint64_t method;
	uint32_t compile_id; /* unique in its process */
	/* Tables of its places; empty if there are none, or they are not where they have to be. */
	struct hotspot_part {
		uint64_t start, bytes;
	} pcs, data, metadata;
};

/* Returns 0; -ENOENT if it has no method any more; or the error of the memory. */
int hotspot_compiled_read(const struct process_memory *memory,
			  const struct hotspot_code_layout *layout, const struct hotspot_blob *blob,
			  struct hotspot_compiled *ret);

#endif

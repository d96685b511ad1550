/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process's executable mappings say of its JIT engines. */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_MAPS_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/process_text.h"
#include "base/index_map.h"
#include "base/string_pool.h"
#include "base/vec.h"

struct engine_mapping {
	uint64_t start, end;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t first; /* number of the first mapping of that file */
	uint32_t name;	/* number in the pool: the file's, without its folder */
};

struct engine_maps {
	VEC(struct engine_mapping) files; /* by address */
	struct index_map index;		  /* of those that are first, by inode */
	uint64_t generated_bytes;	  /* executable memory behind which there is no file */
	bool shim;			  /* a file of its name is mapped */
	bool jitdump;			  /* jit-PID.dump is */
};

/*
 * Read a process's. inner_pid is its pid as it sees itself. Returns 0, -ENOMEM, or
 * -errno of reading its maps; engine_maps_deinit() is due where it is 0.
 */
int engine_maps_read(process_text *text, uint32_t pid, uint32_t inner_pid,
		     struct string_pool *strings, struct engine_maps *ret);
void engine_maps_deinit(struct engine_maps *maps);

/* Number of the first mapping of the file that an address lies in; UINT32_MAX: in none. */
uint32_t engine_maps_file_at(const struct engine_maps *maps, uint64_t address);

#endif

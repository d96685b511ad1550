/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of a process, as far as they concern JIT engines. For `list`. */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_MAPS_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/proc/process_text.h"
#include "base/index_map.h"
#include "base/string_pool.h"
#include "base/vec.h"
#include "state/process/process_runtimes.h"

struct engine_mapping {
	uint64_t start, end;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t first; /* index of the first mapping of the same file */
	uint32_t name;	/* string number of the file name, without its directory */
};

struct engine_jitdump {
	uint32_t mapping; /* index of its mapping in files */
	uint32_t path;	  /* string number */
};

struct engine_maps {
	VEC(struct engine_mapping) files;    /* by address */
	struct index_map index;		     /* first mappings of files, by device and inode */
	uint64_t generated_bytes;	     /* size of executable memory without a file */
	bool shim, jvm_agent;		     /* a file with such a name is mapped */
	struct process_runtimes runtimes;    /* without modules */
	VEC(struct engine_jitdump) jitdumps; /* mapped files jit-PID.dump */
};

/*
 * Read the mappings of a process. inner_pid is its pid in its own namespace. Returns 0, after which
 * the caller calls engine_maps_deinit(), -ENOMEM, or the negative errno of reading its maps.
 */
int engine_maps_read(struct process_maps *reader, process_text *text, uint32_t pid,
		     uint32_t inner_pid, struct string_pool *strings, struct engine_maps *ret);
void engine_maps_deinit(struct engine_maps *maps);

/* Returns the first mapping of the file that is mapped at an address, or UINT32_MAX. */
uint32_t engine_maps_file_at(const struct engine_maps *maps, uint64_t address);

#endif

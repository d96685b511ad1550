/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the live JIT code of a process by engine, from its journals. For `list`. */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_CODE_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/engine_maps.h"
#include "base/vec.h"
#include "uapi/code_event.h"

struct engine_count {
	uint32_t file; /* number of the engine's file in engine_maps; UINT32_MAX: not known */
	uint64_t methods, bytes; /* of live code */
};

struct file_store;

struct engine_code {
	bool journal;	    /* the process has a journal */
	bool unreadable;    /* the journal is invalid, or a compaction does not end */
	bool other_version; /* the journal is one of another version */
	VEC(struct engine_count) engines;
};

/*
 * Read the journals of a publisher in a process, within a budget of bytes and time. Returns 0,
 * after which the caller calls engine_code_deinit(), or a negative errno: -ENOMEM, or the process
 * has ended.
 */
int engine_code_read(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		     const struct engine_maps *maps, struct engine_code *ret);
void engine_code_deinit(struct engine_code *code);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code that a process has live now, by engine, as its journals tell. */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_CODE_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/engine_maps.h"
#include "base/vec.h"

struct engine_count {
	uint32_t file; /* of the engine_maps; UINT32_MAX: not known */
	uint64_t methods, bytes;
};

struct engine_code {
	bool journal;	 /* there is one */
	bool unreadable; /* and it makes no sense, or does not come to rest */
	VEC(struct engine_count) engines;
};

/*
 * Read them; costs no more than a journal's greatest size and a moment. Returns 0, or
 * negative errno (-ENOMEM, or of a process that has ended); engine_code_deinit()
 * is due where it is 0.
 */
int engine_code_read(uint32_t pid, const struct engine_maps *maps, struct engine_code *ret);
void engine_code_deinit(struct engine_code *code);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fires the collector's probe itself, past its API, with records that it would never write. */
#ifndef JITBPF_ENGINE_FORGE_H
#define JITBPF_ENGINE_FORGE_H

#include <stdint.h>

#include "tests/engine/engine.h"

typedef void (*forge_probe)(const void *part, uint64_t size_bytes, uint64_t sequence,
			    uint32_t event);

struct forge {
	forge_probe probe;
	uint64_t code; /* an address that honest records could tell */
	uint8_t *edge; /* the end of memory that can be read */
	uint32_t random;
	uint64_t fired;
};

/* Find the probe of the engine's collector. 0, or -1 after telling why on stderr. */
int forge_open(const struct engine *engine, struct forge *forge);

/* Each kind of garbage once; the longest in the first round only. Returns how often the probe was
 * fired. */
uint64_t forge_round(struct forge *forge);

#endif

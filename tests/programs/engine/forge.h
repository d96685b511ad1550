/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fires the collector's probe directly, with records that the collector would never write. */
#ifndef JITBPF_ENGINE_FORGE_H
#define JITBPF_ENGINE_FORGE_H

#include <stdint.h>

#include "tests/programs/engine/engine.h"

typedef void (*forge_probe)(const void *part, uint64_t size_bytes, uint64_t sequence,
			    uint32_t event);

struct forge {
	forge_probe probe;
	uint64_t code; /* an address that valid records could contain */
	uint8_t *edge; /* end of readable memory */
	uint32_t random;
	uint64_t fired;
};

/* Find the probe of the engine's collector. Returns 0, or -1 after a message on stderr. */
int forge_open(const struct engine *engine, struct forge *forge);

/*
 * Send each kind of invalid record once; the longest one in the first round
 * only. Returns the number of probe hits.
 */
uint64_t forge_round(struct forge *forge);

#endif

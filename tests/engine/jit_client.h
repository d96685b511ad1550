/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's side of the JIT Profiling API: finds the collector as real engines do. */
#ifndef JITBPF_ENGINE_JIT_CLIENT_H
#define JITBPF_ENGINE_JIT_CLIENT_H

#include <stdbool.h>

#define JIT_SAMPLING_ON 1

struct jit_client {
	unsigned int (*notify)(unsigned int event, void *data);
	unsigned int mode; /* what Initialize answered; 0: no collector */
};

/*
 * Load what $INTEL_JIT_PROFILER64 names. An engine goes on without it: returns
 * whether a collector listens. Not thread-safe, and once per process.
 */
bool jit_client_open(struct jit_client *client);

/* Sends an event as another engine in the process would: from a library of its own. */
typedef unsigned int (*jit_second_fn)(unsigned int (*notify)(unsigned int event, void *data),
				      unsigned int event, void *data);

/* The second engine, from libsecond-engine.so beside the program; NULL: it is not there. */
jit_second_fn jit_client_second(void);

/* Send an event where a collector listens. Returns its answer, 0 where none does. */
static inline unsigned int jit_client_notify(const struct jit_client *client, unsigned int event,
					     void *data)
{
	return client->mode == JIT_SAMPLING_ON ? client->notify(event, data) : 0;
}

#endif

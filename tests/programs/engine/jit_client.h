/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's side of the JIT Profiling API: finds the collector like real engines. */
#ifndef JITBPF_ENGINE_JIT_CLIENT_H
#define JITBPF_ENGINE_JIT_CLIENT_H

#include <stdbool.h>

#define JIT_SAMPLING_ON 1

struct jit_client {
	unsigned int (*initialize)(void);
	unsigned int (*notify)(unsigned int event, void *data);
	unsigned int mode; /* result of Initialize; 0 without a collector */
};

/*
 * Load the library in $INTEL_JIT_PROFILER64. Returns true if a collector is
 * active; an engine runs without one too. Not thread-safe; call it once per
 * process.
 */
bool jit_client_open(struct jit_client *client);

/* Sends an event from the code of another library, as a second engine would. */
typedef unsigned int (*jit_second_fn)(unsigned int (*notify)(unsigned int event, void *data),
				      unsigned int event, void *data);

/*
 * Load the second engine, libsecond-engine.so beside the program, which initializes the collector
 * as the first one did. Returns its function, or NULL.
 */
jit_second_fn jit_client_second(const struct jit_client *client);

/* Send an event if a collector is active. Returns its result, else 0. */
static inline unsigned int jit_client_notify(const struct jit_client *client, unsigned int event,
					     void *data)
{
	return client->mode == JIT_SAMPLING_ON ? client->notify(event, data) : 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that packed samples refer to (uapi/packed_recording.h). Recorder and reader have the
 * same state at each sample. The owner calls sample_state_deinit().
 */
#ifndef JITBPF_DECODE_RECORDING_SAMPLE_STATE_H
#define JITBPF_DECODE_RECORDING_SAMPLE_STATE_H

#include <stdint.h>

#include "base/vec.h"
#include "decode/recording/stack_tree.h"
#include "uapi/recording.h"

struct sample_cpu {
	uint64_t time_ns;  /* of its last sample of event 0 */
	uint64_t other_ns; /* of its last sample of another event */
	uint32_t thread;   /* number of its last thread */
};

struct sample_state {
	struct stack_tree tree;
	VEC(struct jitbpf_thread_chunk) threads;
	VEC(struct sample_cpu) cpus;
	uint64_t period_ns;
	uint32_t cpu; /* of the last sample */
	uint16_t flags;
};

/* Begin at an INFO chunk with this frequency (0: not known). Returns 0 or -ENOMEM. */
static inline int sample_state_begin(struct sample_state *state, uint32_t freq_hz)
{
	state->period_ns = freq_hz ? 1000000000 / freq_hz : 0;
	return stack_tree_clear(&state->tree);
}

/* Apply a FRESH chunk: forget threads and stacks. Returns 0 or -ENOMEM. */
static inline int sample_state_forget(struct sample_state *state)
{
	state->threads.size = 0;
	vec_for_each (cpu, &state->cpus)
		cpu->thread = 0;
	return stack_tree_clear(&state->tree);
}

/* Returns where the time of a CPU's last sample is kept for an event. */
static inline uint64_t *sample_state_time(struct sample_cpu *cpu, uint32_t event)
{
	return event ? &cpu->other_ns : &cpu->time_ns;
}

/* Returns the expected time of a CPU's next sample of an event. */
static inline uint64_t sample_state_expected(const struct sample_state *state,
					     const struct sample_cpu *cpu, uint32_t event)
{
	return event ? cpu->other_ns : cpu->time_ns + state->period_ns;
}

/* Set *ret to a CPU below JITBPF_PACKED_CPUS_MAX, valid until the next call. Returns 0 or -ENOMEM.
 */
static inline int sample_state_cpu(struct sample_state *state, uint32_t cpu,
				   struct sample_cpu **ret)
{
	while (state->cpus.size <= cpu) {
		if (vec_push(&state->cpus, (struct sample_cpu){0}))
			return -ENOMEM;
	}
	*ret = &state->cpus.data[cpu];
	return 0;
}

static inline void sample_state_deinit(struct sample_state *state)
{
	stack_tree_deinit(&state->tree);
	vec_deinit(&state->threads);
	vec_deinit(&state->cpus);
}

#endif

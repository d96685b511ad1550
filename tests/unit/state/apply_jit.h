/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies events of the JIT API to a code map, and a code map with its account. */
#ifndef JITBPF_TESTS_UNIT_STATE_APPLY_JIT_H
#define JITBPF_TESTS_UNIT_STATE_APPLY_JIT_H

#include <assert.h>

#include "decode/media/jit_event.h"
#include "state/process/process_code.h"

/* The code event of a JIT API event that an engine reported at time_ns. */
static inline struct code_event code_event_of(const struct jit_event *jit, uint64_t engine,
					      uint64_t time_ns)
{
	struct jitbpf_jit record = {.h.time_ns = time_ns};
	struct code_event event;

	jit_event_convert(jit, &record, &event);
	event.origin.engine = engine;
	event.time_ns = event.reported_ns = time_ns;
	event.flags &= (uint16_t)~JITBPF_EVENT_TIME_CORRECTED;
	return event;
}

static inline int apply_jit(struct code_map *map, struct code_account *account,
			    const struct jit_event *jit, uint64_t engine, uint64_t time_ns)
{
	struct code_event event = code_event_of(jit, engine, time_ns);

	return code_map_apply(map, account, &event);
}

/* The same for a process: a known engine's event. */
static inline int apply_jit_of(struct process *process, const struct jit_event *jit,
			       uint64_t time_ns)
{
	struct code_event event = code_event_of(jit, CODE_ENGINE_KNOWN, time_ns);

	return process_code_apply(process, &event);
}

static inline struct code_account *make_account(const struct code_budget *budget)
{
	struct code_account *account = NULL;
	int err = code_account_create(budget, &account);

	assert(!err);
	return account;
}

/* A gap in the shim's events, of all engines. */
static inline int apply_shim_gap(struct code_map *map, struct code_account *account,
				 uint64_t from_ns, uint64_t to_ns, const uint64_t *live,
				 size_t live_count)
{
	struct code_gap gap = {
		.publisher = JITBPF_PUBLISHER_SHIM,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.live = live,
		.live_count = live_count,
	};

	return code_map_gap(map, account, &gap);
}

#endif

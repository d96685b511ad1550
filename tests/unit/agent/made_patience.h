/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A clock of patience that passes by the words of a test alone. */
#ifndef JITBPF_TESTS_UNIT_AGENT_MADE_PATIENCE_H
#define JITBPF_TESTS_UNIT_AGENT_MADE_PATIENCE_H

#include "agent/patience.h"

struct made_patience {
	struct patience clock;
	uint64_t now_ns, waited_ns; /* the next readings; the test changes them */
	uint64_t step_ns;	    /* from one reading to the next */
};

static inline uint64_t made_patience_read(void *context, uint64_t *ret_waited_ns)
{
	struct made_patience *made = (struct made_patience *)context;

	*ret_waited_ns = made->waited_ns;
	made->now_ns += made->step_ns;
	return made->now_ns;
}

static inline void made_patience_init(struct made_patience *made)
{
	*made = (struct made_patience){.now_ns = 1000000000000};
	patience_init(&made->clock, made_patience_read, made);
}

/* Let time pass, in which the thread waits for a CPU for a part of it. */
static inline void made_patience_pass(struct made_patience *made, uint64_t time_ns,
				      uint64_t waited_ns)
{
	made->now_ns += time_ns;
	made->waited_ns += waited_ns;
}

#endif

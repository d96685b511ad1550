/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the unwinder's own files share about runtime frames. */
#ifndef JITBPF_UNWIND_UNWINDER_RUNTIMES_STATE_H
#define JITBPF_UNWIND_UNWINDER_RUNTIMES_STATE_H

#include "unwind/unwinder_state.h"

/* Returns true if recipes can be published. */
static inline bool unwind_has_recipes(const struct unwinder *unwinder)
{
	return unwinder->tables.publish_recipe;
}

/* Request the recipe of a process that was sampled, if that is due. Returns 0 or -ENOMEM. */
int unwind_want_recipe(struct unwinder *unwinder, const struct process *process,
		       const struct jitbpf_sample *sample);

/* Take the answer to a request. Return 0 or -ENOMEM. */
int unwind_take_recipe(struct unwinder *unwinder, const struct unwind_answer *answer);
int unwind_take_function(struct unwinder *unwinder, const struct unwind_answer *answer);

/* At the end of a round: request recipes whose pause has ended. Returns 0 or -ENOMEM. */
int unwind_runtimes_go_on(struct unwinder *unwinder);

#endif

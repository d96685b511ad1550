/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples that wait in intake, in order of arrival. A sample waits in one stage after the
 * other: for something that has a key (unwind/unwind_key.h), for a change of its process's code, or
 * (WAIT_HOLD) for time alone. When that comes, or the sample is older than the limit of the stage
 * (is_over() in waiting_rounds.c), intake goes on with it.
 *
 * A sample is one allocation, charged to the owner of its process. During a round, samples from
 * full rings can exceed the budget. At its end, the oldest samples of each owner that has more than
 * its part end their wait early.
 *
 * Single-threaded.
 */
#ifndef JITBPF_PIPELINE_INTAKE_WAITING_SAMPLES_H
#define JITBPF_PIPELINE_INTAKE_WAITING_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/record.h"
#include "unwind/unwinder.h"

#define WAITING_BYTES_MAX (24u << 20)
#define WAITING_LISTS	  1024 /* of samples, by key, and by process */

/*
 * step() in stacks.c decides in which stage a sample has to wait. Only samples for which
 * record_is_unfinished() or intake_doubts() is true get there, or whose stack has a word that is no
 * address. Before WAIT_HOLD, a wait that ends is followed by another step(). The end of a round
 * waits for the answers of the stages in waiting_samples_need_answers() only.
 */
enum wait_stage {
	WAIT_WALK,	/* for rows; at its limit, the stack is cut */
	WAIT_LOADS,	/* for code that may be reported late; then it is unknown */
	WAIT_CHECKS,	/* for checks of code; then the code is unknown */
	WAIT_FUNCTIONS, /* for functions of runtime frames; then they are unknown */
	WAIT_HOLD,	/* finished, for the end of code that may be reported late */
	WAIT_STAGES,
	WAIT_DONE = WAIT_STAGES, /* to be emitted in this round */
};

/* How a wait ends. */
enum wait_end {
	WAIT_ENDED,	 /* the sample was woken in time; HOLD: the time has passed */
	WAIT_LATE,	 /* the limit has passed */
	WAIT_OVER_SHARE, /* early: the owner has more than its part of the budget */
	WAIT_ENDS
};

/* How the waits of a stage ended, and how long they took in all. */
struct wait_count {
	uint64_t ends[WAIT_ENDS];
	uint64_t wait_ns;
};

/* The lists of a sample: by each of its keys, and by its process. */
enum waiting_list { WAITING_BY_PROCESS = UNWIND_KEYS, WAITING_LISTS_OF_ONE };

struct waiting_link {
	struct waiting_sample *next, **link; /* NULL: in no list */
};

struct waiting_sample {
	uint64_t arrival;
	enum wait_stage stage;
	bool woken;	   /* in the list waiting_samples.woken, by links[0] */
	bool waited;	   /* in this stage */
	bool settles;	   /* before it is emitted, its code may turn out to be unknown */
	bool has_seen;	   /* it came with `seen` */
	uint64_t since_ns; /* when the stage began */
	uint64_t awaited;  /* LOADS: address of the code that may be reported */
	struct unwind_wait wait;
	uint64_t process; /* its number */
	struct waiting_link links[WAITING_LISTS_OF_ONE];
	size_t index;		    /* in waiting_samples.samples */
	struct budget_owner *owner; /* charged for `bytes`, a reference */
	size_t bytes;		    /* of this allocation */
	struct jitbpf_code_bytes seen;
	/* As received, with its parts, and then the frames that its walk has found. Or finished. */
	struct jitbpf_sample sample;
};

struct waiting_samples {
	VEC(struct waiting_sample *) samples; /* in order of arrival */
	VEC(struct waiting_sample *) turn;    /* the woken ones, being gone on with */
	struct waiting_sample *woken;	      /* list */
	struct waiting_sample *lists[WAITING_LISTS_OF_ONE][WAITING_LISTS];
	struct owner_budget budget;
	uint64_t arrivals;
	size_t in_stage[WAIT_STAGES + 1];
	struct wait_count counts[WAIT_STAGES];
	/* For tests: each sample is woken in each turn, and its walk begins anew. */
	bool polls;
};

/*
 * Add a copy of a sample, in WAIT_WALK and without a key. Returns 0 with *ret, which
 * waiting_samples_resize() and waiting_samples_remove() end, or -ENOMEM.
 */
int waiting_samples_add(struct waiting_samples *waiting, struct owner_key key,
			const struct jitbpf_sample *sample, struct waiting_sample **ret);

/*
 * Give a sample room for sample_bytes, behind the beginning of `sample`. Returns 0 with *one moved,
 * or -ENOMEM.
 */
int waiting_samples_resize(struct waiting_samples *waiting, struct waiting_sample **one,
			   size_t sample_bytes);

/*
 * The sample is in a stage from now_ns on. If this is another one, the end of the stage before is
 * counted. A sample that is done is charged no more.
 */
void waiting_samples_enter(struct waiting_samples *waiting, struct waiting_sample *one,
			   enum wait_stage stage, enum wait_end end, uint64_t now_ns);

/* The sample waits for one of wait.keys (0: none), or changes of its process. */
void waiting_samples_park(struct waiting_samples *waiting, struct waiting_sample *one);

/* Wake one sample, those that wait for a key, or all that wait for something with a key. */
void waiting_samples_wake(struct waiting_samples *waiting, struct waiting_sample *one);
void waiting_samples_wake_key(struct waiting_samples *waiting, uint64_t key);
void waiting_samples_wake_all(struct waiting_samples *waiting);

/*
 * Code or mappings of a process have changed in [start, end): wake its samples whose walk may go
 * another way, and those that wait for a load there.
 */
void waiting_samples_changed(struct waiting_samples *waiting, uint64_t process, uint64_t start,
			     uint64_t end);

/*
 * Begin a turn: `turn` becomes the woken samples, by arrival. The caller goes on with each, and
 * removes none but that one meanwhile.
 */
void waiting_samples_begin_turn(struct waiting_samples *waiting);

/*
 * The code of a finished sample's user frame frames - 1 is unknown: cut off its callers, in place.
 * frames is 1 to the number of user frames.
 */
void waiting_sample_cut(struct jitbpf_sample *sample, uint32_t frames);

/* Remove a sample: frees it. Its place in `samples` becomes NULL. */
void waiting_samples_remove(struct waiting_samples *waiting, struct waiting_sample *one);

/* Remove the empty places of `samples`. */
void waiting_samples_compact(struct waiting_samples *waiting);

/* Returns true if rows, checks or functions of some sample are pending. */
static inline bool waiting_samples_need_answers(const struct waiting_samples *waiting)
{
	return waiting->in_stage[WAIT_WALK] || waiting->in_stage[WAIT_CHECKS] ||
	       waiting->in_stage[WAIT_FUNCTIONS];
}

void waiting_samples_deinit(struct waiting_samples *waiting);

#endif

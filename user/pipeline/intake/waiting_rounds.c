/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of a round: waiting samples go on as answers come, some waits end, and the samples that
 * are done are emitted.
 */
#include "pipeline/intake/intake_state.h"
#include "unwind/code/code_successors.h"
#include "unwind/unwinder_runtimes.h"

/*
 * Limits of the waits for rows in a round, since the rings fill during a wait. One stack can need
 * rows several times.
 */
#define ROUND_WAITS   10
#define ROUND_WAIT_NS 1000000ull

/* While a runtime starts, each round asks it once: the next one must come soon. */
#define START_WAITS 2

/* At the end of the source, no ring fills. */
#define END_WAITS   200
#define END_WAIT_NS 10000000ull

/* Go on with the samples whose keys were woken. */
static int take_turn(struct intake *intake, uint64_t now_ns)
{
	struct waiting_samples *waiting = &intake->waiting;
	bool all = false;
	uint64_t key;
	int err = intake_emit_found(intake);

	while (unwinder_take_woken(intake->unwinder, &key, &all)) {
		if (!all)
			waiting_samples_wake_key(waiting, key);
		else
			waiting_samples_wake_all(waiting);
	}
	if (waiting->polls)
		waiting_samples_wake_all(waiting);
	waiting_samples_begin_turn(waiting);
	vec_for_each (one, &waiting->turn)
		err = err ?: intake_go_on(intake, one, WAIT_ENDED, now_ns);
	return err;
}

/* Returns true if a sample is older than the limit of its stage. */
static bool is_over(const struct waiting_sample *one, uint64_t now_ns)
{
	uint64_t limit_ns = one->stage == WAIT_HOLD ? CODE_SUCCESSOR_NS : INTAKE_DEFER_NS;

	return one->sample.h.time_ns + limit_ns < now_ns;
}

/* End the waits of samples that are older than their limits, or, at the end of the source, all
 * waits. */
static int end_waits(struct intake *intake, uint64_t now_ns, bool last)
{
	struct waiting_samples *waiting = &intake->waiting;
	int err = 0;

	for (size_t i = 0; i < waiting->samples.size && !err; i++) {
		struct waiting_sample *one = waiting->samples.data[i];

		if (!one || one->stage == WAIT_DONE || !(last || is_over(one, now_ns)))
			continue;
		if (one->stage < WAIT_HOLD)
			err = intake_go_on(intake, &one, WAIT_LATE, now_ns);
		if (one->stage == WAIT_HOLD && (last || is_over(one, now_ns)))
			waiting_samples_enter(waiting, one, WAIT_DONE, WAIT_ENDED, now_ns);
	}
	return err;
}

/* End the waits of the oldest samples of each owner that has more than its part of the budget. */
static int end_over_share(struct intake *intake, uint64_t now_ns)
{
	struct waiting_samples *waiting = &intake->waiting;
	int err = 0;

	owner_budget_divide(&waiting->budget);
	for (size_t i = 0; i < waiting->samples.size && !err; i++) {
		struct waiting_sample *one = waiting->samples.data[i];

		if (!one || one->stage == WAIT_DONE || one->owner->used <= one->owner->kept)
			continue;
		if (one->stage < WAIT_HOLD)
			err = intake_go_on(intake, &one, WAIT_OVER_SHARE, now_ns);
		else
			waiting_samples_enter(waiting, one, WAIT_DONE, WAIT_OVER_SHARE, now_ns);
	}
	return err;
}

/*
 * Emit the samples that are done, in order of arrival. All verdicts come before them: unknown code
 * ends before its samples are located.
 */
static int release(struct intake *intake)
{
	struct waiting_samples *waiting = &intake->waiting;
	int err = intake_emit_verdicts(intake); /* of answers that no sample waits for */

	err = err ?: intake_emit_runtimes(intake, intake->round_ns);
	for (size_t i = 0; i < waiting->samples.size && !err; i++) {
		struct waiting_sample *one = waiting->samples.data[i];

		if (one && one->stage == WAIT_DONE)
			err = intake_emit_done(intake, one);
	}
	waiting_samples_compact(waiting);
	return err;
}

int intake_take_answers(struct intake *intake)
{
	int came = intake->unwinder ? unwinder_collect(intake->unwinder, 0, intake->round_ns) : 0;

	return came < 0 ? came : 0;
}

int intake_complete_stacks(struct intake *intake, uint64_t time_ns, bool last)
{
	const uint64_t wait_ns = last ? END_WAIT_NS : ROUND_WAIT_NS;
	int waits = last ? END_WAITS : ROUND_WAITS;
	int err, came;

	if (!intake->unwinder)
		return 0;
	if (last)
		unwinder_end(intake->unwinder);
	if (!last && unwinder_runtimes_start(intake->unwinder))
		waits = START_WAITS;
	came = unwinder_collect(intake->unwinder, 0, time_ns);
	err = came < 0 ? came : take_turn(intake, time_ns);
	for (int i = 0; i < waits && !err && waiting_samples_need_answers(&intake->waiting); i++) {
		came = unwinder_collect(intake->unwinder, wait_ns, time_ns);
		if (came > 0)
			err = take_turn(intake, time_ns);
		else if (came < 0)
			err = came;
		else if (!last)
			break;
	}
	err = err ?: end_waits(intake, time_ns, last);
	err = err ?: end_over_share(intake, time_ns);
	err = err ?: release(intake);
	return err ?: unwinder_publish(intake->unwinder, time_ns);
}

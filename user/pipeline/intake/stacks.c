/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes stacks that the kernel could not walk to their end, and has their JIT code checked if
 * it may have been replaced. Such a sample is deferred, and is emitted when its stack is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"
#include "pipeline/intake/intake_state.h"
#include "unwind/code_successors.h"
#include "unwind/walked_stack.h"

/*
 * Limits of the waits for rows in a round, since the rings fill during a wait. One stack can need
 * rows several times.
 */
#define ROUND_WAITS   10
#define ROUND_WAIT_NS 1000000ull

/*
 * Rounds are short for this long after a deferred sample. More samples that need rows of JIT code
 * are likely, and the code must be read while it exists. With short rounds, twice as many regions
 * that live for milliseconds are read.
 */
#define SOON_NS 200000000ull

/* At the end of the source, no ring fills. */
#define END_WAITS   200
#define END_WAIT_NS 10000000ull

static bool has_copy(const struct jitbpf_sample *sample)
{
	return sample->h.flags & JITBPF_SAMPLE_STACK_COPY;
}

/*
 * Keep the part of the kernel's walk that used mappings of the sample's own time, up to the first
 * word that is no address.
 */
static void keep_sound(const struct process *process, const struct jitbpf_sample *sample,
		       struct finished_stack *ret)
{
	const struct frame_words user = sample_user_frames(sample);
	uint32_t addresses = frame_words_addresses(&user);

	ret->count = process ? walked_stack_sound(process, sample) : user.count;
	ret->end = ret->count < user.count ? JITBPF_END_NO_RULE : sample->user_end;
	if (ret->count > addresses) {
		ret->count = addresses;
		ret->end = JITBPF_END_BAD_FRAME;
	}
	ret->guessed = false;
	ret->replaced = ret->untold = false;
	memcpy(ret->ips, user.words, ret->count * sizeof(ret->ips[0]));
}

static void make_finished(const struct jitbpf_sample *sample, const struct finished_stack *stack,
			  union finished_sample *ret)
{
	const struct frame_words user = {.words = stack->ips, .count = stack->count};

	sample_build(sample, &user, stack->end, ret);
	if (stack->guessed)
		ret->sample.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	if (stack->replaced)
		ret->sample.h.flags |= JITBPF_SAMPLE_CODE_REPLACED;
	if (stack->untold)
		ret->sample.h.flags |= JITBPF_SAMPLE_CODE_UNTOLD;
}

/*
 * Returns 0 with *ret set, 1 if the sample must wait for code, rows or checks, or a negative errno.
 */
static int complete(struct intake *intake, struct intake_deferred *deferred, bool last,
		    union finished_sample *ret)
{
	const struct jitbpf_sample *sample = deferred->sample;
	const struct process *process = process_table_find(intake->processes, sample->pid,
							   sample->start_ns, sample->h.time_ns);
	struct finished_stack stack;
	int err = 0, awaits;

	if (!last && awaited_code_is_missing(process, deferred))
		return 1;
	keep_sound(process, sample, &stack);
	if (intake->unwinder && process && stack.count == sample->user_frames && has_copy(sample))
		err = unwinder_finish(intake->unwinder, process, sample, false, &stack);
	awaits = err < 0 || last ? 0
				 : awaited_code_begin(&intake->awaits, process, &stack, deferred);
	if (awaits == 1)
		return 1;
	last |= awaits < 0;
	if (err == 1 && last) {
		intake->stacks_late += !deferred->awaited && !awaits;
		err = unwinder_finish(intake->unwinder, process, sample, true, &stack);
	}
	if (!err && intake->unwinder && process)
		err = unwinder_saw(intake->unwinder, process, sample);
	if (!err && intake->unwinder && process)
		err = unwinder_check(intake->unwinder, process, sample->h.time_ns, last, &stack);
	if (!err)
		make_finished(sample, &stack, ret);
	return err;
}

/*
 * Compare the code bytes of a sample, and request checks of the frames that are known so far,
 * before their code ends. Returns 0 or -ENOMEM.
 */
static int begin_checks(struct intake *intake, const struct jitbpf_sample *sample)
{
	const struct process *process = process_table_find(intake->processes, sample->pid,
							   sample->start_ns, sample->h.time_ns);
	struct finished_stack stack;
	int err;

	if (!process)
		return 0;
	err = unwinder_saw(intake->unwinder, process, sample);
	if (err || !unwinder_doubts(intake->unwinder, process))
		return err;
	keep_sound(process, sample, &stack);
	unwinder_check(intake->unwinder, process, sample->h.time_ns, false, &stack);
	return 0;
}

/* Returns the owner whose part of the deferred samples a sample gets, a reference; or NULL. */
static struct budget_owner *holder_of(struct intake *intake, const struct jitbpf_sample *sample)
{
	const struct process *process = process_table_find(intake->processes, sample->pid,
							   sample->start_ns, sample->h.time_ns);
	const struct process_owner owner = process ? process->owner : PROCESS_OWNER_UNKNOWN;
	struct budget_owner *holder;

	return owner_budget_get(&intake->waiting, process_owner_key(&owner), &holder) ? NULL
										      : holder;
}

/* Defer a copy of the sample. Takes the charge, also after a failure. */
static int defer(struct intake *intake, struct intake_deferred deferred)
{
	const struct jitbpf_sample *sample = deferred.sample;
	size_t size_bytes = sample->h.size_bytes;
	struct jitbpf_sample *copy = NULL;

	if (!vec_reserve(&intake->deferred, intake->deferred.size + 1))
		copy = malloc(size_bytes);
	deferred.holder = copy ? holder_of(intake, sample) : NULL;
	if (!deferred.holder) {
		free(copy);
		awaited_code_end(&intake->awaits, &deferred);
		return -ENOMEM;
	}
	memcpy(copy, sample, size_bytes);
	deferred.sample = copy;
	owner_budget_add(&intake->waiting, deferred.holder, size_bytes);
	if (deferred.awaited)
		intake->awaiting++;
	else
		intake->soon_until_ns = sample->h.time_ns + SOON_NS;
	return vec_push(&intake->deferred, deferred);
}

/*
 * Emit a sample. If a frame may be in other code than is known, cut off the callers of that frame.
 */
static int settle(struct intake *intake, const struct process *process,
		  struct jitbpf_sample *finished, const struct jitbpf_code_bytes *seen)
{
	uint32_t untold =
		process ? unwinder_frames_untold(intake->unwinder, process, finished, seen) : 0;

	if (untold)
		held_sample_cut(finished, untold);
	return intake_emit(intake, &finished->h);
}

/*
 * Emit a finished sample, or hold it. sample: as received. The verdicts are emitted first, so that
 * unknown code ends before its samples are located.
 */
static int emit_finished(struct intake *intake, const struct jitbpf_sample *sample,
			 union finished_sample *finished)
{
	const struct jitbpf_code_bytes *seen = code_bytes_of(sample);
	uint64_t time_ns = sample->h.time_ns;
	const struct process *process;
	int err;

	if (!intake->unwinder)
		return intake_emit(intake, &finished->sample.h);
	err = intake_emit_verdicts(intake);
	if (err)
		return err;
	process = process_table_find(intake->processes, sample->pid, sample->start_ns, time_ns);
	if (!sample->user_frames || !awaited_code_is_possible(process) ||
	    !code_has_successors(process))
		return intake_emit(intake, &finished->sample.h);
	if (!intake->ending && time_ns + CODE_SUCCESSOR_NS > intake->round_ns &&
	    !held_samples_add(&intake->held, process_owner_key(&process->owner), &finished->sample,
			      seen))
		return 0;
	return settle(intake, process, &finished->sample, seen);
}

/* Emit the held samples from before older_ns. */
static int emit_held(struct intake *intake, uint64_t older_ns)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < intake->held.samples.size; i++) {
		struct held_sample held = intake->held.samples.data[i];
		const struct jitbpf_sample *sample = held.sample;

		if (err || sample->h.time_ns >= older_ns) {
			intake->held.samples.data[kept++] = held;
			continue;
		}
		err = settle(intake,
			     process_table_find(intake->processes, sample->pid, sample->start_ns,
						sample->h.time_ns),
			     held.sample, held.seen);
		held_samples_free(&intake->held, &held);
	}
	intake->held.samples.size = kept;
	return err;
}

int intake_take_unfinished(struct intake *intake, const struct jitbpf_sample *sample)
{
	struct intake_deferred deferred = {.sample = (struct jitbpf_sample *)sample};
	bool last = !intake->unwinder || intake->ending;
	union finished_sample finished;
	int err = 0;

	if (!last && has_copy(sample)) {
		err = begin_checks(intake, sample);
		return err ?: defer(intake, deferred);
	}
	err = complete(intake, &deferred, last, &finished);
	if (err == 1)
		return defer(intake, deferred);
	awaited_code_end(&intake->awaits, &deferred);
	return err ?: emit_finished(intake, sample, &finished);
}

/* Remove the charges of a deferred sample that was emitted, and free it. */
static void free_deferred(struct intake *intake, struct intake_deferred *deferred)
{
	awaited_code_end(&intake->awaits, deferred);
	owner_budget_release(&intake->waiting, deferred->holder, deferred->sample->h.size_bytes);
	owner_budget_put(&intake->waiting, deferred->holder);
	free(deferred->sample);
}

/*
 * Complete and emit the samples whose rows exist. Samples from before older_ns are completed with
 * the existing rows. So are, with `fit`, the oldest samples of each owner that has more than its
 * part of the limit of all deferred samples.
 */
static int try_deferred(struct intake *intake, uint64_t older_ns, bool fit)
{
	size_t kept = 0;
	int err = 0;

	if (fit)
		owner_budget_divide(&intake->waiting);
	intake->awaiting = 0;
	for (size_t i = 0; i < intake->deferred.size; i++) {
		struct intake_deferred deferred = intake->deferred.data[i];
		struct jitbpf_sample *sample = deferred.sample;
		bool last = sample->h.time_ns < older_ns ||
			    (fit && deferred.holder->used > deferred.holder->kept);
		union finished_sample finished;
		int waits = err ?: complete(intake, &deferred, last, &finished);

		if (!waits)
			waits = emit_finished(intake, sample, &finished);
		if (waits < 0)
			err = waits;
		if (waits) {
			intake->awaiting += deferred.awaited != 0;
			intake->deferred.data[kept++] = deferred;
			continue;
		}
		free_deferred(intake, &deferred);
	}
	intake->deferred.size = kept;
	return err;
}

int intake_complete_stacks(struct intake *intake, uint64_t time_ns, bool last)
{
	const uint64_t wait_ns = last ? END_WAIT_NS : ROUND_WAIT_NS;
	const int waits = last ? END_WAITS : ROUND_WAITS;
	uint64_t older_ns = time_ns > INTAKE_DEFER_NS ? time_ns - INTAKE_DEFER_NS : 0;
	int err, came;

	if (!intake->unwinder)
		return 0;
	came = unwinder_collect(intake->unwinder, 0, time_ns);
	err = came < 0 ? came : try_deferred(intake, 0, false);
	for (int i = 0; i < waits && !err && intake->deferred.size; i++) {
		came = unwinder_collect(intake->unwinder, wait_ns, time_ns);
		if (came > 0)
			err = try_deferred(intake, 0, false);
		else if (came < 0)
			err = came;
		else if (!last)
			break;
	}
	err = err ?: try_deferred(intake, last ? UINT64_MAX : older_ns, true);
	older_ns = time_ns > CODE_SUCCESSOR_NS ? time_ns - CODE_SUCCESSOR_NS : 0;
	err = err ?: emit_held(intake, last ? UINT64_MAX : older_ns);
	return err ?: unwinder_publish(intake->unwinder, time_ns);
}

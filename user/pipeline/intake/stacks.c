/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes stacks that the kernel could not walk to their end, and has their JIT code checked if
 * it may have been replaced. Such a sample waits, and is emitted when its stack is complete.
 */
#include <errno.h>
#include <string.h>

#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"
#include "pipeline/intake/awaited_code.h"
#include "pipeline/intake/intake_state.h"
#include "unwind/code_successors.h"
#include "unwind/walked_stack.h"

/*
 * Rounds are short for this long after a sample that waits. More samples that need rows of JIT code
 * are likely, and the code must be read while it exists. With short rounds, twice as many regions
 * that live for milliseconds are read.
 */
#define SOON_NS 200000000ull

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

/* The frames that a walk has found are kept behind the parts of the sample. */
static uint64_t *kept_frames(struct waiting_sample *one, size_t *ret_offset)
{
	*ret_offset = (one->sample.h.size_bytes + 7ull) & ~7ull;
	return (uint64_t *)((uint8_t *)&one->sample + *ret_offset);
}

/* Set a stack to the frames of a sample that are valid, and those that its walk has found. */
static void recall(const struct intake *intake, const struct process *process,
		   struct waiting_sample *one, struct finished_stack *ret)
{
	uint32_t begun = one->sample.user_frames;
	size_t offset;

	keep_sound(process, &one->sample, ret);
	if (intake->waiting.polls)
		one->wait.count = 0;
	if (one->wait.count > begun)
		memcpy(ret->ips + begun, kept_frames(one, &offset),
		       (one->wait.count - begun) * sizeof(ret->ips[0]));
}

/*
 * Go on with a sample. Returns 0 with *stack set, 1 if it must wait in *ret_stage for
 * one->wait.keys, or a negative errno. With last, it waits no longer.
 */
static int step(struct intake *intake, const struct process *process, struct waiting_sample *one,
		bool last, struct finished_stack *stack, enum wait_stage *ret_stage)
{
	struct unwinder *unwinder = process ? intake->unwinder : NULL;
	const struct jitbpf_sample *sample = &one->sample;
	uint64_t time_ns = sample->h.time_ns;
	bool walks;
	int err = 0;

	recall(intake, process, one, stack);
	walks = unwinder && stack->count == sample->user_frames && has_copy(sample);
	if (walks)
		err = unwinder_finish(unwinder, process, sample, false, &one->wait, stack);
	if (err < 0)
		return err;
	*ret_stage = WAIT_LOADS;
	one->awaited = last ? 0 : awaited_code_find(process, stack, time_ns);
	if (one->awaited) {
		one->wait.keys[0] = one->wait.keys[1] = 0;
		return 1;
	}
	*ret_stage = WAIT_WALK;
	if (err && !last)
		return 1;
	if (err) {
		intake->stacks_late += one->stage != WAIT_LOADS;
		err = unwinder_finish(unwinder, process, sample, true, &one->wait, stack);
	}
	*ret_stage = WAIT_CHECKS;
	one->wait.keys[1] = 0;
	if (!err && unwinder)
		err = unwinder_saw(unwinder, process, sample);
	if (!err && unwinder)
		err = unwinder_check(unwinder, process, time_ns, last, stack, &one->wait.keys[0]);
	return err;
}

/*
 * A sample waits for its keys, with the frames that its walk has found. Returns 0 with *one moved,
 * or -ENOMEM.
 */
static int park(struct intake *intake, struct waiting_sample **one,
		const struct finished_stack *stack, enum wait_stage stage, uint64_t now_ns)
{
	uint32_t begun = (*one)->sample.user_frames, count = (*one)->wait.count;
	size_t found = count > begun ? (count - begun) * sizeof(stack->ips[0]) : 0, offset;
	int err;

	(void)kept_frames(*one, &offset);
	err = waiting_samples_resize(&intake->waiting, one, offset + found);
	if (err)
		return err;
	if (found)
		memcpy(kept_frames(*one, &offset), stack->ips + begun, found);
	waiting_samples_enter(&intake->waiting, *one, stage, WAIT_ENDED, now_ns);
	waiting_samples_park(&intake->waiting, *one);
	if (stage != WAIT_LOADS)
		intake->soon_until_ns = (*one)->sample.h.time_ns + SOON_NS;
	return 0;
}

/* Returns true if the end of a sample's code may be reported late. */
static bool may_be_untold(const struct process *process, const struct waiting_sample *one)
{
	return one->sample.user_frames && awaited_code_is_possible(process) &&
	       code_has_successors(process);
}

/*
 * The stack of a sample is complete. Hold it, or let it be emitted. Returns 0 with *one moved, or
 * -ENOMEM.
 */
static int finish(struct intake *intake, const struct process *process, struct waiting_sample **one,
		  const struct finished_stack *stack, enum wait_end end, uint64_t now_ns)
{
	uint64_t time_ns = (*one)->sample.h.time_ns;
	union finished_sample finished;
	bool holds;
	int err = 0;

	(*one)->settles = intake->unwinder && may_be_untold(process, *one);
	holds = (*one)->settles && !intake->ending && end != WAIT_OVER_SHARE &&
		time_ns + CODE_SUCCESSOR_NS > intake->round_ns;
	make_finished(&(*one)->sample, stack, &finished);
	/* A sample that is done leaves soon: it needs room, and no exact one. */
	if (holds || finished.sample.h.size_bytes > (*one)->sample.h.size_bytes)
		err = waiting_samples_resize(&intake->waiting, one, finished.sample.h.size_bytes);
	if (err)
		return err;
	memcpy(&(*one)->sample, &finished, finished.sample.h.size_bytes);
	waiting_samples_enter(&intake->waiting, *one, holds ? WAIT_HOLD : WAIT_DONE, end, now_ns);
	return 0;
}

static const struct process *process_of(const struct intake *intake,
					const struct jitbpf_sample *sample)
{
	return process_table_find(intake->processes, sample->pid, sample->start_ns,
				  sample->h.time_ns);
}

int intake_go_on(struct intake *intake, struct waiting_sample **one, enum wait_end end,
		 uint64_t now_ns)
{
	const struct process *process = process_of(intake, &(*one)->sample);
	bool last = end != WAIT_ENDED || !intake->unwinder || intake->ending;
	struct finished_stack stack;
	enum wait_stage stage;
	int err;

	if (!last && (*one)->stage == WAIT_LOADS &&
	    awaited_code_is_missing(process, (*one)->awaited, (*one)->sample.h.time_ns)) {
		waiting_samples_park(&intake->waiting, *one);
		return 0;
	}
	err = step(intake, process, *one, last, &stack, &stage);
	if (!err)
		err = finish(intake, process, one, &stack, end, now_ns);
	else if (err > 0)
		err = park(intake, one, &stack, stage, now_ns);
	/* Unknown code ends before further samples are looked at. */
	return err || !intake->unwinder ? err : intake_emit_verdicts(intake);
}

int intake_emit_done(struct intake *intake, struct waiting_sample *one)
{
	const struct process *process = one->settles ? process_of(intake, &one->sample) : NULL;
	uint32_t untold = 0;
	int err;

	if (process)
		untold = unwinder_frames_untold(intake->unwinder, process, &one->sample,
						one->has_seen ? &one->seen : NULL);
	if (untold)
		waiting_sample_cut(&one->sample, untold);
	err = intake_emit(intake, &one->sample.h);
	waiting_samples_remove(&intake->waiting, one);
	return err;
}

/*
 * Compare the code bytes of a sample, and request checks of the frames that are known so far,
 * before their code ends. Returns 0 or -ENOMEM.
 */
static int begin_checks(struct intake *intake, const struct process *process,
			const struct jitbpf_sample *sample)
{
	struct finished_stack stack;
	uint64_t key;
	int err;

	if (!process)
		return 0;
	err = unwinder_saw(intake->unwinder, process, sample);
	if (err || !unwinder_doubts(intake->unwinder, process))
		return err;
	keep_sound(process, sample, &stack);
	unwinder_check(intake->unwinder, process, sample->h.time_ns, false, &stack, &key);
	return 0;
}

int intake_take_unfinished(struct intake *intake, const struct jitbpf_sample *sample)
{
	const struct process *process = process_of(intake, sample);
	const struct process_owner owner = process ? process->owner : PROCESS_OWNER_UNKNOWN;
	bool walks = intake->unwinder && !intake->ending && has_copy(sample);
	struct waiting_sample *one;
	int err = walks ? begin_checks(intake, process, sample) : 0;

	err = err ?: waiting_samples_add(&intake->waiting, process_owner_key(&owner), sample, &one);
	if (err)
		return err;
	one->process = process ? process->number : 0;
	if (walks) {
		/* Walks begin at the end of the round: then all rows that came are known. */
		waiting_samples_wake(&intake->waiting, one);
		intake->soon_until_ns = sample->h.time_ns + SOON_NS;
		return 0;
	}
	err = intake_go_on(intake, &one, WAIT_ENDED, sample->h.time_ns);
	if (err || one->stage != WAIT_DONE)
		return err;
	return intake_emit_done(intake, one);
}

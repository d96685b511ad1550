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
#include "unwind/code/code_successors.h"
#include "unwind/unwinder_runtimes.h"
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
	memcpy(ret->words, user.words, ret->count * sizeof(ret->words[0]));
}

/* Returns 0 or -ENOMEM. */
static int make_finished(struct intake *intake, const struct process *process,
			 const struct jitbpf_sample *sample, const struct finished_stack *stack,
			 union finished_sample *ret)
{
	struct frame_words user = {.words = stack->words, .count = stack->count};
	struct merged_stack merged;
	int done = 0;

	if (intake->unwinder && process && sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES)
		done = unwinder_runtime_merge(intake->unwinder, process, sample, stack, &merged);
	if (done < 0)
		return done;
	if (done)
		user = (struct frame_words){.words = merged.words, .count = merged.count};
	sample_build(sample, &user, stack->end, ret);
	if (done && merged.cut)
		ret->sample.h.flags |= JITBPF_SAMPLE_RUNTIME_CUT;
	if (stack->guessed)
		ret->sample.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	if (stack->replaced)
		ret->sample.h.flags |= JITBPF_SAMPLE_CODE_REPLACED;
	if (stack->untold)
		ret->sample.h.flags |= JITBPF_SAMPLE_CODE_UNTOLD;
	return 0;
}

/* A frame that a walk has found. They are kept behind the parts of the sample. */
struct found_frame {
	uint64_t word, frame_pointer;
};

static struct found_frame *kept_frames(struct waiting_sample *one, size_t *ret_offset)
{
	*ret_offset = (one->sample.h.size_bytes + 7ull) & ~7ull;
	return (struct found_frame *)((uint8_t *)&one->sample + *ret_offset);
}

/* A sample that intake goes on with. It waits, or is in the round. */
struct unfinished {
	const struct process *process; /* NULL: not known */
	const struct jitbpf_sample *sample;
	struct unwind_wait *wait;
	const struct found_frame *found; /* beyond those of the sample, up to wait->count */
	enum wait_stage stage;		 /* in which it is or, after step(), has to wait */
	uint64_t awaited;		 /* see struct waiting_sample */
};

/* Set a stack to the frames of a sample that are valid, and those that its walk has found. */
static void recall(const struct unfinished *at, struct finished_stack *ret)
{
	uint32_t begun = at->sample->user_words;

	keep_sound(at->process, at->sample, ret);
	for (uint32_t i = begun; i < at->wait->count; i++) {
		ret->words[i] = at->found[i - begun].word;
		ret->frame_pointers[i] = at->found[i - begun].frame_pointer;
	}
}

/*
 * Go on with a sample. Returns 0 with *stack set, 1 if it must wait in at->stage for
 * at->wait->keys, or a negative errno. With last, it waits no longer.
 */
static int step(struct intake *intake, struct unfinished *at, bool last,
		struct finished_stack *stack)
{
	struct unwinder *unwinder = at->process ? intake->unwinder : NULL;
	const struct jitbpf_sample *sample = at->sample;
	bool waited_for_loads = at->stage == WAIT_LOADS;
	uint64_t time_ns = sample->h.time_ns;
	bool walks;
	int err = 0;

	recall(at, stack);
	walks = unwinder && stack->count == sample->user_words && has_copy(sample);
	if (walks)
		err = unwinder_finish(unwinder, at->process, sample, false, at->wait, stack);
	if (err < 0)
		return err;
	at->stage = WAIT_LOADS;
	at->awaited = last ? 0 : awaited_code_find(at->process, stack, time_ns);
	if (at->awaited) {
		at->wait->keys[0] = at->wait->keys[1] = 0;
		return 1;
	}
	at->stage = WAIT_WALK;
	if (err && !last)
		return 1;
	if (err) {
		intake->stacks_late += !waited_for_loads;
		err = unwinder_finish(unwinder, at->process, sample, true, at->wait, stack);
	}
	at->stage = WAIT_CHECKS;
	at->wait->keys[1] = 0;
	if (!err && unwinder)
		err = unwinder_saw(unwinder, at->process, sample);
	if (!err && unwinder)
		err = unwinder_check(unwinder, at->process, time_ns, last, stack,
				     &at->wait->keys[0]);
	if (err || last || !unwinder || !(sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES))
		return err;
	at->stage = WAIT_FUNCTIONS;
	at->wait->keys[0] = unwinder_runtime_awaits(unwinder, at->process, sample);
	return at->wait->keys[0] != 0;
}

/*
 * A sample waits for its keys, with the frames that its walk has found. Returns 0 with *one moved,
 * or -ENOMEM.
 */
static int park(struct intake *intake, struct waiting_sample **one,
		const struct finished_stack *stack, enum wait_stage stage, uint64_t now_ns)
{
	uint32_t begun = (*one)->sample.user_words, count = (*one)->wait.count;
	size_t found = count > begun ? (count - begun) * sizeof(struct found_frame) : 0, offset;
	struct found_frame *frames;
	int err;

	(void)kept_frames(*one, &offset);
	err = waiting_samples_resize(&intake->waiting, one, offset + found);
	if (err)
		return err;
	frames = kept_frames(*one, &offset);
	for (uint32_t i = begun; i < count; i++)
		frames[i - begun] = (struct found_frame){stack->words[i], stack->frame_pointers[i]};
	waiting_samples_enter(&intake->waiting, *one, stage, WAIT_ENDED, now_ns);
	waiting_samples_park(&intake->waiting, *one);
	if (stage != WAIT_LOADS)
		intake->soon_until_ns = (*one)->sample.h.time_ns + SOON_NS;
	return 0;
}

/* Returns true if a sample may turn out to be of other code than is known when it is finished. */
static bool may_be_untold(const struct intake *intake, const struct process *process,
			  const struct jitbpf_sample *sample)
{
	return intake->unwinder && process && sample->user_words &&
	       ((awaited_code_is_possible(process) && code_has_successors(process)) ||
		unwinder_finds_code(intake->unwinder, process));
}

/* Returns true if the end of a sample's code may be reported late, and it can still be held. */
static bool may_hold(const struct intake *intake, const struct process *process,
		     const struct jitbpf_sample *sample)
{
	return awaited_code_is_possible(process) && !intake->ending &&
	       sample->h.time_ns + CODE_SUCCESSOR_NS > intake->round_ns;
}

/*
 * The stack of a sample is complete. Hold it, or let it be emitted. Returns 0 with *one moved, or
 * -ENOMEM.
 */
static int finish(struct intake *intake, const struct process *process, struct waiting_sample **one,
		  const struct finished_stack *stack, enum wait_end end, uint64_t now_ns)
{
	union finished_sample finished;
	bool holds;
	int err = 0;

	(*one)->settles = may_be_untold(intake, process, &(*one)->sample);
	holds = (*one)->settles && end != WAIT_OVER_SHARE &&
		may_hold(intake, process, &(*one)->sample);
	err = make_finished(intake, process, &(*one)->sample, stack, &finished);
	/* A sample that is done leaves soon: it needs room, and no exact one. */
	if (!err && (holds || finished.sample.h.size_bytes > (*one)->sample.h.size_bytes))
		err = waiting_samples_resize(&intake->waiting, one, finished.sample.h.size_bytes);
	if (err)
		return err;
	memcpy(&(*one)->sample, &finished, finished.sample.h.size_bytes);
	waiting_samples_enter(&intake->waiting, *one, holds ? WAIT_HOLD : WAIT_DONE, end, now_ns);
	return 0;
}

int intake_go_on(struct intake *intake, struct waiting_sample **one, enum wait_end end,
		 uint64_t now_ns)
{
	bool last = end != WAIT_ENDED || !intake->unwinder || intake->ending;
	struct unfinished at = {
		.process = intake_process_of(intake, &(*one)->sample),
		.sample = &(*one)->sample,
		.wait = &(*one)->wait,
		.stage = (*one)->stage,
	};
	struct finished_stack stack;
	size_t offset;
	int err;

	if (!last && at.stage == WAIT_LOADS &&
	    awaited_code_is_missing(at.process, (*one)->awaited, at.sample->h.time_ns)) {
		waiting_samples_park(&intake->waiting, *one);
		return 0;
	}
	if (intake->waiting.polls)
		at.wait->count = 0;
	at.found = kept_frames(*one, &offset);
	err = step(intake, &at, last, &stack);
	(*one)->awaited = at.awaited;
	if (!err)
		err = finish(intake, at.process, one, &stack, end, now_ns);
	else if (err > 0)
		err = park(intake, one, &stack, at.stage, now_ns);
	/* Unknown code ends before further samples are looked at. */
	return err || !intake->unwinder ? err : intake_emit_verdicts(intake);
}

/*
 * Emit a finished sample. If its code may end late, and a frame may be in other code than is known,
 * cut off the callers of that frame. seen: as received; NULL: none.
 */
static int emit(struct intake *intake, struct jitbpf_sample *finished, bool settles,
		const struct jitbpf_code_bytes *seen)
{
	const struct process *process = settles ? intake_process_of(intake, finished) : NULL;
	uint32_t untold =
		process ? unwinder_frames_untold(intake->unwinder, process, finished, seen) : 0;

	int err = intake_emit_runtimes(intake, finished->h.time_ns);

	if (untold)
		waiting_sample_cut(finished, untold);
	return err ?: intake_emit(intake, &finished->h);
}

int intake_emit_done(struct intake *intake, struct waiting_sample *one)
{
	int err = emit(intake, &one->sample, one->settles, one->has_seen ? &one->seen : NULL);

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

	err = unwinder_saw(intake->unwinder, process, sample);
	if (err || !unwinder_doubts(intake->unwinder, process))
		return err;
	keep_sound(process, sample, &stack);
	unwinder_check(intake->unwinder, process, sample->h.time_ns, false, &stack, &key);
	return 0;
}

/* Let a sample of the round wait. Returns 0 or -ENOMEM. */
static int add_waiting(struct intake *intake, const struct unfinished *at,
		       struct waiting_sample **ret)
{
	const struct process_owner owner = at->process ? at->process->owner : PROCESS_OWNER_UNKNOWN;
	int err = waiting_samples_add(&intake->waiting, process_owner_key(&owner), at->sample, ret);

	if (err)
		return err;
	(*ret)->process = at->process ? at->process->number : 0;
	(*ret)->wait = *at->wait;
	(*ret)->awaited = at->awaited;
	return 0;
}

/* Walks begin at the end of the round: then all rows that came are known. */
static int walk_later(struct intake *intake, const struct unfinished *at)
{
	struct waiting_sample *one;
	int err = at->process ? begin_checks(intake, at->process, at->sample) : 0;

	err = err ?: add_waiting(intake, at, &one);
	if (err)
		return err;
	waiting_samples_wake(&intake->waiting, one);
	intake->soon_until_ns = at->sample->h.time_ns + SOON_NS;
	return 0;
}

/* The stack of a sample of the round is complete. Emit it, without a copy, or hold it. */
static int finish_at_once(struct intake *intake, const struct unfinished *at,
			  const struct finished_stack *stack)
{
	bool settles = may_be_untold(intake, at->process, at->sample);
	union finished_sample finished;
	struct waiting_sample *one;
	int err;

	if (settles && may_hold(intake, at->process, at->sample)) {
		err = add_waiting(intake, at, &one);
		err = err
			      ?: finish(intake, at->process, &one, stack, WAIT_ENDED,
					at->sample->h.time_ns);
		return err ?: intake_emit_verdicts(intake);
	}
	err = make_finished(intake, at->process, at->sample, stack, &finished);
	/* Unknown code ends before the sample is located. */
	if (!err && intake->unwinder)
		err = intake_emit_verdicts(intake);
	return err ?: emit(intake, &finished.sample, settles, code_bytes_of(at->sample));
}

int intake_take_unfinished(struct intake *intake, const struct process *process,
			   const struct jitbpf_sample *sample)
{
	bool last = !intake->unwinder || intake->ending;
	struct unwind_wait wait = {0};
	struct unfinished at = {
		.process = process,
		.sample = sample,
		.wait = &wait,
		.stage = WAIT_WALK,
	};
	struct finished_stack stack;
	struct waiting_sample *one;
	int err;

	if (!last && has_copy(sample))
		return walk_later(intake, &at);
	err = step(intake, &at, last, &stack);
	if (!err)
		return finish_at_once(intake, &at, &stack);
	err = err > 0 ? add_waiting(intake, &at, &one) : err;
	err = err ?: park(intake, &one, &stack, at.stage, sample->h.time_ns);
	return err || !intake->unwinder ? err : intake_emit_verdicts(intake);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that the kernel could not finish. At its turn such a sample is put aside, until the
 * rows that it wants are there; when it is finished, it comes in as if the source had just told of
 * it. So a recording has nothing but finished samples, in the round in which they were, and
 * replaying it does the same in the same order. Until then the sample changes no state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/walked_stack.h"
#include "pipeline/pipeline_state.h"

/* Less than history is kept, so that what stood at its addresses is still known. */
#define HELD_NS 1000000000ull

/* Held from one round to the next; one that goes on brings more, as much as its rings hold. */
#define HELD_BYTES_MAX (16u << 20)

/* How long to wait in a round: the source's rings fill meanwhile. A stack can want several times.
 */
#define ROUND_WAITS   10
#define ROUND_WAIT_NS 1000000ull

/*
 * Where one wants JIT code, others will, and it has to be read before it is gone: of kernels that
 * live for milliseconds, rounds that come soon read twice as many.
 */
#define SOON_NS 200000000ull

/* At the end, when nobody else waits. */
#define END_WAITS   200
#define END_WAIT_NS 10000000ull

/* A sample without a copy of its stack. */
union finished_sample {
	struct jitbpf_sample sample;
	uint8_t bytes[sizeof(struct jitbpf_sample) + 2 * JITBPF_FRAMES_MAX * sizeof(__u64) +
		      sizeof(struct jitbpf_user_regs)];
};

static bool has_copy(const struct jitbpf_sample *sample)
{
	return sample->h.flags & JITBPF_SAMPLE_STACK_COPY;
}

/* As far as the kernel can have been right. */
static struct finished_stack stack_as_it_is(const struct process *process,
					    const struct jitbpf_sample *sample)
{
	struct finished_stack stack = {.count = sample->user_frames, .end = sample->user_end};

	if (process)
		stack.count = walked_stack_sound(process, sample);
	if (stack.count < sample->user_frames)
		stack.end = JITBPF_END_NO_RULE;
	memcpy(stack.ips, sample->ips + sample->kernel_frames, stack.count * sizeof(stack.ips[0]));
	return stack;
}

static void make_finished(const struct jitbpf_sample *sample, const struct finished_stack *stack,
			  union finished_sample *ret)
{
	const uint64_t *regs =
		(const uint64_t *)sample->ips + sample->kernel_frames + sample->user_frames;
	size_t kernel_bytes = sample->kernel_frames * sizeof(sample->ips[0]);
	size_t user_bytes = stack->count * sizeof(stack->ips[0]), regs_bytes = 0;
	uint8_t *ips = (uint8_t *)ret->sample.ips;

	ret->sample = *sample;
	ret->sample.user_frames = (uint16_t)stack->count;
	ret->sample.user_end = stack->end;
	ret->sample.mappings_age_ns = 0;
	ret->sample.h.flags &= ~JITBPF_SAMPLE_STACK_COPY;
	if (stack->guessed)
		ret->sample.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	memcpy(ips, sample->ips, kernel_bytes);
	memcpy(ips + kernel_bytes, stack->ips, user_bytes);
	if (sample->h.flags & JITBPF_SAMPLE_USER_REGS) {
		regs_bytes = sizeof(struct jitbpf_user_regs);
		memcpy(ips + kernel_bytes + user_bytes, regs, regs_bytes);
	}
	ret->sample.h.size_bytes =
		(uint32_t)(sizeof(*sample) + kernel_bytes + user_bytes + regs_bytes);
}

/* Returns 0 with *ret set, 1 where it has to wait, or negative errno. */
static int finish(struct pipeline *p, const struct jitbpf_sample *sample, bool last,
		  union finished_sample *ret)
{
	const struct process *process =
		process_table_find(&p->processes, sample->pid, sample->start_ns, sample->h.time_ns);
	struct finished_stack stack = stack_as_it_is(process, sample);
	int err = 0;

	if (process && stack.count == sample->user_frames && has_copy(sample))
		err = unwinder_finish(p->unwind.unwinder, process, sample, false, &stack);
	if (err == 1 && last) {
		p->ledger.counters[JITBPF_COUNT_STACKS_LATE]++;
		err = unwinder_finish(p->unwind.unwinder, process, sample, true, &stack);
	}
	if (!err)
		make_finished(sample, &stack, ret);
	return err;
}

int pipeline_enter_unfinished(struct pipeline *p, const struct jitbpf_sample *sample)
{
	struct finished_stack stack;
	union finished_sample finished;

	if (p->unwind.unwinder)
		return round_buffer_add(&p->round, sample->h.time_ns, &sample->h);
	stack = stack_as_it_is(NULL, sample);
	make_finished(sample, &stack, &finished);
	return pipeline_enter(p, &finished.sample.h);
}

static int hold(struct unwind_intake *unwind, const struct jitbpf_sample *sample)
{
	size_t size_bytes = sample->h.size_bytes;
	struct jitbpf_sample *copy;

	if (vec_reserve(&unwind->held, unwind->held.size + 1))
		return -ENOMEM;
	copy = malloc(size_bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, sample, size_bytes);
	unwind->held_bytes += size_bytes;
	unwind->soon_until_ns = sample->h.time_ns + SOON_NS;
	return vec_push(&unwind->held, copy);
}

int pipeline_take_unfinished(struct pipeline *p, const struct jitbpf_sample *sample)
{
	union finished_sample finished;
	int err;

	if (!p->unwind.ending && has_copy(sample))
		return hold(&p->unwind, sample);
	/* There is no later round for it to come in, or none that is needed: this is its place. */
	err = finish(p, sample, true, &finished);
	if (err)
		return err;
	pipeline_record(p, &finished.sample.h);
	return pipeline_take_sample(p, &finished.sample);
}

/*
 * Finish those that can be; and with what rows there are, those that were taken before
 * older_ns, and the first ones where they are more than room_bytes.
 */
static int try_held(struct pipeline *p, uint64_t older_ns, size_t room_bytes)
{
	struct unwind_intake *unwind = &p->unwind;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < unwind->held.size; i++) {
		struct jitbpf_sample *sample = unwind->held.data[i];
		bool last = sample->h.time_ns < older_ns || unwind->held_bytes > room_bytes;
		union finished_sample finished;
		int waits = err ?: finish(p, sample, last, &finished);

		if (!waits)
			waits = pipeline_enter(p, &finished.sample.h);
		if (waits < 0)
			err = waits;
		if (waits) {
			unwind->held.data[kept++] = sample;
			continue;
		}
		unwind->held_bytes -= sample->h.size_bytes;
		free(sample);
	}
	unwind->held.size = kept;
	return err;
}

int pipeline_finish_stacks(struct pipeline *p, uint64_t time_ns, bool last)
{
	struct unwind_intake *unwind = &p->unwind;
	const uint64_t wait_ns = last ? END_WAIT_NS : ROUND_WAIT_NS;
	const int waits = last ? END_WAITS : ROUND_WAITS;
	uint64_t older_ns = time_ns > HELD_NS ? time_ns - HELD_NS : 0;
	int err, came;

	if (!unwind->unwinder)
		return 0;
	came = unwinder_collect(unwind->unwinder, 0, time_ns);
	err = came < 0 ? came : try_held(p, 0, SIZE_MAX);
	for (int i = 0; i < waits && !err && unwind->held.size; i++) {
		came = unwinder_collect(unwind->unwinder, wait_ns, time_ns);
		if (came > 0)
			err = try_held(p, 0, SIZE_MAX);
		else if (came < 0)
			err = came;
		else if (!last)
			break;
	}
	err = err ?: try_held(p, last ? UINT64_MAX : older_ns, HELD_BYTES_MAX);
	return err ?: unwinder_publish(unwind->unwinder, time_ns);
}

void pipeline_count_unwinding(struct pipeline *p)
{
	uint64_t *counters = p->ledger.counters;
	struct unwinder_counts counts;

	if (!p->unwind.unwinder)
		return;
	counts = unwinder_counts(p->unwind.unwinder);
	counters[JITBPF_COUNT_STACKS_FINISHED] += counts.finished;
	counters[JITBPF_COUNT_UNWIND_CODE_UNREAD] += counts.code_unread;
	counters[JITBPF_COUNT_UNWIND_EVICTED] += counts.evicted;
	counters[JITBPF_COUNT_UNWIND_MAPPINGS_LEFT_OUT] += counts.mappings_left_out;
}

void pipeline_deinit_unwinding(struct pipeline *p)
{
	vec_for_each (sample, &p->unwind.held)
		free(*sample);
	vec_deinit(&p->unwind.held);
	unwinder_destroy(p->unwind.unwinder);
}

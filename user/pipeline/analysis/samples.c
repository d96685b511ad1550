/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/record/sample_parts.h"
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/epoch/cut_paths.h"
#include "pipeline/analysis/hidden_callers.h"
#include "pipeline/analysis/sample_counts.h"

/*
 * Returns the sum of the generations that a look-up in this process depends on. Each only grows, so
 * the sum is unchanged only if all of them are.
 */
static uint64_t generation(const struct analysis *a, const struct process *process)
{
	return space_map_generation(a->kernel_code) + space_map_generation(process->mappings) +
	       code_map_generation(process->code) + a->processes.shared.generation;
}

static struct stack_cache_slot *cache_slot(struct analysis *a, uint64_t hash)
{
	return &a->stack_cache[hash & (STACK_CACHE_SLOTS - 1)];
}

/*
 * Keep the innermost frame of the kernel and that of user space. Returns their number. A recording
 * lacks the name of a location without room, which is counted.
 */
static uint32_t keep_innermost(struct epoch *e, struct located_stack *located)
{
	uint32_t kernel = located->kernel_frames, frames = kernel + located->user_frames, kept = 0;
	uint32_t *locations = located->locations;

	for (uint32_t i = 0; i < frames; i++) {
		if (!i || i == kernel)
			locations[kept++] = locations[i];
		else if (locations[i] == LOCATION_NO_ROOM)
			epoch_refuse(e);
	}
	return kept;
}

/*
 * Find or add the node of a located stack, as far as there is room. Fills *slot. A cut stack has
 * LOCATION_CUT as its outermost location, unless it has a gap: then it ends with one, or the
 * outermost frames are known again.
 */
static int add_path(struct analysis *a, struct epoch *e, uint32_t row, uint32_t comm,
		    struct located_stack *located, struct stack_cache_slot *slot)
{
	uint32_t frames = located->kernel_frames + located->user_frames, count = frames;
	struct event_counts *counts = &e->events[slot->event];
	struct epoch_path path = {
		.row = row,
		.locations = located->locations,
		.kernel_count = located->kernel_frames,
	};
	struct epoch_inner inner = {0};
	int err = epoch_comm(e, a->strings, comm, &path.comm);

	if (a->no_paths) {
		count = frames = keep_innermost(e, located);
		path.kernel_count = located->kernel_frames > 0;
	} else if (!err && stack_end_is_cut(located->user_end) && !located->has_gap) {
		err = epoch_location(e, LOCATION_CUT, &located->locations[count++]);
	}
	path.count = count;
	err = err
		      ?: profile_node_of(&counts->profile, row, path.comm, path.locations, count,
					 &slot->node);
	if (err > 0)
		err = epoch_inner_node(e, counts, &path, &inner);
	else if (!err)
		return 0;
	if (err && err != -EDQUOT)
		return err;
	slot->node = inner.node;
	slot->left_out = err || inner.kept < count;
	slot->kept_frames = (uint16_t)(err ? 0 : inner.kept < frames ? inner.kept : frames);
	slot->hides = err || inner.hides;
	return err ? epoch_rest_node(e, counts, row, &slot->node) : 0;
}

struct thread_stack *analysis_thread_stack(struct analysis *a, uint32_t tid)
{
	if (!a->stacks)
		a->stacks = calloc(THREAD_STACKS, sizeof(*a->stacks));
	return a->stacks ? &a->stacks[tid % THREAD_STACKS] : NULL;
}

/* Locate the stack and add it to the profile. Fills *slot, for the cache. */
static int locate_sample(struct analysis *a, struct epoch *e, const struct process *process,
			 uint32_t row, uint32_t comm, const struct raw_stack *stack,
			 uint64_t time_ns, const struct frame_cache *cache,
			 struct stack_cache_slot *slot)
{
	struct located_stack *located = &a->located;
	const struct global_code global = {.kernel = a->kernel_code, .functions = &a->functions};
	int err = locate_stack(&e->locations, &global, process, stack, time_ns, cache, located);

	if (err)
		return err;
	slot->kernel_frames = (uint16_t)located->kernel_frames;
	slot->user_words = (uint16_t)stack->user.count;
	slot->has_addresses = frame_words_addresses(&stack->user) == stack->user.count;
	slot->code_untold = stack->code_untold;
	slot->user_frames = (uint16_t)located->user_frames;
	slot->user_end = (uint8_t)located->user_end;
	slot->code_unknown = located->code_unknown;
	slot->code_unpublished = located->code_unpublished;
	slot->has_function = located->has_function;
	slot->has_unknown_function = located->has_unknown_function;
	slot->comm = comm;
	return add_path(a, e, row, comm, located, slot);
}

static void keep_frames(struct sink_sample *out, uint32_t count)
{
	if (out->kernel_frames > count)
		out->kernel_frames = count;
	count -= out->kernel_frames;
	if (out->user_frames > count)
		out->user_frames = count;
}

/* Returns an address for each frame of a sample; that of a runtime's frame is 0. */
static const uint64_t *addresses_of(struct analysis *a, const struct jitbpf_sample *sample)
{
	const struct frame_words kernel = sample_kernel_frames(sample);
	struct frame_words user = sample_user_frames(sample);
	uint64_t *out = a->addresses + kernel.count;
	struct typed_frame frame;

	memcpy(a->addresses, kernel.words, kernel.count * sizeof(uint64_t));
	while (frame_words_next(&user, &frame))
		*out++ = frame.kind == JITBPF_FRAME_RUNTIME ? 0 : frame.value;
	return a->addresses;
}

static uint64_t since_start(const struct epoch *e, uint64_t time_ns)
{
	return time_ns > e->info.start_ns ? time_ns - e->info.start_ns : 0;
}

/* Pass a sample to the outputs that show its event, and to live views, which show all. */
static void show_sample(struct analysis *a, struct epoch *e, uint32_t event,
			const struct sink_sample *sample)
{
	const struct view *view = event_view(e, event);

	if (event == e->shown)
		sink_list_sample(&e->sinks, view, sample);
	sink_list_sample(&a->live, view, sample);
}

/* Count the sample, and pass it to the sinks. amount: as in struct event_counts. */
static int count_node(struct analysis *a, struct epoch *e, uint32_t row,
		      const struct jitbpf_sample *sample, uint64_t amount, const char *name,
		      struct stack_cache_slot *slot)
{
	struct event_counts *counts = &e->events[slot->event];
	const struct ledger_process *process = &e->ledger.processes.data[row];
	struct sampled_thread thread = {
		.pid = sample->pid,
		.tid = sample->tid,
		.container = process->container,
		.unit = process->unit,
	};
	struct sink_sample out = {
		.time_ns = sample->h.time_ns,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.addresses = slot->has_addresses ? sample_kernel_frames(sample).words
						 : addresses_of(a, sample),
		.kernel_frames = slot->kernel_frames,
		.user_frames = slot->user_frames,
	};
	int err = sample_counts_thread(e, row, name, amount, slot, &thread, &out.count);

	if (!err && e->view.slices)
		err = time_slices_add(&counts->slices, since_start(e, out.time_ns), out.count,
				      amount);
	if (err)
		return err;
	profile_count(&counts->profile, slot->node, amount);
	counts->amount += amount;
	if (a->no_paths)
		return 0;
	out.node = slot->node;
	out.comm = thread.comm;
	if (slot->left_out) /* LOCATION_LEFT_OUT has the innermost address */
		keep_frames(&out, slot->kept_frames ?: 1);
	out.regs = sample_regs(sample);
	show_sample(a, e, slot->event, &out);
	return 0;
}

/* Make the frame cache ready for a stack. now: the generation of its process. */
static void begin_cache(struct analysis *a, const struct epoch *e, uint64_t now, uint64_t time_ns)
{
	a->frame_cache.table = e->number;
	a->frame_cache.generation = now;
	/* A result from before the last change does not hold for later samples. */
	a->frame_cache.keeps = time_ns >= a->changed_ns;
	a->frame_cache.last = NULL;
}

/* Count the callers of a sample whose node does not have them. */
static int count_hidden(struct analysis *a, struct epoch *e, const struct process *process,
			const struct raw_stack *stack, uint64_t time_ns, uint64_t amount,
			const struct stack_cache_slot *slot)
{
	const struct global_code global = {.kernel = a->kernel_code, .functions = &a->functions};
	const struct frame_cache *cache = NULL;
	int err;

	if (process->mappings && process->code) {
		begin_cache(a, e, generation(a, process), time_ns);
		cache = &a->frame_cache;
	}
	err = locate_stack(&e->locations, &global, process, stack, time_ns, cache, &a->located);
	return err ?: hidden_callers_count(a, e, &a->located, slot, amount);
}

/* Use the cached result if nothing has changed since; else locate the stack. */
static int located_sample(struct analysis *a, struct epoch *e, const struct process *process,
			  uint32_t row, uint32_t comm, const struct raw_stack *stack,
			  const struct jitbpf_sample *sample, struct stack_cache_slot *ret)
{
	uint64_t time_ns = sample->h.time_ns;
	struct thread_stack *last = NULL;
	struct stack_cache_slot *slot;
	uint64_t hash, now;
	int err;

	if (!process->mappings || !process->code)
		return locate_sample(a, e, process, row, comm, stack, time_ns, NULL, ret);
	hash = hash_mix(process->number, stack->user_end) ^ stack->kernel.count ^
	       (uint64_t)ret->event << 32;
	hash = hash_bytes(stack->kernel.words, stack->kernel.count * sizeof(uint64_t), hash);
	hash = hash_bytes(stack->user.words, stack->user.count * sizeof(uint64_t), hash);
	slot = cache_slot(a, hash);
	now = generation(a, process);
	/* The profiled process can cause hash collisions; the shape must match as well. */
	if (slot->used && slot->hash == hash && slot->process == process->number &&
	    slot->kernel_frames == stack->kernel.count && slot->user_words == stack->user.count &&
	    slot->code_untold == stack->code_untold && slot->comm == comm &&
	    slot->epoch == e->number && slot->row == row && slot->event == ret->event &&
	    slot->generation == now && slot->time_ns <= time_ns) {
		*ret = *slot;
		return 0;
	}
	begin_cache(a, e, now, time_ns);
	/* Addresses are found as fast in the cache. */
	if (a->functions.functions.size && frame_words_addresses(&stack->user) < stack->user.count)
		last = analysis_thread_stack(a, sample->tid);
	a->frame_cache.last = last ? &last->located : NULL;
	err = locate_sample(a, e, process, row, comm, stack, time_ns, &a->frame_cache, ret);
	if (err)
		return err;
	ret->hash = hash;
	ret->process = process->number;
	ret->generation = now;
	ret->epoch = e->number;
	ret->row = row;
	ret->time_ns = time_ns;
	ret->used = true;
	if (a->frame_cache.keeps)
		*slot = *ret;
	return 0;
}

/* Get the process's name at the sample's time; if it is not known yet, the thread's name. */
static int comm_of(struct analysis *a, struct process *process, const struct jitbpf_sample *sample,
		   uint32_t *ret)
{
	int err;

	*ret = process_comm_at(process, sample->h.time_ns);
	if (*ret)
		return 0;
	err = string_pool_add(a->strings, sample->comm, sizeof(sample->comm), ret);
	if (!err && !process->comm)
		process->comm = *ret;
	return err;
}

/*
 * Get what a sample counts for. Returns false if the event is not one of the run, the sample has a
 * weight and its event a period, or neither has, or the sum of the event would overflow.
 */
static bool amount_of(const struct epoch *e, const struct jitbpf_sample *sample, uint64_t *ret)
{
	uint64_t sum;
	bool has_weight, has_period = true;

	if (sample->event > e->info.more_events || sample->event >= JITBPF_EVENTS_MAX)
		return false;
	if (sample->event)
		has_period = e->info.events[sample->event - 1].period;
	*ret = 1;
	has_weight = sample_weight(sample, ret);
	return has_weight != has_period &&
	       !__builtin_add_overflow(e->events[sample->event].amount, *ret, &sum);
}

int analysis_take_sample(struct analysis *a, const struct jitbpf_sample *sample)
{
	struct raw_stack stack = {
		.kernel = sample_kernel_frames(sample),
		.user = sample_user_frames(sample),
		.user_end = sample->user_end,
		.code_untold = sample->h.flags & JITBPF_SAMPLE_CODE_UNTOLD,
	};
	struct epoch *e = analysis_epoch_of(a, sample->h.time_ns);
	struct stack_cache_slot located = {.event = (uint8_t)sample->event};
	struct process *process;
	uint32_t comm, row;
	uint64_t amount;
	const char *name;
	int err;

	if (!amount_of(e, sample, &amount)) {
		a->epoch->ledger.malformed_records++;
		return 0;
	}
	err = process_table_at(&a->processes, sample->pid, sample->start_ns, sample->h.time_ns,
			       &process);
	err = err ?: comm_of(a, process, sample, &comm);
	if (err)
		return err;
	name = thread_names_at(&process->threads, sample->tid, sample->comm,
			       string_pool_get(a->strings, comm), sample->h.time_ns)
		       ?: sample->comm;
	if (!sample_filter_passes(&a->filter, sample, name, string_pool_get(a->strings, comm),
				  analysis_cgroup_at(a, process, sample->h.time_ns),
				  e->info.start_ns))
		return 0;
	err = analysis_row(a, e, process, sample->h.time_ns, &row);
	err = err ?: located_sample(a, e, process, row, comm, &stack, sample, &located);
	err = err ?: count_node(a, e, row, sample, amount, name, &located);
	if (!err && located.hides && !a->no_paths)
		err = count_hidden(a, e, process, &stack, sample->h.time_ns, amount, &located);
	return err ?: sample_counts_fate(e, row, sample, &located);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/hash.h"
#include "pipeline/analysis/analysis_state.h"

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

/* Locate the stack and add it to the profile. Fills *slot, for the cache. */
static int locate_sample(struct analysis *a, struct epoch *e, const struct process *process,
			 uint32_t comm, const struct raw_stack *stack, uint64_t time_ns,
			 struct stack_cache_slot *slot)
{
	struct located_stack *located = &a->located;
	int err = locate_stack(&e->locations, a->kernel_code, process, stack, time_ns, located);
	uint32_t epoch_comm_number, row;

	if (err)
		return err;
	slot->kernel_frames = (uint16_t)located->kernel_frames;
	slot->raw_user_frames = (uint16_t)stack->user_frames;
	slot->user_frames = (uint16_t)located->user_frames;
	slot->user_end = (uint8_t)located->user_end;
	slot->code_unknown = located->code_unknown;
	slot->comm = comm;
	err = epoch_comm(e, a->strings, comm, &epoch_comm_number);
	err = err ?: epoch_row(e, a->strings, process, &row);
	if (err)
		return err;
	return profile_node_of(&e->profile, row, epoch_comm_number, located->locations,
			       located->kernel_frames + located->user_frames, &slot->node);
}

static enum sample_fate fate_of(const struct stack_cache_slot *slot)
{
	if (slot->code_unknown)
		return FATE_CODE_UNKNOWN;
	if (slot->user_end != JITBPF_END_ROOT && slot->user_end != JITBPF_END_NONE)
		return FATE_STACK_CUT;
	return FATE_RESOLVED;
}

static int count_sample(struct analysis *a, struct epoch *e, const struct process *process,
			const struct jitbpf_sample *sample, const struct stack_cache_slot *slot)
{
	enum sample_fate fate = fate_of(slot);
	struct ledger_process *row;
	uint32_t number;
	int err = epoch_row(e, a->strings, process, &number);

	if (err)
		return err;
	row = &e->ledger.processes.data[number];
	row->fate[fate]++;
	e->ledger.fate[fate]++;
	if (fate == FATE_STACK_CUT) {
		row->cut[slot->user_end]++;
		e->ledger.cut[slot->user_end]++;
	}
	if (sample->h.flags & JITBPF_SAMPLE_FRAME_POINTERS) {
		row->frame_pointers++;
		e->ledger.frame_pointers++;
	}
	return 0;
}

/* Count the sample at its node and thread, and pass it to the sinks. */
static int count_node(struct analysis *a, struct epoch *e, const struct jitbpf_sample *sample,
		      const struct stack_cache_slot *slot)
{
	struct sampled_thread thread = {.pid = sample->pid, .tid = sample->tid};
	struct sink_sample out = {
		.time_ns = sample->h.time_ns,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.node = slot->node,
		.ips = (const uint64_t *)sample->ips,
		.kernel_frames = slot->kernel_frames,
		.user_frames = slot->user_frames,
	};
	uint32_t number;
	int err = string_pool_add(e->strings, sample->comm, sizeof(sample->comm), &thread.comm);

	err = err ?: thread_counts_thread(&e->threads, &thread, &number);
	err = err ?: thread_counts_add(&e->threads, slot->node, number, 1, &out.count);
	if (err)
		return err;
	profile_count(&e->profile, slot->node);
	out.comm = thread.comm;
	if (sample->h.flags & JITBPF_SAMPLE_USER_REGS)
		out.regs = (const struct jitbpf_user_regs *)(sample->ips + sample->kernel_frames +
							     sample->user_frames);
	sink_list_sample(&e->sinks, &e->view, &out);
	sink_list_sample(&a->live, &e->view, &out);
	return 0;
}

/* Use the cached result if nothing has changed since; else locate the stack. */
static int located_sample(struct analysis *a, struct epoch *e, const struct process *process,
			  uint32_t comm, const struct raw_stack *stack, uint64_t time_ns,
			  struct stack_cache_slot *ret)
{
	uint32_t frames = stack->kernel_frames + stack->user_frames;
	struct stack_cache_slot *slot;
	uint64_t hash, now;
	int err;

	if (!process->mappings || !process->code)
		return locate_sample(a, e, process, comm, stack, time_ns, ret);
	hash = hash_bytes(stack->ips, frames * sizeof(uint64_t),
			  hash_mix(process->number, stack->user_end) ^ stack->kernel_frames);
	slot = cache_slot(a, hash);
	now = generation(a, process);
	/* The profiled process can cause hash collisions; the shape must match as well. */
	if (slot->used && slot->hash == hash && slot->process == process->number &&
	    slot->kernel_frames == stack->kernel_frames &&
	    slot->raw_user_frames == stack->user_frames && slot->comm == comm &&
	    slot->epoch == e->number && slot->generation == now && slot->time_ns <= time_ns) {
		*ret = *slot;
		return 0;
	}
	err = locate_sample(a, e, process, comm, stack, time_ns, ret);
	if (err)
		return err;
	ret->hash = hash;
	ret->process = process->number;
	ret->generation = now;
	ret->epoch = e->number;
	ret->time_ns = time_ns;
	ret->used = true;
	/* A result from before the last change does not hold for later samples. */
	if (time_ns >= a->changed_ns)
		*slot = *ret;
	return 0;
}

/* The process's name at the sample's time; until it is known, that of the thread. */
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

int analysis_take_sample(struct analysis *a, const struct jitbpf_sample *sample)
{
	struct raw_stack stack = {
		.ips = (const uint64_t *)sample->ips,
		.kernel_frames = sample->kernel_frames,
		.user_frames = sample->user_frames,
		.user_end = sample->user_end,
	};
	struct epoch *e = analysis_epoch_of(a, sample->h.time_ns);
	struct stack_cache_slot located = {0};
	struct process *process;
	uint32_t comm;
	int err;

	err = process_table_at(&a->processes, sample->pid, sample->start_ns, sample->h.time_ns,
			       &process);
	err = err ?: comm_of(a, process, sample, &comm);
	if (err)
		return err;
	if (!sample_filter_passes(&a->filter, sample, string_pool_get(a->strings, comm),
				  e->info.start_ns))
		return 0;
	err = located_sample(a, e, process, comm, &stack, sample->h.time_ns, &located);
	err = err ?: count_sample(a, e, process, sample, &located);
	return err ?: count_node(a, e, sample, &located);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_model.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/naming.h"

int top_model_init(struct top_model *model)
{
	*model = (struct top_model){0};
	return label_table_init(&model->labels);
}

void top_model_deinit(struct top_model *model)
{
	label_table_deinit(&model->labels);
	frame_tree_deinit(&model->tree);
	free(model->paths);
	vec_deinit(&model->functions);
	vec_deinit(&model->processes);
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++)
		vec_deinit(&model->before[i]);
}

/* --- the samples that are shown ------------------------------------------------------ */

/* A view whose profile counts the samples that a filter shows. */
struct filtered {
	struct view view;
	struct profile profile;		/* only `nodes` are its own */
	struct thread_counts threads;	/* with roots by thread; only `counts` is its own */
	struct naming_count *processes; /* by row of the ledger */
};

static void filtered_deinit(struct filtered *filtered)
{
	vec_deinit(&filtered->profile.nodes);
	vec_deinit(&filtered->threads.counts);
	free(filtered->processes);
}

static bool has_comm(const struct view *view, const struct top_filter *filter, uint32_t comm)
{
	return !regexec(filter->comm, frame_text_comm(view, comm), 0, NULL, 0);
}

/* Returns the threads that pass, by number. */
static bool *passing_threads(const struct view *view, const struct top_filter *filter)
{
	size_t count = view->threads->threads.size;
	bool *passing = calloc(count + 1, sizeof(*passing));

	for (size_t i = 0; passing && i < count; i++) {
		const struct sampled_thread *thread = &view->threads->threads.data[i];

		passing[i] = (!filter->pid || filter->pid == thread->pid) &&
			     (!filter->tid || filter->tid == thread->tid) &&
			     (!filter->comm || has_comm(view, filter, thread->comm));
	}
	return passing;
}

/* Copy the nodes without their counts. Sets *ret to the root of each. */
static int copy_nodes(struct filtered *filtered, uint32_t **ret)
{
	const struct profile *from = filtered->view.profile;
	uint32_t count = (uint32_t)from->nodes.size;
	uint32_t *roots = calloc(count + 1, sizeof(*roots));

	*ret = roots;
	if (!roots || vec_reserve(&filtered->profile.nodes, count + 1))
		return -ENOMEM;
	filtered->profile.nodes.size = count;
	filtered->profile.roots = from->roots; /* borrowed */
	for (uint32_t i = 0; i < count; i++) {
		struct profile_node node = from->nodes.data[i];

		node.self = 0;
		filtered->profile.nodes.data[i] = node;
		roots[i] = node.parent == PROFILE_NODE_NONE ? i : roots[node.parent];
	}
	return 0;
}

/* Copy the counts of threads without their samples. */
static int copy_threads(struct filtered *filtered)
{
	const struct thread_counts *from = filtered->view.threads;

	filtered->threads.threads = from->threads; /* borrowed */
	if (vec_reserve(&filtered->threads.counts, from->counts.size + 1))
		return -ENOMEM;
	vec_for_each (count, &from->counts)
		filtered->threads.counts.data[filtered->threads.counts.size++] =
			(struct thread_count){.node = count->node, .thread = count->thread};
	return 0;
}

/* The name of a process passes for all of its threads. */
static bool passes(const struct filtered *filtered, const struct top_filter *filter,
		   const struct thread_count *count, const bool *threads, const bool *roots)
{
	const struct sampled_thread *thread = &filtered->view.threads->threads.data[count->thread];

	if (threads[count->thread])
		return true;
	return filter->comm && roots[count->node] && (!filter->pid || filter->pid == thread->pid) &&
	       (!filter->tid || filter->tid == thread->tid);
}

/* Returns by node: its process has a name that passes. */
static bool *passing_nodes(const struct filtered *filtered, const struct top_filter *filter)
{
	const struct profile *profile = &filtered->profile;
	bool *passing = calloc(profile->nodes.size + 1, sizeof(*passing));

	for (uint32_t i = 0; passing && filter->comm && i < profile->nodes.size; i++) {
		uint32_t parent = profile->nodes.data[i].parent;

		passing[i] = parent == PROFILE_NODE_NONE
				     ? has_comm(&filtered->view, filter, profile_comm(profile, i))
				     : passing[parent];
	}
	return passing;
}

/*
 * Returns the samples in the window, by count; owned by the caller, NULL if memory is short. Slices
 * may be folded; a slice that begins before the window does not count.
 */
static uint64_t *recent_samples(const struct view *view, uint64_t window_ns)
{
	size_t counts = view->threads->counts.size;
	uint64_t *samples = calloc(counts + 1, sizeof(*samples)), end_ns = view->info->duration_ns;

	for (size_t i = 0; samples && !window_ns && i < counts; i++)
		samples[i] = view->threads->counts.data[i].samples;
	if (!samples || !window_ns || !view->slices)
		return samples;
	vec_for_each (slice, &view->slices->slices) {
		if (slice->count < counts &&
		    (slice->tick + 1ull) * TIME_SLICES_TICK_NS + window_ns > end_ns)
			samples[slice->count] += slice->samples;
	}
	return samples;
}

static void count_process(struct filtered *filtered, uint32_t process, uint32_t node,
			  uint64_t samples)
{
	struct naming_count *count = &filtered->processes[process];

	count->samples += samples;
	count->named += naming_of_node(&filtered->view, node) ? samples : 0;
}

static uint64_t samples_before(const struct top_model *model, uint32_t event, size_t count)
{
	return count < model->before[event].size ? model->before[event].data[count] : 0;
}

static int count_samples(struct filtered *filtered, const struct top_model *model,
			 const struct top_filter *filter)
{
	const struct view *view = &filtered->view;
	AUTO_FREE uint32_t *roots = NULL;
	AUTO_FREE bool *threads = passing_threads(view, filter);
	AUTO_FREE uint64_t *recent = recent_samples(view, filter->window_ns);
	AUTO_FREE bool *named = NULL;
	bool by_thread = view_by_thread(view->options.by);
	int err = copy_nodes(filtered, &roots);

	if (!err && by_thread)
		err = copy_threads(filtered);
	named = err ? NULL : passing_nodes(filtered, filter);
	filtered->processes =
		calloc(view->ledger->processes.size + 1, sizeof(*filtered->processes));
	if (err || !threads || !named || !recent || !filtered->processes)
		return -ENOMEM;
	for (size_t i = 0; i < view->threads->counts.size; i++) {
		const struct thread_count *count = &view->threads->counts.data[i];
		uint64_t before = samples_before(model, view->event, i);
		struct profile_node *nodes = filtered->profile.nodes.data;
		uint32_t process = nodes[roots[count->node]].location;

		uint64_t samples = count->samples > before ? count->samples - before : 0;

		samples = samples < recent[i] ? samples : recent[i];
		if (!samples || !passes(filtered, filter, count, threads, named))
			continue;
		nodes[count->node].self += samples;
		if (by_thread)
			filtered->threads.counts.data[i].samples = samples;
		if (process < view->ledger->processes.size)
			count_process(filtered, process, count->node, samples);
	}
	filtered->view.profile = &filtered->profile;
	if (by_thread)
		filtered->view.threads = &filtered->threads;
	return 0;
}

/* --- filling ------------------------------------------------------------------------- */

static int list_processes(struct top_model *model, const struct filtered *filtered)
{
	const struct view *view = &filtered->view;

	for (uint32_t i = 0; i < view->ledger->processes.size; i++) {
		const struct ledger_process *one = &view->ledger->processes.data[i];
		struct top_process process = {
			.number = i,
			.pid = one->pid,
			.samples = filtered->processes[i].samples,
			.named = filtered->processes[i].named,
			.taken = ledger_process_taken(one),
			.resolved = one->samples.fate[FATE_RESOLVED],
			.jit_methods = one->jit.methods,
		};

		if (process.samples &&
		    (label_table_add_process(&model->labels, frame_text_comm(view, one->comm),
					     &process.label) ||
		     vec_push(&model->processes, process)))
			return -ENOMEM;
	}
	return 0;
}

static int note_paths(struct top_model *model)
{
	const struct frame_tree_node *nodes = model->tree.nodes.data;

	model->paths = calloc(model->tree.nodes.size, sizeof(*model->paths));
	if (!model->paths)
		return -ENOMEM;
	for (size_t i = 1; i < model->tree.nodes.size; i++)
		model->paths[i] = hash_mix(model->paths[nodes[i].parent], nodes[i].label);
	return 0;
}

static void clear(struct top_model *model)
{
	frame_tree_deinit(&model->tree);
	model->tree = (struct frame_tree){0};
	free(model->paths);
	model->paths = NULL;
	model->functions.size = 0;
	model->processes.size = 0;
	model->samples = 0;
}

int top_model_fill(struct top_model *model, const struct view *view,
		   const struct top_filter *filter)
{
	CLEANUP(filtered_deinit) struct filtered filtered = {.view = *view};
	struct frame_labels labels;
	int err;

	clear(model);
	label_table_init_labels(&model->labels, &labels);
	err = count_samples(&filtered, model, filter);
	err = err ?: frame_tree_build(&model->tree, &filtered.view, &labels);
	err = err ?: function_table_fill(&model->functions, &model->tree, &model->labels, NULL);
	err = err ?: list_processes(model, &filtered);
	err = err ?: note_paths(model);
	if (err)
		clear(model);
	else
		model->samples = model->tree.nodes.data[0].total;
	return err;
}

static int begin_event_anew(struct top_model *model, const struct view *view)
{
	model->before[view->event].size = 0;
	vec_for_each (count, &view->threads->counts) {
		if (vec_push(&model->before[view->event], count->samples))
			return -ENOMEM;
	}
	return 0;
}

int top_model_begin_anew(struct top_model *model, const struct view *view)
{
	int err = begin_event_anew(model, view);

	for (uint32_t i = 1; view->by_event && i <= view->info->more_events && !err; i++)
		err = begin_event_anew(model, view->by_event[i]);
	return err;
}

void top_model_show_all(struct top_model *model)
{
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++)
		model->before[i].size = 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/summary_json.h"

#include <errno.h>

#include "base/scope.h"
#include "sink/cgroup_text.h"
#include "sink/engine_advice.h"
#include "sink/format/unnamed_json.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/naming.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

/* Increases when members change or are removed. New members may be added at any time. */
#define SUMMARY_VERSION 1

static void write_run(struct json *json, const struct run_info *info)
{
	json_key(json, "run");
	json_begin(json, '{');
	json_member_string(json, "command", info->command);
	json_member_string(json, "event", info->event);
	json_member_number(json, "freq_hz", info->freq_hz);
	if (info->unit) {
		json_member_string(json, "unit", info->unit);
		json_member_number(json, "period", info->period);
	}
	json_member_number(json, "cpus", info->cpus);
	json_member_string(json, "host", info->host);
	json_member_string(json, "kernel", info->kernel);
	json_member_number(json, "start_ns", info->start_ns);
	json_member_number(json, "wall_clock_ns", info->wall_clock_ns);
	json_member_number(json, "duration_ns", info->duration_ns);
	json_end(json, '}');
}

/*
 * taken = resolved + code_unknown + stack_cut + lost; stack_cut is the sum of cut. frame_pointers,
 * those of runtimes, and named (see naming.h) count samples of all fates but lost.
 */
static void write_samples(struct json *json, const struct sample_fates *samples,
			  const struct naming_count *naming)
{
	json_key(json, "samples");
	json_begin(json, '{');
	json_member_number(json, "taken", sample_fates_taken(samples));
	for (int i = 0; i < FATE_COUNT; i++)
		json_member_number(json, ledger_fates[i].key, samples->fate[i]);
	json_key(json, "cut");
	json_begin(json, '{');
	for (int i = 0; i < LEDGER_CUT_COUNT; i++)
		json_member_number(json, ledger_cuts[i].key, samples->cut[i]);
	json_end(json, '}');
	json_member_number(json, ledger_singles[LEDGER_FRAME_POINTERS].key,
			   samples->frame_pointers);
	json_member_number(json, ledger_singles[LEDGER_RUNTIME_FUNCTIONS].key,
			   samples->runtime_functions);
	json_member_number(json, ledger_singles[LEDGER_RUNTIME_CUT].key, samples->runtime_cut);
	json_member_number(json, ledger_singles[LEDGER_RUNTIME_UNKNOWN].key,
			   samples->runtime_unknown);
	json_member_number(json, ledger_singles[LEDGER_CUT_UNPUBLISHED].key,
			   samples->cut_unpublished);
	json_member_number(json, "named", naming->named);
	json_end(json, '}');
}

/* The events of the run, if there are several. */
static void write_events(struct json *json, const struct view *view)
{
	if (view->event_count < 2)
		return;
	json_key(json, "events");
	json_begin(json, '[');
	for (uint32_t i = 0; i < view->event_count; i++) {
		const struct event_total *event = &view->events[i];

		json_begin(json, '{');
		json_member_string(json, "name", event->name);
		json_member_string(json, "unit", event->unit);
		json_member_number(json, "period", event->period);
		json_member_number(json, "samples", event->samples);
		json_member_number(json, "lost", event->lost);
		json_member_number(json, "weight", event->weight);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_jit(struct json *json, const struct jit_counts *counts)
{
	json_key(json, "jit");
	json_begin(json, '{');
	for (int i = 0; i < LEDGER_JIT_COUNT; i++)
		json_member_number(json, ledger_jit[i].word.key, ledger_jit_value(counts, i));
	json_end(json, '}');
}

/* The owners whose processes had no memory left, if there are any. */
static void write_owners(struct json *json, const struct ledger *ledger)
{
	const struct ledger_owner *owner = ledger->owners[0];
	const int count = LEDGER_MEMORY_COUNT * LEDGER_OWNERS_MAX;
	bool any = false;

	for (int i = 0; i < count; i++)
		any = any || owner[i].refused;
	if (!any)
		return;
	json_key(json, "over_memory");
	json_begin(json, '[');
	for (int i = 0; i < count; i++, owner++) {
		if (!owner->refused)
			continue;
		json_begin(json, '{');
		json_member_string(json, "what", ledger_memories[i / LEDGER_OWNERS_MAX].key);
		if (owner->uid != JITBPF_UNKNOWN_USER)
			json_member_number(json, "uid", owner->uid);
		json_member_number(json, "cgroup", owner->cgroup);
		json_member_number(json, "refused", owner->refused);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_totals(struct json *json, const struct view *view,
			 const struct naming_count *naming)
{
	const struct ledger *ledger = view->ledger;

	write_samples(json, &ledger->samples, naming);
	write_jit(json, &ledger->jit);
	json_key(json, "throttled");
	json_begin(json, '{');
	json_member_number(json, "intervals", ledger->throttles);
	json_member_number(json, "ns", ledger->throttled_ns);
	json_end(json, '}');
	write_owners(json, ledger);
	json_member_number(json, ledger_singles[LEDGER_TOTAL_UNKNOWN].key,
			   view->hidden ? view->hidden->unknown : 0);
	json_member_number(json, "malformed_records", ledger->malformed_records);
	json_key(json, "counters");
	json_begin(json, '{');
	for (int i = 0; i < JITBPF_COUNTER_MAX; i++)
		json_member_number(json, ledger_counters[i].key, ledger->counters[i]);
	json_end(json, '}');
}

/* The files whose functions have no names, if there are any. */
static int write_unnamed(struct json *json, const struct view *view)
{
	unnamed_file_list files = {0};
	int err = naming_files(view, &files, NULL);

	if (!err && files.size) {
		json_key(json, "unnamed");
		err = unnamed_json_write(json, files.data, files.size, view->packages);
	}
	vec_deinit(&files);
	return err;
}

static void write_name(struct json *json, const char *key, const char *name)
{
	if (*name)
		json_member_string(json, key, name);
}

static void write_cgroup(struct json *json, const struct view *view,
			 const struct ledger_process *process)
{
	struct cgroup_texts texts = cgroup_texts(view, process->container, process->unit);

	write_name(json, "container", texts.container);
	write_name(json, "unit", texts.unit);
	write_name(json, "cgroup", texts.path);
}

static void write_process(struct json *json, const struct view *view,
			  const struct ledger_process *process, const struct naming_count *naming)
{
	json_begin(json, '{');
	json_member_number(json, "pid", process->pid);
	if (process->inner_pid)
		json_member_number(json, "pid_inside", process->inner_pid);
	if (process->processes)
		json_member_number(json, "processes", process->processes);
	json_member_string(json, "comm", frame_text_comm(view, process->comm));
	engine_advice_write_runtimes(json, process->runtimes);
	write_cgroup(json, view, process);
	write_samples(json, &process->samples, naming);
	write_jit(json, &process->jit);
	json_end(json, '}');
}

int summary_json_write(struct json *json, const struct view *view)
{
	CLEANUP(ledger_ranking_deinit) struct ledger_ranking ranking = {0};
	CLEANUP(naming_deinit) struct naming naming = {0};

	if (ledger_rank(view->ledger, &ranking) || naming_count(view, &naming))
		return -ENOMEM;
	json_begin(json, '{');
	json_member_number(json, "version", SUMMARY_VERSION);
	write_run(json, view->info);
	write_events(json, view);
	write_totals(json, view, &naming.all);
	if (write_unnamed(json, view))
		return -ENOMEM;
	json_key(json, "processes");
	json_begin(json, '[');
	vec_for_each (item, &ranking.processes)
		write_process(json, view, *item,
			      &naming.processes.data[*item - view->ledger->processes.data]);
	json_end(json, ']');
	json_end(json, '}');
	return 0;
}

static int summary_json_finish(struct sink *sink, const struct view *view)
{
	struct json json = json_of(out_stream(sink), true);
	int err = summary_json_write(&json, view);

	return err ? err : out_flush(out_stream(sink));
}

const struct sink_ops sink_summary_json = {
	.name = "json",
	.extension = ".summary.json",
	.counts_only = true,
	.packages = true,
	.create = out_create,
	.finish = summary_json_finish,
	.destroy = out_destroy,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/shim_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/proc/process_text.h"
#include "base/scope.h"
#include "decode/text/proc_maps.h"
#include "profile/ledger.h"

#define LOSS_ODDS 25 /* a loss begins with one of LOSS_ODDS hits */
#define LOSS_HITS 30 /* limit of hits in a loss */

/* The callback of the fixture has no context. */
static struct shim_source *listening;

static int queue_record(struct shim_source *source, const struct jitbpf_record *head,
			size_t head_bytes, const void *data, size_t data_bytes)
{
	struct jitbpf_record *record = malloc(head_bytes + data_bytes);

	if (!record)
		return -ENOMEM;
	memcpy(record, head, head_bytes);
	memcpy((char *)record + head_bytes, data, data_bytes);
	record->size_bytes = (uint32_t)(head_bytes + data_bytes);
	return vec_push(&source->queue, record);
}

/* --- what BPF does -------------------------------------------------------------------- */

static void note_loss(struct shim_source *source, uint64_t sequence)
{
	source->counts.lost++;
	if (!source->has_loss)
		source->loss = (struct journal_loss){
			.pid = source->pid,
			.start_ns = source->start_ns,
			.first_ns = clock_now_ns(),
			.first_sequence = sequence,
		};
	else if (sequence < source->loss.first_sequence)
		source->loss.first_sequence = sequence;
	source->has_loss = true;
}

static void take_hit(const struct hit *hit)
{
	struct shim_source *source = listening;
	struct jitbpf_jit head = {
		.h = {.type = JITBPF_JIT, .time_ns = clock_now_ns()},
		.pid = source->pid,
		.tid = hit->tid,
		.start_ns = source->start_ns,
		.data_bytes = (uint32_t)hit->size_bytes,
	};
	struct dice *dice = &source->options.dice;

	if (source->options.loses && !source->losing && dice_roll(dice, LOSS_ODDS) == 0)
		source->losing = 1 + (uint32_t)dice_roll(dice, LOSS_HITS);
	if (source->losing) {
		source->losing--;
		note_loss(source, hit->sequence);
		return;
	}
	source->failed =
		source->failed
			?: queue_record(source, &head.h, sizeof(head), hit->bytes, hit->size_bytes);
}

int shim_source_sample(struct shim_source *source, uint64_t time_ns, const uint64_t *words,
		       uint16_t count)
{
	struct jitbpf_sample head = {
		.h = {.type = JITBPF_SAMPLE, .time_ns = time_ns},
		.pid = source->pid,
		.tid = source->pid,
		.start_ns = source->start_ns,
		.user_words = count,
		.user_end = JITBPF_END_ROOT,
		.comm = "engine",
	};

	return queue_record(source, &head.h, sizeof(head), words, count * sizeof(*words));
}

/* --- what the agent does ---------------------------------------------------------------- */

/* Record that code which the journal omits may be unknown for some time. */
static int note_doubt(struct shim_source *source, const struct jitbpf_journal *journal)
{
	/*
	 * Code of the gap may stay unknown beyond journal->to_ns: if it ended before the journal
	 * was read, a compaction may have dropped the entry that confirms it. With a late attach,
	 * events may have ended after it.
	 */
	struct shim_doubt doubt = {.from_ns = journal->from_ns, .to_ns = clock_now_ns()};
	bool late = journal->h.flags & JITBPF_JOURNAL_LATE;
	bool unreadable = journal->h.flags & JITBPF_JOURNAL_UNREADABLE;

	if (!late && journal->h.flags & JITBPF_JOURNAL_COMPLETE && !journal->left_out)
		return 0;
	source->counts.unreadable += unreadable;
	source->counts.gaps += !late && !(journal->h.flags & JITBPF_JOURNAL_COMPLETE);
	if (unreadable || journal->left_out)
		doubt.to_ns = UINT64_MAX;
	doubt.left_out = journal->left_out;
	return shim_truth_doubt(source->options.truth, &doubt);
}

/* Inspect a record on its way to the pipeline. */
static int take(void *context, const struct jitbpf_record *record)
{
	struct shim_source *source = context;
	int err = 0;

	if (record->type == JITBPF_JOURNAL)
		err = note_doubt(source, (const struct jitbpf_journal *)record);
	return err ?: source->take(source->take_context, record);
}

/* Report executable mappings, as the start-up scan does. */
static int scan_maps(struct shim_source *source)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	int err = process_maps_read(NULL, source->pid, &text), more;
	struct cursor maps = cursor_of(text.data, text.size);
	struct proc_map map;

	while (!err && (more = proc_maps_next(&maps, &map))) {
		char room[sizeof(struct jitbpf_mapping) + 4096] __attribute__((aligned(8))) = {0};
		struct jitbpf_mapping *mapping = (struct jitbpf_mapping *)room;

		if (more < 0 || !(map.protection & PROT_EXEC) || map.path_bytes >= 4000)
			continue;
		*mapping = (struct jitbpf_mapping){
			.h = {.type = JITBPF_MAPPING, .time_ns = source->came_ns},
			.pid = source->pid,
			.tid = source->pid,
			.start_ns = source->start_ns,
			.address = map.start,
			.size_bytes = map.end - map.start,
			.file_offset = map.file_offset,
			.inode = map.inode,
			.dev_major = map.dev_major,
			.dev_minor = map.dev_minor,
			.protection = map.protection,
		};
		if (map.path_bytes)
			memcpy(mapping->path, map.path, map.path_bytes);
		else
			strcpy(mapping->path, "//anon");
		mapping->h.size_bytes =
			(uint32_t)((sizeof(*mapping) + strlen(mapping->path) + 8) & ~7ul);
		err = take(source, &mapping->h);
	}
	return err;
}

static int flush(struct shim_source *source)
{
	int err = source->failed;
	size_t count = source->queue.size;

	for (size_t i = 0; i < count; i++) {
		err = err ?: take(source, source->queue.data[i]);
		free(source->queue.data[i]);
	}
	source->queue.size = 0;
	return err;
}

/* Like drain_past() of live_drain.c. */
static int drain_past(struct shim_source *source, uint64_t *ret_time_ns)
{
	int more = 1, err;

	*ret_time_ns = source->came_ns;
	if (!source->scanned) {
		err = scan_maps(source);
		if (source->has_journal)
			err = err ?: vec_push(&source->late.pids, source->pid);
		source->scanned = true;
	} else {
		more = journal_late_read(&source->late, source->came_ns, take, source);
		err = more < 0 ? more : 0;
	}
	err = err ?: flush(source);
	source->ready = !more;
	return err ?: SOURCE_ROUND;
}

/* Like live_round_drain(). */
static int drain(void *context, record_taker_fn taker, void *take_context, uint64_t *ret_time_ns)
{
	struct shim_source *source = context;
	int err;

	source->take = taker;
	source->take_context = take_context;
	if (!source->ready)
		return drain_past(source, ret_time_ns);
	*ret_time_ns = clock_now_ns();
	err = flush(source);
	if (!source->stopped)
		err = err ?: source->options.meanwhile(source->options.meanwhile_context);
	if (!err && source->has_loss) {
		err = journal_recovery_reserve(&source->recovery);
		if (err)
			return err;
		journal_recovery_note(&source->recovery, &source->loss);
		source->has_loss = false;
	}
	while (!err && (err = journal_recovery_read(&source->recovery, *ret_time_ns, false, take,
						    source)) > 0)
		err = 0;
	return err ?: source->stopped ? SOURCE_END : SOURCE_ROUND;
}

int shim_source_round(struct shim_source *source)
{
	return pipeline_round(source->pipeline, &source->source, NULL);
}

void shim_source_come(struct shim_source *source, uint64_t now_ns, bool has_journal)
{
	source->came_ns = now_ns;
	source->has_journal = has_journal;
}

int shim_source_init(struct shim_source *source, const struct shim_source_options *options)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct process_stat stat;
	int err;

	*source = (struct shim_source){.options = *options, .pid = (uint32_t)getpid()};
	source->source = (struct source){.drain = drain, .context = source};
	journal_late_init(&source->late);
	journal_recovery_init(&source->recovery);
	err = process_stat_read(&text, source->pid, &stat);
	if (!err)
		source->start_ns =
			stat.start_ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	err = err ?: pipeline_create(&(struct pipeline_options){0}, &source->pipeline);
	err = err ?: pipeline_add_sink(source->pipeline, &shim_truth_sink, (FILE *)options->truth);
	listening = source;
	shim_on_hit = take_hit;
	return err;
}

void shim_source_deinit(struct shim_source *source)
{
	shim_on_hit = NULL;
	vec_for_each (record, &source->queue)
		free(*record);
	vec_deinit(&source->queue);
	journal_late_deinit(&source->late);
	journal_recovery_deinit(&source->recovery);
	pipeline_destroy(source->pipeline);
}

int shim_source_finish(struct shim_source *source, struct shim_run_counts *ret)
{
	CLEANUP(journal_files_close) struct journal_files files = {0};
	const struct jit_counts *jit;
	int err = pipeline_finish(source->pipeline);

	err = err ?: journal_files_open(NULL, source->pid, JITBPF_PUBLISHER_SHIM, &files);
	if (err)
		return err;
	if (source->options.truth->answered != source->options.truth->queries.size)
		return -EPROTO;
	jit = &pipeline_view(source->pipeline)->ledger->jit;
	*ret = source->counts;
	ret->late = jit->late;
	ret->recovered = jit->recovered;
	if (files.count) {
		ret->compactions = files.files[0].header.compactions;
		ret->left_out = files.files[0].header.left_out;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gzipped profile.proto for pprof and compatible tools: samples by stack and thread, with labels;
 * locations with a line for each inlined frame; and mappings marked as symbolized, so that pprof
 * does not symbolize again. Mappings are the ranges of sink/address_layout.h.
 *
 * Readers accept fields in any order. Strings come last, when all are known, so that only they and
 * the functions have to be kept.
 */
#include "sink/sink.h"

#include <errno.h>
#include <inttypes.h>

#include "base/scope.h"
#include "sink/cgroup_text.h"
#include "sink/frame_text.h"
#include "sink/write/gzip.h"
#include "sink/ledger_rows.h"
#include "sink/shown_profile.h"
#include "sink/write/out.h"
#include "sink/format/pprof_writer.h"

#define NS_PER_SECOND 1000000000ull

static void writer_deinit(struct pprof_writer *w)
{
	protobuf_deinit(&w->message);
	free(w->totals);
	free(w->used);
	address_layout_deinit(&w->layout);
	string_pool_destroy(w->strings);
	text_deinit(&w->scratch);
	vec_deinit(&w->functions);
	index_map_deinit(&w->function_index);
	thread_counts_deinit(&w->merged);
}

static void put_value_type(struct pprof_writer *w, uint32_t field, const char *type,
			   const char *unit)
{
	size_t begin = protobuf_begin(&w->message, field);

	protobuf_put(&w->message, PB_VALUE_TYPE, pprof_string_of(w, type));
	protobuf_put(&w->message, PB_VALUE_UNIT, pprof_string_of(w, unit));
	protobuf_end(&w->message, begin);
}

/* Returns the weight of a sample: of CPU time, in ns. */
static uint64_t period_of(const struct view *view)
{
	if (view->info->unit)
		return view->info->period ?: 1;
	return view->info->freq_hz ? NS_PER_SECOND / view->info->freq_hz : 0;
}

static uint64_t weight_of(uint64_t samples, uint64_t period)
{
	uint64_t weight;

	return __builtin_mul_overflow(samples, period, &weight) ? UINT64_MAX : weight;
}

static void put_run(struct pprof_writer *w)
{
	const struct run_info *info = w->view->info;
	const char *weight = info->unit ? info->event : "cpu";
	const char *unit = info->unit ? "count" : "nanoseconds";

	put_value_type(w, PB_PROFILE_SAMPLE_TYPE, "samples", "count");
	put_value_type(w, PB_PROFILE_SAMPLE_TYPE, weight, unit);
	put_value_type(w, PB_PROFILE_PERIOD_TYPE, weight, unit);
	protobuf_put(&w->message, PB_PROFILE_PERIOD, period_of(w->view));
	protobuf_put(&w->message, PB_PROFILE_TIME_NS, info->wall_clock_ns);
	protobuf_put(&w->message, PB_PROFILE_DURATION_NS, info->duration_ns);
	protobuf_put(&w->message, PB_PROFILE_DEFAULT_TYPE, pprof_string_of(w, weight));
}

static void put_comment(struct pprof_writer *w)
{
	protobuf_put(&w->message, PB_PROFILE_COMMENT, pprof_string_of_scratch(w));
}

static void put_run_comments(struct pprof_writer *w)
{
	const struct run_info *info = w->view->info;
	struct text *text = &w->scratch;

	text_put_string(text, "jitbpf: ");
	text_put_name(text, *info->event ? info->event : "[unknown]", 0, 0);
	if (info->unit)
		text_printf(text, ", a sample for each %" PRIu64, info->period);
	else
		text_printf(text, " at %u Hz", info->freq_hz);
	text_printf(text, ", %u CPU%s, ", info->cpus, info->cpus == 1 ? "" : "s");
	text_put_name(text, info->host, 0, 0);
	text_put_string(text, ", Linux ");
	text_put_name(text, info->kernel, 0, 0);
	put_comment(w);
	text_put_string(text, "profiled: ");
	text_put_name(text, *info->command ? info->command : "the whole system", 0, 0);
	put_comment(w);
}

/* The ledger; lost samples appear nowhere else in this format. */
static void put_ledger_comments(struct pprof_writer *w)
{
	const struct ledger *ledger = w->view->ledger;
	struct text *text = &w->scratch;
	const char *before = ": ";

	text_printf(text, "samples taken: %" PRIu64, ledger_taken(ledger));
	for (int i = 0; i < FATE_COUNT; i++)
		text_printf(text, "%s%" PRIu64 " %s", i ? " + " : " = ", ledger->samples.fate[i],
			    ledger_fates[i].words);
	if (ledger->filtered)
		text_put_string(text, " (only the selected ones)");
	put_comment(w);
	text_put_string(text, ledger_fates[FATE_STACK_CUT].words);
	for (int i = 0; i < LEDGER_CUT_COUNT; i++) {
		if (!ledger->samples.cut[i])
			continue;
		text_printf(text, "%s%" PRIu64 " %s", before, ledger->samples.cut[i],
			    ledger_cuts[i].words);
		before = ", ";
	}
	if (ledger->samples.fate[FATE_STACK_CUT])
		put_comment(w);
	text->bytes.size = 0;
	if (!ledger->throttles && !ledger->throttled_ns)
		return;
	text_printf(text, "throttled: %" PRIu64 " ns in %" PRIu64 " intervals",
		    ledger->throttled_ns, ledger->throttles);
	put_comment(w);
}

static void put_label(struct pprof_writer *w, const char *key, uint32_t member, uint64_t value)
{
	size_t begin = protobuf_begin(&w->message, PB_SAMPLE_LABEL);

	protobuf_put(&w->message, PB_LABEL_KEY, pprof_string_of(w, key));
	protobuf_put(&w->message, member, value);
	protobuf_end(&w->message, begin);
}

static void put_name(struct pprof_writer *w, const char *key, const char *name)
{
	if (*name)
		put_label(w, key, PB_LABEL_STRING, pprof_string_of(w, name));
}

static void put_cgroup(struct pprof_writer *w, const struct sampled_thread *thread)
{
	struct cgroup_texts texts = cgroup_texts(w->view, thread->container, thread->unit);

	put_name(w, "container", texts.container);
	put_name(w, "unit", texts.unit);
	put_name(w, "cgroup", texts.path);
}

static void put_labels(struct pprof_writer *w, const struct thread_count *count, uint32_t comm)
{
	const struct sampled_thread *thread = &w->counts->threads.data[count->thread];
	const struct profile_node *leaf = &w->view->profile->nodes.data[count->node];
	struct frame_text frame;

	put_label(w, "process", PB_LABEL_STRING,
		  pprof_string_of(w, frame_text_comm(w->view, comm)));
	put_label(w, "pid", PB_LABEL_NUMBER, thread->pid);
	put_label(w, "thread", PB_LABEL_STRING,
		  pprof_string_of(w, frame_text_comm(w->view, thread->comm)));
	put_label(w, "tid", PB_LABEL_NUMBER, thread->tid);
	put_cgroup(w, thread);
	if (leaf->parent == PROFILE_NODE_NONE)
		return;
	frame_text_get(w->view, leaf->location, 0, &frame);
	put_label(w, "kind", PB_LABEL_STRING,
		  pprof_string_of(w, frame_kind_info(frame.kind)->word));
	put_name(w, "tier", code_tier_word(frame.tier));
}

static void put_sample(struct pprof_writer *w, const struct thread_count *count)
{
	const struct profile_node *nodes = w->view->profile->nodes.data;
	struct protobuf *message = &w->message;
	size_t sample = protobuf_begin(message, PB_PROFILE_SAMPLE), begin;
	uint32_t node = count->node;

	begin = protobuf_begin(message, PB_SAMPLE_LOCATION);
	for (; nodes[node].parent != PROFILE_NODE_NONE; node = nodes[node].parent) {
		if (!shown_profile_hides(w->view, node))
			protobuf_put_packed(message, pprof_use_location(w, nodes[node].location));
	}
	protobuf_end(message, begin);
	begin = protobuf_begin(message, PB_SAMPLE_VALUE);
	protobuf_put_packed(message, count->samples);
	protobuf_put_packed(message, weight_of(count->samples, period_of(w->view)));
	protobuf_end(message, begin);
	put_labels(w, count, profile_comm(w->view->profile, node));
	protobuf_end(message, sample);
}

/* Count the samples at and below each node. Parents come before their children. */
static int count_totals(struct pprof_writer *w)
{
	const struct profile *profile = w->view->profile;

	w->totals = calloc(profile->nodes.size + 1, sizeof(*w->totals));
	if (!w->totals)
		return -ENOMEM;
	vec_for_each (count, &w->counts->counts)
		w->totals[count->node] += count->samples;
	for (size_t i = profile->nodes.size; i--;) {
		if (profile->nodes.data[i].parent != PROFILE_NODE_NONE)
			w->totals[profile->nodes.data[i].parent] += w->totals[i];
	}
	return 0;
}

static int prepare(struct pprof_writer *w)
{
	int err = string_pool_create(&w->strings);

	err = err ?: shown_profile_counts(w->view, &w->merged, &w->counts);
	w->string_count = 1; /* the empty string */
	w->used = calloc(w->view->locations->locations.size + 1, sizeof(*w->used));
	if (!err && !w->used)
		err = -ENOMEM;
	err = err ?: count_totals(w);
	return err ?: address_layout_build(&w->layout, w->view, w->totals);
}

static int write_all(struct pprof_writer *w)
{
	put_run(w);
	put_run_comments(w);
	put_ledger_comments(w);
	vec_for_each (count, &w->counts->counts) {
		put_sample(w, count);
		pprof_pass_on(w, PPROF_PASS_ON_BYTES);
	}
	pprof_put_code(w);
	pprof_pass_on(w, 0);
	return w->error;
}

static int pprof_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(writer_deinit)
	struct pprof_writer w = {.view = view};
	struct gzip *gzip;
	int err = prepare(&w), close_err;

	err = err ?: gzip_open(out_stream(sink), &gzip);
	if (err)
		return err;
	w.out = gzip_stream(gzip);
	err = write_all(&w);
	close_err = gzip_close(gzip);
	return err ?: close_err;
}

const struct sink_ops sink_pprof = {
	.name = "pprof",
	.extension = ".pb.gz",
	.create = out_create,
	.finish = pprof_finish,
	.destroy = out_destroy,
};

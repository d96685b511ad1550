/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Firefox Profiler's processed profile (docs-developer/CHANGELOG-formats.md
 * there), gzipped: each thread over time, with a category for each kind of code.
 */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "sink/format/firefox_markers.h"
#include "sink/format/firefox_tables.h"
#include "sink/frame_text.h"
#include "sink/write/gzip.h"
#include "sink/write/json.h"
#include "sink/ledger_rows.h"
#include "sink/timeline/timeline_sink.h"

#define PROCESSED_VERSION 70
#define GECKO_VERSION	  36 /* version of the Gecko profile format */
#define NS_PER_SECOND	  1000000000ull
#define MS_PLACES	  6 /* decimal places of times in ms */

struct writer {
	const struct view *view;
	const struct timeline *timeline;
	const struct code_markers *markers;
	struct row_reader *reader; /* freed by the owner of this struct */
	struct json json;
	struct firefox_tables tables;
	struct firefox_marker_strings marker_strings;
	uint64_t period_ns; /* 0: the sampling rate is not known */
};

static void writer_deinit(struct writer *w)
{
	if (w->reader)
		row_reader_deinit(w->reader);
	firefox_tables_deinit(&w->tables);
	firefox_marker_strings_deinit(&w->marker_strings);
}

static void write_categories(struct json *json)
{
	json_key(json, "categories");
	json_begin(json, '[');
	for (uint32_t i = 0; i < FRAME_KIND_COUNT; i++) {
		json_begin(json, '{');
		json_member_string(json, "name", frame_kind_info(i)->category);
		json_member_string(json, "color", frame_kind_info(i)->category_colour);
		json_key(json, "subcategories"); /* enum code_tier */
		json_begin(json, '[');
		json_string(json, "Other"); /* as in the Profiler's own categories */
		for (uint32_t tier = 1; tier < CODE_TIER_COUNT; tier++)
			json_string(json, code_tier_word(tier));
		json_end(json, ']');
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_extra_entry(struct json *json, const char *label, uint64_t value)
{
	json_begin(json, '{');
	json_member_string(json, "label", label);
	json_member_string(json, "format", "integer");
	json_member_number(json, "value", value);
	json_end(json, '}');
}

static void begin_extra(struct json *json, const char *label)
{
	json_begin(json, '{');
	json_member_string(json, "label", label);
	json_key(json, "entries");
	json_begin(json, '[');
}

static void end_extra(struct json *json)
{
	json_end(json, ']');
	json_end(json, '}');
}

/* Write the ledger, and the counts of markers, to the profile's description. */
static void write_extra(struct writer *w)
{
	const struct ledger *ledger = w->view->ledger;
	struct json *json = &w->json;

	json_key(json, "extra");
	json_begin(json, '[');
	begin_extra(json, "Samples");
	write_extra_entry(json, "taken", ledger_taken(ledger));
	if (w->timeline->left_out)
		write_extra_entry(json, "left out: --max-memory", w->timeline->left_out);
	for (int i = 0; i < FATE_COUNT; i++)
		write_extra_entry(json, ledger_fates[i].words, ledger->samples.fate[i]);
	end_extra(json);
	begin_extra(json, "JIT code");
	write_extra_entry(json, "markers", w->markers->markers.size);
	write_extra_entry(json, "dropped: too many", w->markers->left_out);
	write_extra_entry(json, "before the start", w->markers->earlier);
	end_extra(json);
	json_end(json, ']');
}

static void write_units(struct json *json)
{
	json_key(json, "sampleUnits");
	json_begin(json, '{');
	json_member_string(json, "time", "ms");
	json_member_string(json, "eventDelay", "ms");
	json_member_string(json, "threadCPUDelta", "ns");
	json_end(json, '}');
}

static void write_meta(struct writer *w)
{
	const struct run_info *info = w->view->info;
	struct json *json = &w->json;
	char system[96];

	snprintf(system, sizeof(system), "Linux %s x86_64", info->kernel);
	json_key(json, "meta");
	json_begin(json, '{');
	json_member_number(json, "version", GECKO_VERSION);
	json_member_number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_key(json, "interval");
	json_decimal(json, w->period_ns ?: NS_PER_SECOND, MS_PLACES);
	json_key(json, "startTime");
	json_decimal(json, info->wall_clock_ns, MS_PLACES);
	json_member_number(json, "startTimeAsClockMonotonicNanosecondsSinceBoot", info->start_ns);
	json_member_number(json, "profilingStartTime", 0);
	json_key(json, "profilingEndTime");
	json_decimal(json, info->duration_ns, MS_PLACES);
	json_member_number(json, "processType", 0);
	json_member_number(json, "stackwalk", 1);
	json_member_string(json, "product", *info->command ? info->command : info->host);
	json_member_string(json, "importedFrom", "jitbpf");
	json_member_string(json, "platform", "Linux");
	json_member_string(json, "oscpu", system);
	json_member_number(json, "logicalCPUs", info->cpus);
	json_member_literal(json, "symbolicated", "true");
	json_member_literal(json, "usesOnlyOneStackType", "true");
	json_member_literal(json, "sourceCodeIsNotOnSearchfox", "true");
	write_categories(json);
	firefox_markers_write_schema(json);
	write_units(json);
	write_extra(w);
	json_end(json, '}');
}

static void hex(char *out, const uint8_t *bytes, uint32_t size_bytes, const char *digits)
{
	for (uint32_t i = 0; i < size_bytes; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

/* The Profiler wants the build ID itself, and Breakpad's form: a GUID of its start, then 0. */
static void write_build_id(struct json *json, const struct module *module)
{
	static const uint8_t guid_order[16] = {3, 2, 1,	 0,  5,	 4,  7,	 6,
					       8, 9, 10, 11, 12, 13, 14, 15};
	char text[2 * JITBPF_BUILD_ID_MAX + 1], breakpad[34];
	uint8_t guid[16] = {0};

	if (!module || !module->build_id_bytes) {
		json_member_string(json, "breakpadId", "");
		json_member_literal(json, "codeId", "null");
		return;
	}
	for (uint32_t i = 0; i < sizeof(guid); i++) {
		if (guid_order[i] < module->build_id_bytes)
			guid[i] = module->build_id[guid_order[i]];
	}
	hex(breakpad, guid, sizeof(guid), "0123456789ABCDEF");
	strcat(breakpad, "0");
	hex(text, module->build_id, module->build_id_bytes, "0123456789abcdef");
	json_member_string(json, "breakpadId", breakpad);
	json_member_string(json, "codeId", text);
}

static void write_libs(struct writer *w)
{
	struct json *json = &w->json;

	json_key(json, "libs");
	json_begin(json, '[');
	for (uint32_t i = 0; i < w->tables.libs.count; i++) {
		const struct firefox_lib *lib = row_table_get(&w->tables.libs, i);
		const char *path = string_pool_get(w->tables.strings, lib->path);
		const char *name = path_file(path);

		json_begin(json, '{');
		json_member_string(json, "arch", "x86_64");
		json_member_string(json, "name", name);
		json_member_string(json, "path", path);
		json_member_string(json, "debugName", name);
		json_member_string(json, "debugPath", path);
		write_build_id(json, lib->module == ROW_NONE
					     ? NULL
					     : module_table_get(w->view->modules, lib->module));
		json_end(json, '}');
	}
	json_end(json, ']');
}

/*
 * CPU time since the previous sample: one sampling period. The Profiler shows from it how busy a
 * thread was; times without samples appear idle.
 */
static void write_cpu_time(struct writer *w, uint64_t count)
{
	if (!w->period_ns)
		return;
	json_key(&w->json, "threadCPUDelta");
	json_begin(&w->json, '[');
	while (count--)
		json_number(&w->json, w->period_ns);
	json_end(&w->json, ']');
}

static int write_stacks(struct writer *w, const struct timeline_thread *thread)
{
	struct json *json = &w->json;
	struct timeline_sample sample;
	int got;

	json_key(json, "stack");
	json_begin(json, '[');
	row_reader_begin(w->reader, &thread->samples);
	while ((got = timeline_next(w->reader, &sample)) > 0) {
		uint32_t stack = w->tables.stacks.of_node[sample.node];

		if (stack == ROW_NONE)
			json_literal(json, "null");
		else
			json_number(json, stack);
	}
	json_end(json, ']');
	return got;
}

static int write_times(struct writer *w, const struct timeline_thread *thread)
{
	uint64_t start_ns = w->view->info->start_ns, latest_ns = 0;
	struct json *json = &w->json;
	struct timeline_sample sample;
	int got;

	json_key(json, "time");
	json_begin(json, '[');
	row_reader_begin(w->reader, &thread->samples);
	while ((got = timeline_next(w->reader, &sample)) > 0) {
		uint64_t time_ns = sample.time_ns > start_ns ? sample.time_ns - start_ns : 0;

		latest_ns = time_ns > latest_ns ? time_ns : latest_ns; /* it must not decrease */
		json_decimal(json, latest_ns, MS_PLACES);
	}
	json_end(json, ']');
	return got;
}

static int write_samples(struct writer *w, const struct timeline_thread *thread)
{
	struct json *json = &w->json;
	int err;

	json_key(json, "samples");
	json_begin(json, '{');
	json_member_number(json, "length", thread->samples.count);
	json_member_literal(json, "weight", "null"); /* 1 each */
	json_member_string(json, "weightType", "samples");
	err = write_stacks(w, thread);
	err = err ?: write_times(w, thread);
	write_cpu_time(w, thread->samples.count);
	json_end(json, '}');
	return err;
}

static int write_thread(struct writer *w, const struct timeline_thread *thread)
{
	struct json *json = &w->json;
	char pid[TIMELINE_PID_BYTES];
	int err;

	json_begin(json, '{');
	json_member_string(json, "name", frame_text_comm(w->view, thread->comm));
	json_member_string(json, "processName", frame_text_comm(w->view, thread->process_comm));
	json_member_string(json, "processType", "default");
	json_member_literal(json, "isMainThread", thread->tid == thread->pid ? "true" : "false");
	json_member_string(json, "pid", timeline_pid(thread, pid));
	json_member_number(json, "tid", thread->tid);
	json_member_number(json, "processStartupTime", 0);
	json_member_literal(json, "processShutdownTime", "null");
	json_member_number(json, "registerTime", 0);
	json_member_literal(json, "unregisterTime", "null");
	json_key(json, "pausedRanges");
	json_begin(json, '[');
	json_end(json, ']');
	err = write_samples(w, thread);
	firefox_markers_write(json, w->markers, thread->number, &w->marker_strings,
			      w->view->info->start_ns);
	json_end(json, '}');
	return err;
}

static int write_profile(struct writer *w)
{
	struct json *json = &w->json;
	int err = 0;

	json_begin(json, '{');
	write_meta(w);
	write_libs(w);
	json_key(json, "shared");
	firefox_tables_write(&w->tables, json);
	json_key(json, "threads");
	json_begin(json, '[');
	vec_for_each (thread, &w->timeline->threads)
		err = err ?: write_thread(w, thread);
	json_end(json, ']');
	json_end(json, '}');
	return err;
}

static int firefox_finish(struct sink *sink, const struct view *view)
{
	struct timeline *timeline = timeline_sink_timeline(sink);
	AUTO_FREE struct row_reader *reader = calloc(1, sizeof(*reader));
	CLEANUP(writer_deinit)
	struct writer w = {
		.view = view,
		.timeline = timeline,
		.markers = timeline_sink_markers(sink),
		.reader = reader,
		.period_ns = view->info->freq_hz ? NS_PER_SECOND / view->info->freq_hz : 0,
	};
	struct gzip *gzip;
	int err = reader ? 0 : -ENOMEM, closed;

	timeline_sort(timeline);
	err = err ?: firefox_tables_build(&w.tables, view, timeline);
	err = err ?: firefox_marker_strings_build(&w.marker_strings, w.markers, &w.tables);
	err = err ?: gzip_open(timeline_sink_stream(sink), &gzip);
	if (err)
		return err;
	w.json = json_of(gzip_stream(gzip), false);
	err = write_profile(&w);
	closed = gzip_close(gzip);
	return err ?: closed;
}

const struct sink_ops sink_firefox = {
	.name = "firefox",
	.extension = ".json.gz",
	.create = timeline_sink_create,
	.sample = timeline_sink_sample,
	.code = timeline_sink_code,
	.finish = firefox_finish,
	.left_out = timeline_sink_left_out,
	.destroy = timeline_sink_destroy,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/page_reader.h"

#include "base/scope.h"
#include "sink/ledger_rows.h"
#include "tests/unit/cases.h"

/* Returns the data from "strings" on; the summary before it has its own test. */
static const char *strings_of(const char *data)
{
	const char *strings = strstr(data, "\"strings\":");

	assert_non_null(strings);
	return strings;
}

/* Returns the page of a profile with all samples in one thread of process 100. */
static char *page_of(struct made_view *m)
{
	struct sink_sample samples[64];
	size_t count = 0, size;

	for (uint32_t i = 0; i < m->profile.nodes.size; i++)
		for (uint64_t k = 0; k < m->profile.nodes.data[i].self; k++) {
			assert_true(count < ARRAY_SIZE(samples));
			samples[count++] = (struct sink_sample){.pid = 100,
								.tid = 101,
								.comm = made_string(m, "worker"),
								.node = i};
		}
	return made_output_of(m, &sink_html, samples, count, &size);
}

CASE(the_tree_is_in_order_of_names)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t b, a, jit;

	made_init(&m);
	b = made_named(&m, LOCATION_NATIVE, 1, "b", "/bin/p");
	a = made_named(&m, LOCATION_KERNEL, 2, "a", "[kernel.kallsyms]");
	jit = made_location(&m, LOCATION_JIT, 1, 4);
	frames[0] = made_frame(&m, FRAME_KIND_JIT, "inner", "");
	frames[0].flags = FRAME_INLINED;
	frames[0].file = made_string(&m, "x.js");
	frames[0].line = 7;
	frames[1] = made_frame(&m, FRAME_KIND_JIT, "outer", "eng");
	assert_int_equal(frame_table_set(m.frames, jit, frames, 2), 0);
	made_stack(&m, 0, "p", 3, STACK(b));
	made_stack(&m, 0, "p", 2, STACK(jit, b));
	made_stack(&m, 0, "p", 1, STACK(a));
	AUTO_FREE char *page = page_of(&m);
	AUTO_FREE char *data = page_data_of(page);
	/* all > p > a, b > outer > inner */
	static const char strings[] =
		"\"strings\":[\"\",\"all\",\"p\",\"b\",\"/bin/p\",\"inner\",\"[jit]\",\"x.js\",\"outer\","
		"\"eng\",\"a\",\"[kernel.kallsyms]\",\"worker\",\"[unknown cgroup]\"],";
	assert_memory_equal(strings_of(data), strings, strlen(strings));
	page_expect(data, "labels", "name", "1 2 3 5 8 10");
	page_expect(data, "labels", "module", "0 0 4 6 9 11");
	page_expect(data, "labels", "kind", "127 127 2 131 3 1");
	page_expect(data, "labels", "twin", "0 0 0 0 0 0");
	page_expect(data, "labels", "plain", "0 0 0 0 0 0");
	page_expect(data, "sources", "file", "0 7");
	page_expect(data, "sources", "line", "0 7");
	page_expect(data, "nodes", "up", "0 0 0 1 0 0");
	page_expect(data, "nodes", "label", "0 1 5 2 4 3");
	page_expect(data, "nodes", "source", "0 0 0 0 0 1");
	page_expect(data, "counts", "step", "2 1 2");
	page_expect(data, "counts", "samples", "1 3 2");
}

/* Names in full, and by what they are counted: f in four pieces, and f of another file. */
static void check_pieces(bool exact, const char *twin, const char *plain)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t both;

	made_init(&m);
	m.view.options.merge = exact ? VIEW_MERGE_NONE : VIEW_MERGE_GRAPHS;
	frames[0] = made_frame(&m, FRAME_KIND_NATIVE, "f", "/a");
	frames[0].flags = FRAME_INLINED;
	frames[1] = made_frame(&m, FRAME_KIND_NATIVE, "f.cold", "/a");
	both = made_location(&m, LOCATION_NATIVE, 0, 9);
	assert_int_equal(frame_table_set(m.frames, both, frames, 2), 0);
	made_stack(&m, 0, "p", 1, STACK(both));
	made_stack(&m, 0, "p", 1, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a")));
	made_stack(&m, 0, "p", 1, STACK(made_named(&m, LOCATION_NATIVE, 2, "f.isra.0", "/a")));
	made_stack(&m, 0, "p", 1, STACK(made_named(&m, LOCATION_NATIVE, 3, "f", "/b")));
	AUTO_FREE char *page = page_of(&m);
	AUTO_FREE char *data = page_data_of(page);
	/* all, p, f inlined, f.cold, f, f.isra.0, f of b */
	page_expect(data, "labels", "kind", "127 127 130 2 2 2 2");
	page_expect(data, "labels", "twin", twin);
	page_expect(data, "labels", "plain", plain);
	page_expect(data, "labels", "tier", "0 0 10 9 0 7 0");
}

CASE(labels_of_a_function_are_counted_together)
{
	check_pieces(false, "0 0 0 1 2 3 0", "0 0 0 3 0 3 0");
	check_pieces(true, "0 0 0 0 0 0 0", "0 0 0 0 0 0 0");
}

/* Samples are counted per thread, even if the frames are the same. */
CASE(samples_are_counted_by_thread)
{
	CLEANUP(made_deinit) struct made_view m;
	struct sink_sample samples[5];
	size_t size;

	made_init(&m);
	uint32_t a =
		made_stack(&m, 0, "p", 3, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a")));
	uint32_t b =
		made_stack(&m, 0, "p", 2, STACK(made_named(&m, LOCATION_NATIVE, 2, "f", "/a")));
	const struct sink_sample made[] = {{.node = a, .pid = 100, .tid = 102},
					   {.node = a, .pid = 100, .tid = 101},
					   {.node = a, .pid = 100, .tid = 102},
					   {.node = b, .pid = 100, .tid = 102},
					   {.node = b, .pid = 300, .tid = 300}};
	memcpy(samples, made, sizeof(made));
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i].comm = made_string(&m, i == 1 ? "main" : "helper");
	free(made_output_of(&m, &sink_html, samples, 5, &size));
	m.threads.threads.data[1].unit = made_string(&m, "/");
	m.threads.threads.data[2].container = made_string(&m, "web");
	AUTO_FREE char *page = made_output(&m, &sink_html);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "threads", "pid", "100 100 300");
	page_expect(data, "threads", "tid", "102 101 300");
	page_expect(data, "threads", "container", "6 8 9");
	page_expect(data, "nodes", "up", "0 0 0"); /* all > p > f */
	page_expect(data, "counts", "step", "2 0 0 0");
	page_expect(data, "counts", "group", "0 0 1 2");
	page_expect(data, "counts", "samples", "2 1 1 1");
}

/* If the view separates threads, each thread has its own subtree and samples. */
CASE(threads_that_stand_apart_have_their_samples)
{
	CLEANUP(made_deinit) struct made_view m;
	struct sink_sample sample = {.pid = 10};

	made_init(&m);
	sample.node =
		made_stack(&m, 0, "p", 3, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a")));
	sample.comm = made_string(&m, "p");
	for (int i = 0; i < 3; i++) {
		sample.tid = i ? 10 : 11;
		made_count(&m, &sample);
	}
	m.view.options.by = VIEW_BY_TID;
	AUTO_FREE char *page = made_output(&m, &sink_html);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "threads", "tid", "11 10");
	page_expect(data, "nodes", "up", "0 0 0 2 0"); /* all > p-10/10 > f, p-10/11 > f */
	page_expect(data, "counts", "step", "2 2");
	page_expect(data, "counts", "group", "1 0");
	page_expect(data, "counts", "samples", "2 1");
}

/* Samples by time refer to the page's counts, also if the view merges counts by hiding frames. */
CASE(samples_have_their_times)
{
	CLEANUP(made_deinit) struct made_view m;
	struct sink_sample samples[6];
	size_t size;

	made_init(&m);
	uint32_t f = made_named(&m, LOCATION_NATIVE, 1, "f", "/a");
	uint32_t kernel = made_named(&m, LOCATION_KERNEL, 2, "k", "[kernel.kallsyms]");
	uint32_t z = made_stack(&m, 0, "z", 2, STACK(f)), a = made_stack(&m, 1, "a", 3, STACK(f));
	uint32_t k = made_stack(&m, 1, "a", 1, STACK(kernel, f));
	const struct sink_sample made[] = {
		{.node = z, .time_ns = 0},	   {.node = a, .time_ns = 110000000},
		{.node = k, .time_ns = 120000000}, {.node = a, .time_ns = 120000000},
		{.node = a, .time_ns = 99999999},  {.node = z, .time_ns = 2000000000},
	};
	memcpy(samples, made, sizeof(made));
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		samples[i].time_ns += m.info.start_ns;
		samples[i].pid = samples[i].tid = 100;
	}
	AUTO_FREE char *page = made_output_of(&m, &sink_html, samples, 6, &size);
	AUTO_FREE char *data = page_data_of(page);
	/* all > a > f > k, z > f: the counts are those of f and k below a, and of f below z. */
	page_expect(data, "ticks", "step", "0 1 1 38");
	page_expect(data, "ticks", "slices", "1 1 2 1");
	page_expect(data, "slices", "step", "2 0 0 1 2");
	page_expect(data, "several", "step", "2");
	page_expect(data, "several", "more", "1");
	m.view.options.kernel = VIEW_KERNEL_HIDDEN;
	m.view.options.by = VIEW_BY_TID;
	AUTO_FREE char *hidden = made_output(&m, &sink_html);
	AUTO_FREE char *hidden_data = page_data_of(hidden);
	page_expect(hidden_data, "slices", "step", "0 1 1 0");
	page_expect(hidden_data, "several", "more", "2");
}

/* Old ticks are longer: each begins at a multiple of its length. */
CASE(long_ticks_have_their_levels)
{
	CLEANUP(made_deinit) struct made_view m;
	struct sink_sample sample = {.pid = 1, .tid = 1, .time_ns = 1000000000};
	uint32_t ends[TIME_SLICES_LEVELS] = {12, 8};

	made_init(&m);
	sample.node =
		made_stack(&m, 0, "p", 20, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a")));
	for (int i = 0; i < 15; i++, sample.time_ns += TIME_SLICES_TICK_NS)
		made_count(&m, &sample);
	assert_int_equal(time_slices_follow(&m.slices, ends), 0);
	AUTO_FREE char *page = made_output(&m, &sink_html);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "ticks", "step", "0 4 4 2 2 1 1");
	page_expect(data, "several", "more", "3 3 1 1");
	page_expect(data, "levels", "end", "12 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

CASE(frames_merge_by_name_module_and_kind)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_stack(&m, 0, "p", 1, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a")));
	made_stack(&m, 1, "p", 2, STACK(made_named(&m, LOCATION_NATIVE, 2, "f", "/a")));
	made_stack(&m, 0, "p", 4, STACK(made_named(&m, LOCATION_NATIVE, 3, "f", "/b")));
	made_stack(&m, 0, "p", 8, STACK(made_named(&m, LOCATION_JIT, 4, "f", "/b")));
	made_stack(&m, 0, "p", 0, STACK(made_named(&m, LOCATION_JIT, 5, "unseen", "/b")));
	AUTO_FREE char *page = page_of(&m);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "nodes", "up", "0 0 0 1 1");
	page_expect(data, "counts", "step",
		    "2 0 1 1"); /* two nodes of the profile are one of the page */
	page_expect(data, "counts", "samples", "1 2 4 8");
	assert_null(strstr(data, "unseen"));
}

/* A node merges many locations, and shows the line with most samples. */
CASE(a_node_shows_its_hottest_line)
{
	CLEANUP(made_deinit) struct made_view m;
	static const uint64_t samples[] = {3, 9, 5};

	made_init(&m);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t location = made_location(&m, LOCATION_NATIVE, 0, i);
		struct frame frame = made_frame(&m, FRAME_KIND_NATIVE, "f", "/a");

		frame.file = made_string(&m, "f.c");
		frame.line = 10 + i;
		assert_int_equal(frame_table_set(m.frames, location, &frame, 1), 0);
		made_stack(&m, 0, "p", samples[i], STACK(location));
	}
	AUTO_FREE char *page = page_of(&m);
	AUTO_FREE char *data = page_data_of(page);
	page_expect(data, "sources", "line", "0 11");
}

CASE(no_name_gets_out_of_the_data)
{
	CLEANUP(made_deinit) struct made_view m, empty;
	uint32_t brackets = 0, empty_brackets = 0;

	made_init(&m);
	made_init(&empty);
	m.info.command = m.info.host = "</script><script>alert(1)</script>";
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = made_nasty_names[i];

		made_stack(&m, 0, name, 1, STACK(made_named(&m, LOCATION_NATIVE, i, name, name)));
		made_process(&m, i, name, 1, 0, 0, 0);
	}
	AUTO_FREE char *page = page_of(&m);
	AUTO_FREE char *empty_page = page_of(&empty);
	for (char *c = page; *c; c++)
		brackets += *c == '<';
	for (char *c = empty_page; *c; c++)
		empty_brackets += *c == '<';
	assert_int_equal(brackets, empty_brackets);
	AUTO_FREE char *data = page_data_of(page);
	assert_int_equal(data[strlen(data) - 1], '}');
	for (char *c = data; *c; c++)
		assert_true((uint8_t)*c >= 0x20);
}

CASE(the_page_asks_for_nothing)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	AUTO_FREE char *page = page_of(&m);
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_non_null(strstr(page, "connect-src 'none'; base-uri 'none'"));
	assert_null(strstr(page, "@CONNECT@"));
	assert_null(strstr(page, "://"));
	assert_null(strstr(page, " src="));
	assert_null(strstr(page, "url("));
	assert_null(strstr(page, "@import"));
	assert_null(strstr(page, "innerHTML"));
	assert_null(strstr(page, "insertAdjacentHTML"));
	assert_null(strstr(page, "@PROFILE@"));
	assert_non_null(strstr(page, "</html>\n"));
}

/* The page has no texts of its own for the ledger: they are those of the summary. */
CASE(the_ledger_has_the_words_of_the_summary)
{
	CLEANUP(made_deinit) struct made_view m;
	char expected[256];

	made_init(&m);
	made_full_ledger(&m);
	AUTO_FREE char *page = page_of(&m);
	for (int i = 0; i < LEDGER_CUT_COUNT; i++) {
		snprintf(expected, sizeof(expected), "\"%s\":\"%s\"", ledger_cuts[i].key,
			 ledger_cuts[i].words);
		assert_non_null(strstr(page, expected));
		snprintf(expected, sizeof(expected), "\"%s\":\"%s", ledger_cuts[i].key,
			 ledger_cuts[i].means);
		assert_non_null(strstr(strstr(page, "\"about\""), expected));
	}
	for (int i = 0; i < JITBPF_COUNTER_MAX; i++) {
		snprintf(expected, sizeof(expected), "\"%s\":\"%s\"", ledger_counters[i].key,
			 ledger_counters[i].words);
		assert_non_null(strstr(page, expected));
	}
}

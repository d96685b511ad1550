/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A view built by hand, for tests of sinks. Aborts if memory is short. */
#ifndef TESTS_MADE_VIEW_H
#define TESTS_MADE_VIEW_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "profile/ledger.h"
#include "sink/sink.h"

#define MADE __attribute__((unused)) static

struct made_view {
	struct run_info info;
	struct string_pool *strings;
	struct module_table modules;
	struct location_table locations;
	struct frame_table *frames;
	struct profile profile;
	struct thread_counts threads;
	struct time_slices slices;
	struct code_lane lane;
	struct ledger ledger;
	struct view view; /* of the objects here */
};

MADE void made_init(struct made_view *m)
{
	*m = (struct made_view){
		.info = {.start_ns = 1000000000,
			 .duration_ns = 2500000000,
			 .wall_clock_ns = 1700000000000000000,
			 .freq_hz = 99,
			 .cpus = 2,
			 .event = "cpu-clock",
			 .command = "engine --fast",
			 .host = "box",
			 .kernel = "6.18.0"},
	};
	assert_int_equal(string_pool_create(&m->strings), 0);
	assert_int_equal(frame_table_create(m->strings, &m->frames), 0);
	m->view = (struct view){.info = &m->info,
				.strings = m->strings,
				.modules = &m->modules,
				.locations = &m->locations,
				.frames = m->frames,
				.profile = &m->profile,
				.threads = &m->threads,
				.slices = &m->slices,
				.lane = &m->lane,
				.ledger = &m->ledger};
}

MADE void made_deinit(struct made_view *m)
{
	ledger_deinit(&m->ledger);
	profile_deinit(&m->profile);
	thread_counts_deinit(&m->threads);
	time_slices_deinit(&m->slices);
	frame_table_destroy(m->frames);
	location_table_deinit(&m->locations);
	module_table_deinit(&m->modules);
	string_pool_destroy(m->strings);
}

MADE uint32_t made_string(struct made_view *m, const char *s)
{
	uint32_t number;

	assert_int_equal(string_pool_add(m->strings, s, strlen(s), &number), 0);
	return number;
}

MADE uint32_t made_location(struct made_view *m, enum location_kind kind, uint64_t owner,
			    uint64_t offset)
{
	struct location location = {.kind = kind, .owner = owner, .offset = offset};
	uint32_t number;

	assert_int_equal(location_table_add(&m->locations, &location, &number), 0);
	return number;
}

/* Returns a frame; name, module and file may be "". */
MADE struct frame made_frame(struct made_view *m, enum frame_kind kind, const char *name,
			     const char *module)
{
	return (struct frame){.name = made_string(m, name),
			      .module = made_string(m, module),
			      .kind = (uint16_t)kind,
			      .symbol_offset = 0x10};
}

/* Returns a location with one frame of a name. */
MADE uint32_t made_named(struct made_view *m, enum location_kind kind, uint64_t offset,
			 const char *name, const char *module)
{
	static const enum frame_kind kinds[] = {
		[LOCATION_KERNEL] = FRAME_KIND_KERNEL,	 [LOCATION_KERNEL_CODE] = FRAME_KIND_KERNEL,
		[LOCATION_NATIVE] = FRAME_KIND_NATIVE,	 [LOCATION_JIT] = FRAME_KIND_JIT,
		[LOCATION_UNKNOWN] = FRAME_KIND_UNKNOWN,
	};
	uint32_t location = made_location(m, kind, 0, offset);
	struct frame frame = made_frame(m, kinds[kind], name, module);

	assert_int_equal(frame_table_set(m->frames, location, &frame, 1), 0);
	return location;
}

/* Count samples of a stack, leaf first. Returns its node. */
MADE uint32_t made_stack(struct made_view *m, uint32_t process, const char *comm, uint64_t samples,
			 uint32_t count, const uint32_t *locations)
{
	uint32_t node;

	assert_int_equal(profile_node_of(&m->profile, process, made_string(m, comm), locations,
					 count, &node),
			 0);
	m->profile.nodes.data[node].self += samples;
	return node;
}

#define STACK(...)                                                                                 \
	sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[])             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* Count a sample of a thread at its node; made_stack() has counted it in the profile. */
MADE void made_count(struct made_view *m, const struct sink_sample *sample)
{
	const struct sampled_thread thread = {sample->pid, sample->tid, sample->comm};
	uint64_t since =
		sample->time_ns > m->info.start_ns ? sample->time_ns - m->info.start_ns : 0;
	uint32_t number, count;

	assert_int_equal(thread_counts_thread(&m->threads, &thread, &number), 0);
	assert_int_equal(thread_counts_add(&m->threads, sample->node, number, 1, &count), 0);
	assert_int_equal(time_slices_add(&m->slices, since, count, 1), 0);
}

/* Returns the output of a sink. The caller frees it. The samples, if any, become the view's. */
MADE char *made_output_of(struct made_view *m, const struct sink_ops *ops,
			  const struct sink_sample *samples, size_t sample_count, size_t *ret_bytes)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct sink *sink;

	assert_non_null(out);
	assert_int_equal(ops->create(out, &sink), 0);
	if (sample_count) {
		thread_counts_deinit(&m->threads);
		time_slices_deinit(&m->slices);
	}
	for (size_t i = 0; i < sample_count; i++) {
		made_count(m, &samples[i]);
		if (ops->sample)
			assert_int_equal(ops->sample(sink, &m->view, &samples[i]), 0);
	}
	assert_int_equal(ops->finish(sink, &m->view), 0);
	ops->destroy(sink);
	fclose(out);
	*ret_bytes = size;
	return text;
}

/* The same, written twice; the second output must have the same bytes. */
MADE char *made_output(struct made_view *m, const struct sink_ops *ops)
{
	size_t size, again_size;
	char *text = made_output_of(m, ops, NULL, 0, &size);
	char *again = made_output_of(m, ops, NULL, 0, &again_size);

	assert_int_equal(size, again_size);
	assert_memory_equal(text, again, size);
	free(again);
	return text;
}

/* On a full disk, the sink must return the error. */
MADE void made_check_full_disk(struct made_view *m, const struct sink_ops *ops)
{
	FILE *out = fopen("/dev/full", "w");
	struct sink *sink;
	int err;

	assert_non_null(out);
	assert_int_equal(ops->create(out, &sink), 0);
	err = ops->finish(sink, &m->view);
	assert_true(err == -ENOSPC || err == -EIO);
	ops->destroy(sink);
	fclose(out);
}

/* Names that break output which is not escaped. */
MADE const char *const made_nasty_names[] = {
	"semi;colon",
	"two words",
	"line\nbreak",
	"tab\there",
	"bell\a esc\x1b[31m",
	"quote\" back\\slash",
	"</script><script>alert(1)</script>",
	"<img src=x onerror=\"document.title='owned'\">",
	"bad\xff utf8\xc0\xaf\xed\xa0\x80",
	"cut\xe2\x82",
	"right\xe2\x80\xae to left",
	"mark\xe2\x80\x8f",
	"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
	"separator\xe2\x80\xa8line",
	"amp&amp; <!-- &lt;",
	"emoji \xf0\x9f\x94\xa5",
	"@PROFILE@",
	"c1 \xc2\x9b"
	"31m",
	"del\x7f",
};
#define MADE_NASTY_COUNT (sizeof(made_nasty_names) / sizeof(made_nasty_names[0]))

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "tests/unit/cases.h"

#define HEAD                                                                                       \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"exporter\":\"jitbpf\",\"name\":\"engine --fast\",\"activeProfileIndex\":"

/* Samples of one thread, one per node. */
static char *speedscope_of(struct made_view *m, const uint32_t *nodes, size_t count)
{
	AUTO_FREE struct sink_sample *samples = calloc(count + 1, sizeof(*samples));
	size_t size;

	assert_non_null(samples);
	for (size_t i = 0; i < count; i++)
		samples[i] = (struct sink_sample){.time_ns = i,
						  .pid = 7,
						  .tid = 7,
						  .comm = made_string(m, "e"),
						  .node = nodes[i]};
	return made_output_of(m, &sink_speedscope, samples, count, &size);
}

CASE(each_thread_is_a_profile)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t leaf, caller, node, idle;
	size_t size;

	made_init(&m);
	m.info.freq_hz = 100;
	leaf = made_named(&m, LOCATION_KERNEL, 1, "sys_read", "[kernel.kallsyms]");
	caller = made_location(&m, LOCATION_NATIVE, 0, 2);
	frames[0] = made_frame(&m, FRAME_KIND_NATIVE, "inner", "/bin/p");
	frames[0].flags = FRAME_INLINED;
	frames[0].file = made_string(&m, "p.h");
	frames[0].line = 12;
	frames[1] = made_frame(&m, FRAME_KIND_NATIVE, "main", "/bin/p");
	assert_int_equal(frame_table_set(m.frames, caller, frames, 2), 0);
	node = made_stack(&m, 0, "p", 4, STACK(leaf, caller));
	idle = made_stack(&m, 0, "p", 1, 0, NULL);

	const struct sink_sample samples[] = {
		{.pid = 7, .tid = 8, .comm = made_string(&m, "w"), .node = node},
		{.pid = 7, .tid = 8, .comm = made_string(&m, "w"), .node = node},
		{.pid = 7, .tid = 7, .comm = made_string(&m, "p"), .node = node},
		{.pid = 7, .tid = 8, .comm = made_string(&m, "w"), .node = idle},
		{.pid = 7, .tid = 8, .comm = made_string(&m, "w"), .node = node},
	};
	AUTO_FREE char *text = made_output_of(&m, &sink_speedscope, samples, 5, &size);
	assert_string_equal(
		text, HEAD "1,\"shared\":{\"frames\":[{\"name\":\"inner\",\"file\":\"p.h\"},"
			   "{\"name\":\"main\",\"file\":\"/bin/p\"},"
			   "{\"name\":\"sys_read\",\"file\":\"[kernel.kallsyms]\"}]},\"profiles\":["
			   "{\"type\":\"sampled\",\"name\":\"p 7/7\",\"unit\":\"nanoseconds\","
			   "\"startValue\":0,\"endValue\":10000000,"
			   "\"samples\":[[1,0,2]],\"weights\":[10000000]},"
			   "{\"type\":\"sampled\",\"name\":\"p: w 7/8\",\"unit\":\"nanoseconds\","
			   "\"startValue\":0,\"endValue\":40000000,"
			   "\"samples\":[[1,0,2],[],[1,0,2]],"
			   "\"weights\":[20000000,10000000,10000000]}]}");
}

/* Lines do not make separate frames of a function. */
CASE(a_function_is_one_frame)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t nodes[3];

	made_init(&m);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t location = made_location(&m, LOCATION_NATIVE, 0, i);
		struct frame frame =
			made_frame(&m, FRAME_KIND_NATIVE, "f", i < 2 ? "/bin/p" : "/bin/q");

		frame.line = i + 1;
		assert_int_equal(frame_table_set(m.frames, location, &frame, 1), 0);
		nodes[i] = made_stack(&m, 0, "e", 1, STACK(location));
	}
	AUTO_FREE char *text = speedscope_of(&m, nodes, 3);
	assert_non_null(strstr(text, "\"frames\":[{\"name\":\"f\",\"file\":\"/bin/p\"},"
				     "{\"name\":\"f\",\"file\":\"/bin/q\"}]"));
	assert_non_null(strstr(text, "\"samples\":[[0],[1]]"));
}

CASE(samples_of_an_unknown_rate_are_counted)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t nodes[2];

	made_init(&m);
	m.info.freq_hz = 0;
	m.info.command = "";
	nodes[0] = nodes[1] = made_stack(&m, 0, "e", 2, 0, NULL);
	AUTO_FREE char *text = speedscope_of(&m, nodes, 2);
	assert_non_null(strstr(text, "\"name\":\"box\""));
	assert_non_null(strstr(text, "\"unit\":\"none\",\"startValue\":0,\"endValue\":2,"
				     "\"samples\":[[]],\"weights\":[2]"));
}

CASE(nothing_sampled_is_no_profile)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	AUTO_FREE char *text = made_output(&m, &sink_speedscope);
	assert_string_equal(text, HEAD "0,\"shared\":{\"frames\":[]},\"profiles\":[]}");
}

CASE(no_name_breaks_the_format)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = m.info.command = made_nasty_names[i];
		uint32_t node = made_stack(&m, 0, name, 1,
					   STACK(made_named(&m, LOCATION_NATIVE, i, name, name)));
		AUTO_FREE char *text = speedscope_of(&m, &node, 1);
		int quotes = 0;

		for (char *c = text; *c; c++) {
			quotes += *c == '"';
			assert_true((uint8_t)*c >= 0x20 && *c != 0x7f && *c != '<');
		}
		assert_int_equal(quotes, 2 * (16 + 8)); /* of keys and values */
	}
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_check_full_disk(&m, &sink_speedscope);
}

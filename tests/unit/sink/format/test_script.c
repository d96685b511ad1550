/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "tests/unit/cases.h"

static char *script_of(struct made_view *m, const struct sink_sample *samples, size_t count)
{
	size_t size;

	return made_output_of(m, &sink_script, samples, count, &size);
}

/* Output of perf 6.1, with other numbers. */
CASE(the_layout_is_that_of_perf_script)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t kernel, leaf, caller;

	made_init(&m);
	kernel = made_named(&m, LOCATION_KERNEL, 0xffffffff81000010, "do_syscall_64",
			    "[kernel.kallsyms]");
	leaf = made_named(&m, LOCATION_NATIVE, 0x1234, "getppid", "/usr/lib/libc.so.6");
	caller = made_location(&m, LOCATION_NATIVE, 1, 0x11b8);
	frames[0] = made_frame(&m, FRAME_KIND_NATIVE, "inner", "/my prog");
	frames[0].flags = FRAME_INLINED;
	frames[1] = made_frame(&m, FRAME_KIND_NATIVE, "main", "/my prog");
	frames[1].symbol_offset = 0x20;
	assert_int_equal(frame_table_set(m.frames, caller, frames, 2), 0);

	const uint64_t addresses[] = {0xffffffff81000010, 0x7fb8a0001234, 0x5593c46011b9};
	const struct sink_sample sample = {
		.time_ns = 1872709945337,
		.pid = 10070,
		.tid = 10071,
		.cpu = 1,
		.comm = made_string(&m, "my prog"),
		.node = made_stack(&m, 0, "my prog", 1, STACK(kernel, leaf, caller)),
		.addresses = addresses,
		.kernel_frames = 1,
		.user_frames = 2,
	};
	AUTO_FREE char *text = script_of(&m, &sample, 1);
	assert_string_equal(text, "my prog 10070/10071 [001]  1872.709945337: cpu-clock: \n"
				  "\tffffffff81000010 do_syscall_64+0x10 ([kernel.kallsyms])\n"
				  "\t    7fb8a0001234 getppid+0x10 (/usr/lib/libc.so.6)\n"
				  "\t    5593c46011b9 inner+0x21 (inlined)\n"
				  "\t    5593c46011b9 main+0x21 (/my prog)\n"
				  "\n");
}

CASE(return_addresses_are_one_behind_what_was_looked_up)
{
	CLEANUP(made_deinit) struct made_view m;
	struct code_region region = {.value = {.refs = 1}, .address = 0x7f0000001000};
	struct location jit = {
		.kind = LOCATION_JIT, .owner = 5, .offset = 0x40, .code = &region.value};
	struct frame frame;
	uint32_t number;

	made_init(&m);
	assert_int_equal(location_table_add(&m.locations, &jit, &number), 0);
	frame = made_frame(&m, FRAME_KIND_JIT, "App.run", "");
	frame.symbol_offset = 0x40;
	assert_int_equal(frame_table_set(m.frames, number, &frame, 1), 0);

	const uint64_t pc[] = {0x7f0000001040}, after_call[] = {0x7f0000001041};
	uint32_t node = made_stack(&m, 0, "e", 2, STACK(number));
	const struct sink_sample samples[] = {
		{.pid = 7,
		 .tid = 7,
		 .comm = made_string(&m, "e"),
		 .node = node,
		 .addresses = pc,
		 .user_frames = 1},
		{.pid = 7,
		 .tid = 7,
		 .comm = made_string(&m, "e"),
		 .node = node,
		 .addresses = after_call,
		 .user_frames = 1},
	};
	AUTO_FREE char *text = script_of(&m, samples, 2);
	assert_string_equal(text, "e      7/7     [000]     0.000000000: cpu-clock: \n"
				  "\t    7f0000001040 App.run+0x40 ([jit])\n"
				  "\n"
				  "e      7/7     [000]     0.000000000: cpu-clock: \n"
				  "\t    7f0000001041 App.run+0x41 ([jit])\n"
				  "\n");
}

CASE(what_is_not_known_is_unknown)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t node;

	made_init(&m);
	node = made_stack(&m, 0, "p", 1,
			  STACK(made_location(&m, LOCATION_UNKNOWN, 0, 0x10),
				made_location(&m, LOCATION_ANON, 0, 0x20)));
	const uint64_t addresses[] = {0x10, 0x21};
	const struct sink_sample samples[] = {
		{.comm = made_string(&m, "pp"),
		 .node = node,
		 .addresses = addresses,
		 .user_frames = 2},
		{.comm = 0, .node = made_stack(&m, 0, "p", 1, 0, NULL), .addresses = addresses},
		{.comm = made_string(&m, " a\nb"),
		 .node = node,
		 .addresses = addresses,
		 .user_frames = 0},
	};
	AUTO_FREE char *text = script_of(&m, samples, 3);
	assert_string_equal(text, "pp     0/0     [000]     0.000000000: cpu-clock: \n"
				  "\t              10 [unknown] ([unknown])\n"
				  "\t              21 [unknown] (//anon)\n"
				  "\n"
				  "[unknown]     0/0     [000]     0.000000000: cpu-clock: \n"
				  "\n"
				  "?a?b     0/0     [000]     0.000000000: cpu-clock: \n"
				  "\n");
}

CASE(a_cut_stack_ends_in_a_mark)
{
	CLEANUP(made_deinit) struct made_view m;
	const uint64_t addresses[] = {0x10, 0x21};
	uint32_t cut;

	made_init(&m);
	cut = made_location(&m, LOCATION_CUT, 0, 0);
	const struct sink_sample samples[] = {
		{.comm = made_string(&m, "pp"),
		 .node = made_stack(&m, 0, "p", 1,
				    STACK(made_location(&m, LOCATION_UNKNOWN, 0, 0x10),
					  made_location(&m, LOCATION_ANON, 0, 0x20), cut)),
		 .addresses = addresses,
		 .user_frames = 2},
	};
	AUTO_FREE char *text = script_of(&m, samples, 1);
	assert_string_equal(text, "pp     0/0     [000]     0.000000000: cpu-clock: \n"
				  "\t              10 [unknown] ([unknown])\n"
				  "\t              21 [unknown] (//anon)\n"
				  "\t               0 [cut] ([cut])\n"
				  "\n");
}

CASE(each_sample_keeps_its_own_addresses)
{
	CLEANUP(made_deinit) struct made_view m;
	enum { SAMPLES = 3000 };
	AUTO_FREE struct sink_sample *samples = calloc(SAMPLES, sizeof(*samples));
	uint64_t(*addresses)[3] = calloc(SAMPLES, sizeof(*addresses));
	uint32_t node, comm;
	char *text, *rest, line[64];

	made_init(&m);
	assert_non_null(samples);
	assert_non_null(addresses);
	node = made_stack(&m, 0, "p", SAMPLES,
			  STACK(made_named(&m, LOCATION_NATIVE, 1, "a", ""),
				made_named(&m, LOCATION_NATIVE, 2, "b", ""),
				made_named(&m, LOCATION_NATIVE, 3, "c", "")));
	comm = made_string(&m, "pp");
	for (uint64_t i = 0; i < SAMPLES; i++) {
		addresses[i][0] = 0x1000 + i;
		addresses[i][1] = 0x2000 + i % 7;
		addresses[i][2] = 0x3000 + i % 3;
		samples[i] = (struct sink_sample){
			.comm = comm, .node = node, .addresses = addresses[i], .user_frames = 3};
	}
	text = script_of(&m, samples, SAMPLES);
	rest = text;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < 3; k++) {
			snprintf(line, sizeof(line), "%16lx %c+0x", (unsigned long)addresses[i][k],
				 'a' + k);
			rest = strstr(rest, line);
			assert_non_null(rest);
		}
	}
	free(text);
	free(addresses);
}

CASE(no_name_breaks_the_format)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.event = "my event\n";
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = made_nasty_names[i];
		const uint64_t ip = 0x1000;
		const struct sink_sample sample = {
			.comm = made_string(&m, name),
			.node = made_stack(&m, 0, name, 1,
					   STACK(made_named(&m, LOCATION_NATIVE, i, name, name))),
			.addresses = &ip,
			.user_frames = 1,
		};
		AUTO_FREE char *text = script_of(&m, &sample, 1);
		int lines = 0;

		for (char *c = text; *c; c++) {
			lines += *c == '\n';
			assert_true((uint8_t)*c >= 0x20 || *c == '\n' || *c == '\t');
			assert_true(*c != '\t' || c[-1] == '\n');
		}
		assert_int_equal(lines, 3);
		assert_non_null(strstr(text, ": my_event?: \n"));
	}
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;
	FILE *out = fopen("/dev/full", "w");
	struct sink *sink;
	int err;

	made_init(&m);
	const struct sink_sample sample = {.node = made_stack(&m, 0, "p", 1, 0, NULL)};
	assert_int_equal(sink_script.create(out, &sink), 0);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(sink_script.sample(sink, &m.view, &sample), 0);
	err = sink_script.finish(sink, &m.view);
	assert_true(err == -ENOSPC || err == -EIO);
	sink_script.destroy(sink);
	fclose(out);
}

/* Of samples at one time, the first to arrive is the first. */
CASE(samples_whose_stacks_came_late_are_in_order)
{
	const uint64_t times_ns[] = {2000000000, 3000000000, 1000000000, 2000000000};
	const uint64_t ip = 0x1000;
	CLEANUP(made_deinit) struct made_view m;
	struct sink_sample samples[ARRAY_SIZE(times_ns)] = {0};
	const char *at;
	uint32_t node;

	made_init(&m);
	node = made_stack(&m, 0, "p", ARRAY_SIZE(times_ns),
			  STACK(made_named(&m, LOCATION_NATIVE, 0x1000, "f", "/lib/f")));
	for (uint32_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = (struct sink_sample){
			.time_ns = times_ns[i],
			.pid = 7,
			.tid = 10 + i,
			.comm = made_string(&m, "pp"),
			.node = node,
			.addresses = &ip,
			.user_frames = 1,
		};
	AUTO_FREE char *text = script_of(&m, samples, ARRAY_SIZE(samples));
	at = strstr(text, "pp     7/12    [000]     1.000000000");
	assert_ptr_equal(at, text);
	at = strstr(at, "pp     7/10    [000]     2.000000000");
	assert_non_null(at);
	at = strstr(at, "pp     7/13    [000]     2.000000000");
	assert_non_null(at);
	assert_non_null(strstr(at, "pp     7/11    [000]     3.000000000"));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/profile_proto.h"

#define PERIOD_NS (1000000000 / 99)

/* Returns a sample of a node that the profile has counted. */
static struct sink_sample sample_of(struct made_view *m, uint32_t node, uint32_t pid, uint32_t tid,
				    const char *comm)
{
	return (struct sink_sample){
		.node = node, .pid = pid, .tid = tid, .comm = made_string(m, comm)};
}

/* Write the profile twice, which must give the same bytes, and read it. */
static struct profile_proto made_profile(struct made_view *m, const struct sink_sample *samples,
					 size_t count)
{
	size_t size, again_size;
	AUTO_FREE char *file = made_output_of(m, &sink_pprof, samples, count, &size);
	AUTO_FREE char *again = made_output_of(m, &sink_pprof, samples, count, &again_size);

	assert_int_equal(size, again_size);
	assert_memory_equal(file, again, size);
	return pp_read(file, size);
}

static struct pb_bytes pp_sample(const struct profile_proto *p, size_t index)
{
	return pb_inner(p->all, PP_SAMPLE, index);
}

/* Returns a sample's value: kind 0 is samples, 1 is ns. */
static uint64_t pp_value(struct pb_bytes sample, int kind)
{
	struct pb_bytes packed = pb_inner(sample, 2, 0);
	uint64_t values[2] = {pb_varint(&packed), pb_varint(&packed)};

	assert_true(packed.at == packed.end);
	return values[kind];
}

/* Returns location `index` of a sample, 0 for the leaf; at is NULL beyond the last. */
static struct pb_bytes pp_location(const struct profile_proto *p, struct pb_bytes sample, int index)
{
	struct pb_bytes packed = pb_inner(sample, 1, 0);

	while (packed.at != packed.end) {
		uint64_t id = pb_varint(&packed);

		if (!index--)
			return pp_by_id(p, PP_LOCATION, id);
	}
	return (struct pb_bytes){0};
}

static struct pb_bytes pp_function(const struct profile_proto *p, struct pb_bytes location,
				   int line)
{
	return pp_by_id(p, PP_FUNCTION, pb_number(pb_inner(location, 4, (size_t)line), 1));
}

static const char *pp_name(const struct profile_proto *p, struct pb_bytes location, int line)
{
	return pp_string(p, pp_function(p, location, line), 2);
}

/* Returns a sample's label of a key; it must exist. */
static struct pb_bytes pp_label(const struct profile_proto *p, struct pb_bytes sample,
				const char *key)
{
	for (size_t i = 0; i < pb_count(sample, 3); i++) {
		struct pb_bytes label = pb_inner(sample, 3, i);

		if (!strcmp(pp_string(p, label, 1), key))
			return label;
	}
	fail_msg("no label %s", key);
	return (struct pb_bytes){0};
}

CASE(the_run_is_said)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	struct pb_bytes type;

	made_init(&m);
	p = made_profile(&m, NULL, 0);
	assert_int_equal(pb_count(p.all, PP_SAMPLE_TYPE), 2);
	type = pb_inner(p.all, PP_SAMPLE_TYPE, 0);
	assert_string_equal(pp_string(&p, type, 1), "samples");
	assert_string_equal(pp_string(&p, type, 2), "count");
	type = pb_inner(p.all, PP_SAMPLE_TYPE, 1);
	assert_string_equal(pp_string(&p, type, 1), "cpu");
	assert_string_equal(pp_string(&p, type, 2), "nanoseconds");
	type = pb_inner(p.all, 11, 0);
	assert_string_equal(pp_string(&p, type, 1), "cpu");
	assert_string_equal(pp_string(&p, type, 2), "nanoseconds");
	assert_int_equal(pb_number(p.all, 9), 1700000000000000000);
	assert_int_equal(pb_number(p.all, 10), 2500000000);
	assert_int_equal(pb_number(p.all, 12), PERIOD_NS);
	assert_string_equal(pp_string(&p, p.all, 14), "cpu");
	assert_int_equal(pb_count(p.all, PP_SAMPLE), 0);
	assert_int_equal(pb_count(p.all, PP_LOCATION), 0);
}

CASE(the_ledger_is_said_in_comments)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	static const char *const expected[] = {
		"jitbpf: cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0",
		"profiled: engine --fast",
		"samples taken: 1238 = 1203 resolved + 3 [unknown] code + "
		"31 stack cut + 1 lost",
		"stack cut: 21 bad frame pointer, 10 deeper than 1,024 frames",
		"throttled: 500000000 ns in 3 intervals",
	};
	struct pb_bytes rest;
	struct pb_field field;
	size_t seen = 0;

	made_init(&m);
	made_full_ledger(&m);
	p = made_profile(&m, NULL, 0);
	rest = p.all;
	while (pb_next(&rest, &field)) {
		if (field.number != 13)
			continue;
		assert_true(seen < ARRAY_SIZE(expected));
		assert_string_equal(p.strings[field.value], expected[seen]);
		seen++;
	}
	assert_int_equal(seen, ARRAY_SIZE(expected));
}

CASE(samples_are_counted_by_stack_and_thread)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	uint32_t main_, method, sys, node, other;
	struct pb_bytes sample;

	made_init(&m);
	main_ = made_named(&m, LOCATION_NATIVE, 1, "main", "/bin/engine");
	method = made_named(&m, LOCATION_JIT, 2, "App.run", "");
	sys = made_named(&m, LOCATION_KERNEL, 3, "do_syscall_64", "[kernel.kallsyms]");
	node = made_stack(&m, 0, "engine", 3, STACK(sys, method, main_));
	other = made_stack(&m, 0, "engine", 1, STACK(method, main_));
	p = made_profile(&m,
			 (const struct sink_sample[]){sample_of(&m, node, 42, 42, "engine"),
						      sample_of(&m, node, 42, 43, "worker"),
						      sample_of(&m, other, 42, 43, "worker"),
						      sample_of(&m, node, 42, 43, "worker")},
			 4);
	assert_int_equal(pb_count(p.all, PP_SAMPLE), 3);
	sample = pp_sample(&p, 1);
	assert_int_equal(pp_value(sample, 0), 2);
	assert_int_equal(pp_value(sample, 1), 2 * PERIOD_NS);
	assert_string_equal(pp_name(&p, pp_location(&p, sample, 0), 0), "do_syscall_64");
	assert_string_equal(pp_name(&p, pp_location(&p, sample, 1), 0), "App.run");
	assert_string_equal(pp_name(&p, pp_location(&p, sample, 2), 0), "main");
	assert_null(pp_location(&p, sample, 3).at);
	assert_string_equal(pp_string(&p, pp_label(&p, sample, "process"), 2), "engine");
	assert_string_equal(pp_string(&p, pp_label(&p, sample, "thread"), 2), "worker");
	assert_string_equal(pp_string(&p, pp_label(&p, sample, "kind"), 2), "kernel");
	assert_int_equal(pb_number(pp_label(&p, sample, "pid"), 3), 42);
	assert_int_equal(pb_number(pp_label(&p, sample, "tid"), 3), 43);
	sample = pp_sample(&p, 2);
	assert_int_equal(pp_value(sample, 0), 1);
	assert_string_equal(pp_string(&p, pp_label(&p, sample, "kind"), 2), "jit");
	assert_string_equal(pp_name(&p, pp_location(&p, sample, 0), 0), "App.run");
}

/* Innermost first; only the code's own frame is not inlined. */
CASE(inlined_frames_are_lines_of_one_location)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	struct pb_bytes location, mapping;
	struct frame frames[3];
	uint32_t method, node;

	made_init(&m);
	method = made_location(&m, LOCATION_JIT, 9, 0x20);
	frames[0] = made_frame(&m, FRAME_KIND_JIT, "innermost", "[jit]");
	frames[1] = made_frame(&m, FRAME_KIND_JIT, "middle", "[jit]");
	frames[2] = made_frame(&m, FRAME_KIND_JIT, "compiled", "[jit]");
	frames[0].flags = frames[1].flags = FRAME_INLINED;
	frames[0].file = frames[2].file = made_string(&m, "a.js");
	frames[0].line = 12;
	frames[2].line = 7;
	assert_int_equal(frame_table_set(m.frames, method, frames, 3), 0);
	node = made_stack(&m, 0, "e", 1, STACK(method));
	p = made_profile(&m, &(struct sink_sample){.node = node}, 1);
	location = pp_location(&p, pp_sample(&p, 0), 0);
	assert_int_equal(pb_count(location, 4), 3);
	assert_string_equal(pp_name(&p, location, 0), "innermost");
	assert_string_equal(pp_name(&p, location, 1), "middle");
	assert_string_equal(pp_name(&p, location, 2), "compiled");
	assert_string_equal(pp_string(&p, pp_function(&p, location, 0), 3), "innermost");
	assert_string_equal(pp_string(&p, pp_function(&p, location, 0), 4), "a.js");
	assert_string_equal(pp_string(&p, pp_function(&p, location, 1), 4), "");
	assert_int_equal(pb_number(pb_inner(location, 4, 0), 2), 12);
	assert_int_equal(pb_number(pb_inner(location, 4, 1), 2), 0);
	assert_int_equal(pb_number(pb_inner(location, 4, 2), 2), 7);
	mapping = pp_by_id(&p, PP_MAPPING, pb_number(location, 2));
	assert_string_equal(pp_string(&p, mapping, 5), "[jit]");
	for (uint32_t has = 7; has <= 10; has++)
		assert_int_equal(pb_number(mapping, has), 1);
}

/* A name in a file is one function in all locations. */
CASE(functions_stand_once)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	struct frame in_file;
	uint32_t node, other;

	made_init(&m);
	other = made_location(&m, LOCATION_NATIVE, 0, 3);
	in_file = made_frame(&m, FRAME_KIND_NATIVE, "f", "/a");
	in_file.file = made_string(&m, "f.c");
	assert_int_equal(frame_table_set(m.frames, other, &in_file, 1), 0);
	node = made_stack(&m, 0, "e", 1,
			  STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/a"),
				made_named(&m, LOCATION_NATIVE, 2, "f", "/a"), other));
	p = made_profile(&m, &(struct sink_sample){.node = node}, 1);
	assert_int_equal(pb_count(p.all, PP_LOCATION), 3);
	assert_int_equal(pb_count(p.all, PP_FUNCTION), 2);
	assert_int_equal(pb_count(p.all, PP_MAPPING), 1);
}

CASE(files_have_their_build_id_and_the_program_is_first)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	struct {
		struct jitbpf_mapping mapping;
		char path[32];
	} library = {.mapping = {.build_id = {0xde, 0xad, 0x00, 0x0f}, .build_id_bytes = 4},
		     .path = "/lib/libx.so"},
	  program = {.mapping = {.inode = 1}, .path = "/bin/engine"};
	const struct module *modules[2];
	struct pb_bytes mapping, location;
	uint32_t node;

	made_init(&m);
	assert_int_equal(
		module_table_add(&m.modules, &library.mapping, (struct owner_key){0}, &modules[0]),
		0);
	assert_int_equal(
		module_table_add(&m.modules, &program.mapping, (struct owner_key){0}, &modules[1]),
		0);
	made_location(&m, LOCATION_NATIVE, 0, 0x12345); /* without a name */
	made_location(&m, LOCATION_NATIVE, 1, 0x2345);
	node = made_stack(&m, 0, "e", 1, STACK(1, 0));
	p = made_profile(&m, &(struct sink_sample){.node = node}, 1);
	mapping = pb_inner(p.all, PP_MAPPING, 0);
	assert_string_equal(pp_string(&p, mapping, 5), "/bin/engine");
	assert_string_equal(pp_string(&p, mapping, 6), "");
	assert_int_equal(pb_number(mapping, 7), 1); /* pprof must not search names */
	assert_int_equal(pb_number(mapping, 8), 0);
	location = pp_location(&p, pp_sample(&p, 0), 1);
	mapping = pp_by_id(&p, PP_MAPPING, pb_number(location, 2));
	assert_string_equal(pp_string(&p, mapping, 5), "/lib/libx.so");
	assert_string_equal(pp_string(&p, mapping, 6), "dead000f");
	assert_int_equal(pb_number(location, 3) - pb_number(mapping, 2) + pb_number(mapping, 4),
			 0x12345);
	assert_true(pb_number(location, 3) < pb_number(mapping, 3));
}

CASE(what_has_no_name_has_a_stand_in)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	static const char *const expected[] = {"[x.so]", "[unknown]", "[unknown]", "[unknown]",
					       "[unknown]"};
	struct sink_sample samples[2];
	struct pb_bytes sample;

	made_init(&m);
	samples[0] = sample_of(&m,
			       made_stack(&m, 0, "", 1,
					  STACK(made_named(&m, LOCATION_NATIVE, 1, "", "/lib/x.so"),
						made_named(&m, LOCATION_JIT, 1, "", ""),
						made_location(&m, LOCATION_ANON, 0, 0x7f0000),
						made_location(&m, LOCATION_UNKNOWN, 0, 0x10),
						0xffff /* unknown location */)),
			       1, 1, "");
	samples[1] = sample_of(&m, made_stack(&m, 0, "", 1, 0, NULL), 1, 1, "");
	p = made_profile(&m, samples, 2);
	sample = pp_sample(&p, 0);
	for (int i = 0; i < 5; i++)
		assert_string_equal(pp_name(&p, pp_location(&p, sample, i), 0), expected[i]);
	assert_int_equal(pb_number(pp_location(&p, sample, 3), 2), 0); /* in no mapping */
	assert_int_equal(pb_number(pp_location(&p, sample, 3), 3), 0x10);
	assert_string_equal(pp_string(&p, pp_label(&p, sample, "process"), 2), "[unknown]");
	sample = pp_sample(&p, 1);
	assert_null(pp_location(&p, sample, 0).at);
	assert_int_equal(pp_value(sample, 0), 1);
}

CASE(no_name_breaks_the_format)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	struct sink_sample samples[MADE_NASTY_COUNT];
	AUTO_FREE char *huge = malloc((1 << 20) + 1);

	made_init(&m);
	assert_non_null(huge);
	memset(huge, 0xff, 1 << 20);
	huge[1 << 20] = 0;
	m.info.command = m.info.host = m.info.kernel = m.info.event = huge;
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = made_nasty_names[i];
		uint32_t location = made_location(&m, LOCATION_JIT, i, i);
		struct frame frame = made_frame(&m, FRAME_KIND_JIT, name, name);

		frame.file = made_string(&m, name);
		assert_int_equal(frame_table_set(m.frames, location, &frame, 1), 0);
		samples[i] = sample_of(&m, made_stack(&m, 0, name, 1, STACK(location)), i, i, name);
	}
	p = made_profile(&m, samples, MADE_NASTY_COUNT); /* checks all strings */
	assert_int_equal(pb_count(p.all, PP_SAMPLE), MADE_NASTY_COUNT);
	assert_int_equal(pb_count(p.all, PP_MAPPING), MADE_NASTY_COUNT);
	for (size_t i = 0; i < p.string_count; i++) {
		for (uint32_t at = 0, bytes; p.strings[i][at]; at += bytes)
			assert_false(utf8_is_control(utf8_next(p.strings[i] + at, &bytes)));
	}
	assert_string_equal(pp_name(&p, pp_location(&p, pp_sample(&p, 0), 0), 0), "semi;colon");
	assert_string_equal(pp_name(&p, pp_location(&p, pp_sample(&p, 2), 0), 0), "line?break");
}

CASE(a_stack_as_deep_as_they_come)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	AUTO_FREE uint32_t *stack = calloc(20000, sizeof(*stack));
	struct pb_bytes packed;
	size_t count = 0;
	uint32_t node;

	made_init(&m);
	assert_non_null(stack);
	for (uint32_t i = 0; i < 20000; i++)
		stack[i] = i < 100 ? made_named(&m, LOCATION_NATIVE, i, "f", "") : stack[i % 100];
	node = made_stack(&m, 0, "p", 1, 20000, stack);
	p = made_profile(&m, &(struct sink_sample){.node = node}, 1);
	packed = pb_inner(pp_sample(&p, 0), 1, 0);
	for (; packed.at != packed.end; count++)
		pb_varint(&packed);
	assert_int_equal(count, 20000);
	assert_int_equal(pb_count(p.all, PP_LOCATION), 100);
}

/* A recording may have no sampling rate, or times near the maximum. */
CASE(odd_runs_are_no_trouble)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(pp_deinit) struct profile_proto p = {0};
	uint32_t node;

	made_init(&m);
	m.info.freq_hz = 0;
	m.info.wall_clock_ns = m.info.duration_ns = UINT64_MAX;
	m.info.command = m.info.host = m.info.kernel = m.info.event = "";
	node = made_stack(&m, 0, "p", 1, 0, NULL);
	p = made_profile(&m, &(struct sink_sample){.node = node}, 1);
	assert_int_equal(pp_value(pp_sample(&p, 0), 0), 1);
	assert_int_equal(pp_value(pp_sample(&p, 0), 1), 0);
	assert_true(pb_number(p.all, 9) == UINT64_MAX);
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_check_full_disk(&m, &sink_pprof);
}

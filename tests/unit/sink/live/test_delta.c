/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Large changes take several deltas; damaged deltas, and those of other states, are refused. */
#include "tests/unit/sink/live/same_view.h"

#include "sink/live/delta_format.h"
#include "sink/live/delta_reader.h"
#include "sink/live/delta_writer.h"
#include "tests/unit/cases.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/made_view.h"

#define MANY	  20000
#define MAX_BYTES (256u << 20)

struct fixture {
	struct made_view m;
	struct delta_writer writer;
	struct delta_profile profile;
	uint32_t states;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){0};
	made_init(&f->m);
	f->m.view.round = 1;
	f->m.slices.max = 5000;
	delta_profile_init(&f->profile, &(struct view_options){0}, MAX_BYTES);
}

static void end(struct fixture *f)
{
	delta_profile_deinit(&f->profile);
	delta_writer_deinit(&f->writer);
	made_deinit(&f->m);
}

/* A profile with many of everything, and a sample at each of its counts. */
static void make_many(struct made_view *m, uint32_t from, uint32_t to)
{
	uint32_t stack[8];

	for (uint32_t i = from; i < to; i++) {
		struct sink_sample sample = {.pid = 7 + i % 5, .tid = i % 1000};
		uint32_t depth = i - from < 8 ? i - from + 1 : 8;
		char name[48];

		snprintf(name, sizeof(name), "a function by the name of %u", i / 2);
		stack[(i - from) % 8] = made_named(m, LOCATION_JIT, i, name, i % 2 ? "module" : "");
		sample.comm = made_string(m, i % 3 ? "worker" : "main");
		sample.time_ns = m->info.start_ns + (i - i % 3) * TIME_SLICES_TICK_NS;
		sample.node = made_stack(m, i % 5, "app", 1, depth, stack);
		made_count(m, &sample);
		if (i < 5 || i % 16 == 0) /* the rows of all roots first */
			made_process(m, i, "process", i % 7, 0, 0, i % 3);
	}
	m->ledger.samples.fate[FATE_RESOLVED] += to - from;
}

static int next(struct fixture *f)
{
	int complete = delta_writer_next(&f->writer, &f->m.view, 5, ++f->states, DELTA_BYTES);

	assert_true(complete >= 0);
	assert_true(f->writer.out.bytes.size < DELTA_BYTES + 1024);
	return complete;
}

static int apply(struct fixture *f)
{
	return delta_profile_apply(&f->profile, f->writer.out.bytes.data, f->writer.out.bytes.size);
}

/* Write and apply deltas until the profile is complete. Returns their number. */
static uint32_t catch_up(struct fixture *f)
{
	uint32_t count = 0;
	int complete;

	do {
		complete = next(f);
		assert_int_equal(apply(f), 0);
		assert_int_equal(f->profile.complete, complete);
		count++;
	} while (!complete);
	f->m.view.round++;
	return count;
}

CASE(what_does_not_fit_comes_next)
{
	struct fixture f;

	begin(&f);
	make_many(&f.m, 0, MANY);
	assert_true(catch_up(&f) > 2);
	assert_same_view(&f.profile.view, &f.m.view);
	assert_same_outputs(&f.profile.view, &f.m.view);
	/* Nothing new is nearly nothing to send. */
	assert_int_equal(catch_up(&f), 1);
	assert_true(f.writer.out.bytes.size < 200);
	assert_true(f.m.slices.folds > 0);
	end(&f);
}

/* Changes at random counts and rows. */
static void change(struct fixture *f, uint32_t *seed)
{
	for (uint32_t i = 0; i < 2000; i++) {
		struct made_view *m = &f->m;
		uint32_t at;

		*seed = *seed * 1103515245 + 12345;
		at = (*seed >> 8) % (uint32_t)m->threads.counts.size;
		m->threads.counts.data[at].samples++;
		m->profile.nodes.data[m->threads.counts.data[at].node].self++;
		assert_int_equal(delta_writer_count(&f->writer, 0, at), 0);
		assert_int_equal(time_slices_add(&m->slices, i * 1000000000ull + *seed, at, 1), 0);
		if (i % 200 == 0) {
			struct ledger_process *row =
				&m->ledger.processes.data[at % m->ledger.processes.size];

			row->samples.fate[FATE_RESOLVED]++;
			ledger_touch(&m->ledger, row, m->view.round);
		}
	}
}

/* A location that was sent with a stand-in, or without any name, is named later. */
static void name_late(struct made_view *m, uint32_t number)
{
	uint32_t bare = made_location(m, LOCATION_NATIVE, 1, number);
	struct frame stand_in = made_frame(m, FRAME_KIND_NATIVE, "", "/usr/lib/libx.so");
	struct frame frame = made_frame(m, FRAME_KIND_NATIVE, "late", "/usr/lib/libx.so");
	uint32_t before = bare - 600;

	assert_int_equal(frame_table_set_stand_in(m->frames, bare, &stand_in), 0);
	if (number && m->locations.locations.data[before].kind == LOCATION_NATIVE)
		assert_int_equal(frame_table_set(m->frames, before, &frame, 1), 0);
}

static bool refuse(void *context, uint64_t bytes)
{
	return false;
}

/* The writer had no room for "f" beside "f.cold": what the reader adds later has its number. */
CASE(a_function_without_room_for_its_name)
{
	const struct room none = {.take = refuse}, any = {0};
	struct fixture f;
	struct frame frame;

	begin(&f);
	make_many(&f.m, 0, 10);
	frame = made_frame(&f.m, FRAME_KIND_NATIVE, "f.cold", "module");
	string_pool_set_room(f.m.strings, &none);
	assert_int_equal(
		frame_table_set(f.m.frames, made_location(&f.m, LOCATION_NATIVE, 1, 77), &frame, 1),
		0);
	string_pool_set_room(f.m.strings, &any);
	catch_up(&f);
	make_many(&f.m, 10, 20);
	catch_up(&f);
	assert_same_view(&f.profile.view, &f.m.view);
	end(&f);
}

/* The profile grows and changes while a reader is still being sent what was there. */
CASE(slices_of_a_profile_that_grows)
{
	struct fixture f;
	uint32_t seed = 1;

	begin(&f);
	for (uint32_t i = 0; i < 60; i++) {
		make_many(&f.m, i * 599, (i + 1) * 599);
		name_late(&f.m, i);
		change(&f, &seed);
		next(&f);
		assert_int_equal(apply(&f), 0);
		f.m.view.round++;
	}
	catch_up(&f);
	assert_same_view(&f.profile.view, &f.m.view);
	assert_true(frame_table_is_named(f.profile.frames, 599));
	assert_true(f.m.slices.folds > 10);
	assert_same_outputs(&f.profile.view, &f.m.view);
	end(&f);
}

static void add_slices(struct fixture *f, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t at = i % 10;

		f->m.threads.counts.data[at].samples++;
		f->m.profile.nodes.data[f->m.threads.counts.data[at].node].self++;
		assert_int_equal(delta_writer_count(&f->writer, 0, at), 0);
		assert_int_equal(time_slices_add(&f->m.slices, i * 1000000ull, at, 1), 0);
	}
}

/* Engines come one after the other; the bins become longer. */
static void add_code(struct fixture *f, uint32_t step)
{
	uint32_t engine =
		code_lane_engine(&f->m.lane, made_string(&f->m, step % 2 ? "php" : "java"));

	for (uint32_t i = 0; i < 10; i++)
		code_lane_add(&f->m.lane, (i << 2 * step) * TIME_SLICES_TICK_NS,
			      &(struct code_lane_change){
				      .engine = engine, .loads = i, .unloads = step, .bytes = 7});
}

/* Slices fold after some of them were sent, and before: these are sent again, or once. */
CASE(slices_that_fold_on_the_way)
{
	static const uint32_t steps[] = {100, 10, 900, 50, 5000, 1, 20000, 300};
	uint32_t at = 0, folds, refolds = 0;
	struct fixture f;

	begin(&f);
	f.m.slices.max = 1000;
	make_many(&f.m, 0, 10);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		folds = f.profile.samples.slices.folds;
		add_slices(&f, at, at + steps[i]);
		at += steps[i];
		add_code(&f, i);
		catch_up(&f);
		refolds += f.profile.samples.slices.folds != folds;
		assert_same_view(&f.profile.view, &f.m.view);
		assert_same_outputs(&f.profile.view, &f.m.view);
		assert_true(f.profile.samples.slices.slices.size < 2000);
	}
	assert_true(f.profile.lane && f.profile.lane->shift > 3);
	assert_true(refolds > 2 && refolds < ARRAY_SIZE(steps));
	end(&f);
}

/* --- further events -------------------------------------------------------------------- */

#define MORE_EVENTS 2

struct made_event {
	struct run_info info;
	struct profile profile;
	struct thread_counts threads;
	struct time_slices slices;
	struct event_rows fates;
	struct ledger ledger;
	struct view view;
};

struct made_events {
	struct made_event more[MORE_EVENTS];
	const struct view *by_event[MORE_EVENTS + 1];
};

static void begin_events(struct fixture *f, struct made_events *events)
{
	static const struct run_event of_run[MORE_EVENTS] = {{"page-faults", "faults", 97},
							     {"off-cpu", "ns", 0}};
	struct made_view *m = &f->m;

	*events = (struct made_events){.by_event = {&m->view}};
	m->info.more_events = MORE_EVENTS;
	memcpy(m->info.events, of_run, sizeof(of_run));
	m->view.by_event = events->by_event;
	for (uint32_t i = 0; i < MORE_EVENTS; i++) {
		struct made_event *event = &events->more[i];

		event->info = m->info;
		event->info.event = of_run[i].name;
		event->info.unit = of_run[i].unit;
		event->info.period = of_run[i].period;
		event->info.freq_hz = 0;
		event->slices.max = 500;
		event->view = m->view;
		event->view.event = i + 1;
		event->view.info = &event->info;
		event->view.profile = &event->profile;
		event->view.threads = &event->threads;
		event->view.slices = &event->slices;
		event->view.ledger = &event->ledger;
		events->by_event[i + 1] = &event->view;
	}
}

static void end_events(struct made_events *events)
{
	for (uint32_t i = 0; i < MORE_EVENTS; i++) {
		struct made_event *event = &events->more[i];

		profile_deinit(&event->profile);
		thread_counts_deinit(&event->threads);
		time_slices_deinit(&event->slices);
		event_rows_deinit(&event->fates);
		ledger_deinit(&event->ledger);
	}
}

static uint32_t random_below(uint32_t *seed, size_t limit)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % (uint32_t)limit;
}

/* A sample of an event, at a stack of locations of CPU time. */
static void add_sample(struct fixture *f, struct made_event *event, uint32_t *seed)
{
	struct made_view *m = &f->m;
	uint32_t row = random_below(seed, m->ledger.processes.size), depth, stack[4], node, count;
	const struct sampled_thread thread = {.pid = row, .tid = random_below(seed, 3)};
	struct event_fates *fates;
	uint32_t number;

	depth = 1 + random_below(seed, 4);
	for (uint32_t i = 0; i < depth; i++)
		stack[i] = random_below(seed, m->locations.locations.size);
	assert_int_equal(
		profile_node_of(&event->profile, row, made_string(m, "app"), stack, depth, &node),
		0);
	profile_count(&event->profile, node, 3);
	assert_int_equal(thread_counts_thread(&event->threads, &thread, &number), 0);
	assert_int_equal(thread_counts_add(&event->threads, node, number, 3, &count), 0);
	assert_int_equal(delta_writer_count(&f->writer, event->view.event, count), 0);
	assert_int_equal(time_slices_add(&event->slices, *seed * 100ull, count, 3), 0);
	assert_true(event_rows_get(&event->fates, row, &fates) >= 0);
	fates->samples.fate[FATE_STACK_CUT]++;
	fates->samples.cut[row % LEDGER_CUT_COUNT]++;
	fates->samples.frame_pointers += row;
	fates->changed_round = m->view.round;
	event->fates.all.samples.fate[FATE_STACK_CUT]++;
	event->fates.all.samples.cut[row % LEDGER_CUT_COUNT]++;
}

static void complete_event(const struct fixture *f, struct made_event *event)
{
	assert_int_equal(event_rows_ledger(&event->fates, &f->m.ledger, &event->ledger), 0);
	event->ledger.counters[JITBPF_COUNT_SAMPLES_TAKEN] =
		event->fates.all.samples.fate[FATE_STACK_CUT];
}

/* Each event has its own samples, with the names and processes of all, in small deltas. */
CASE(events_have_samples_of_their_own)
{
	struct made_events events;
	struct fixture f;
	uint32_t seed = 1;

	begin(&f);
	begin_events(&f, &events);
	for (uint32_t round = 0; round < 40; round++) {
		make_many(&f.m, round * 64, (round + 1) * 64);
		change(&f, &seed);
		for (uint32_t i = 0; i < MORE_EVENTS; i++) {
			/* The second event has its first samples late. */
			for (uint32_t k = 0; k < 200 && (!i || round > 5); k++)
				add_sample(&f, &events.more[i], &seed);
			complete_event(&f, &events.more[i]);
		}
		next(&f);
		assert_int_equal(apply(&f), 0);
		f.m.view.round++;
		if (round % 8 == 7) {
			catch_up(&f);
			assert_same_view(&f.profile.view, &f.m.view);
			for (uint32_t i = 1; i <= MORE_EVENTS; i++) {
				const struct view *read = f.profile.by_event[i];

				assert_same_view(read, events.by_event[i]);
				assert_string_equal(read->info->unit,
						    events.by_event[i]->info->unit);
				assert_int_equal(read->info->period,
						 events.by_event[i]->info->period);
			}
		}
	}
	assert_same_outputs(f.profile.by_event[1], events.by_event[1]);
	assert_same_outputs(f.profile.by_event[2], events.by_event[2]);
	assert_true(events.more[0].slices.folds > 0);
	end_events(&events);
	end(&f);
}

/* A run with one event has no byte more than the lists of that. */
CASE(one_event_costs_nothing)
{
	struct fixture f, g;
	struct made_events events;
	size_t alone;

	begin(&f);
	begin(&g);
	make_many(&f.m, 0, 24);
	make_many(&g.m, 0, 24);
	assert_int_equal(next(&f), 1);
	alone = f.writer.out.bytes.size;
	begin_events(&g, &events);
	for (uint32_t i = 0; i < MORE_EVENTS; i++)
		complete_event(&g, &events.more[i]);
	assert_int_equal(next(&g), 1);
	assert_true(g.writer.out.bytes.size > alone);
	/* But for the flag, the deltas are equal up to the events, which come before the totals. */
	f.writer.out.bytes.data[offsetof(struct delta_header, flags)] |= DELTA_EVENTS;
	assert_memory_equal(f.writer.out.bytes.data, g.writer.out.bytes.data, alone - 40);
	end_events(&events);
	end(&f);
	end(&g);
}

/* A delta that is cut, or has one wrong bit, is refused or means something else: no more. */
CASE(damaged_deltas)
{
	AUTO_FREE uint8_t *bytes = NULL;
	uint32_t refused = 0;
	struct fixture f;
	size_t size;

	begin(&f);
	make_many(&f.m, 0, 24);
	assert_int_equal(next(&f), 1);
	size = f.writer.out.bytes.size;
	assert_int_equal(apply(&f), 0);
	for (size_t cut = 0; cut < size; cut++) {
		free(bytes);
		bytes = malloc(cut + 1);
		assert_non_null(bytes);
		memcpy(bytes, f.writer.out.bytes.data, cut);
		assert_int_equal(delta_profile_apply(&f.profile, bytes, cut), -EBADMSG);
		assert_int_equal(f.profile.state + f.profile.samples.profile.nodes.size, 0);
	}
	free(bytes);
	bytes = malloc(size);
	assert_non_null(bytes);
	for (size_t at = 0; at < size * 8; at++) {
		int err;

		memcpy(bytes, f.writer.out.bytes.data, size);
		bytes[at / 8] ^= (uint8_t)(1 << at % 8);
		err = delta_profile_apply(&f.profile, bytes, size);
		assert_true(!err || err == -EBADMSG || err == -ESTALE || err == -E2BIG);
		refused += err != 0;
	}
	assert_true(refused > size);
	end(&f);
}

CASE(deltas_of_other_states)
{
	struct delta_bytes second = {0};
	struct fixture f;

	begin(&f);
	make_many(&f.m, 0, 10);
	assert_int_equal(next(&f), 1);
	assert_int_equal(apply(&f), 0);
	make_many(&f.m, 10, 20);
	assert_int_equal(next(&f), 1);
	second = f.writer.out;
	memset(&f.writer.out, 0, sizeof(f.writer.out));
	assert_int_equal(next(&f), 1);
	/* One is missing: the profile is unchanged. */
	assert_int_equal(apply(&f), -ESTALE);
	assert_int_equal(f.profile.state, 1);
	assert_int_equal(delta_profile_apply(&f.profile, second.bytes.data, second.bytes.size), 0);
	/* The same again, and one of another epoch. */
	assert_int_equal(delta_profile_apply(&f.profile, second.bytes.data, second.bytes.size),
			 -ESTALE);
	assert_int_equal(apply(&f), 0);
	assert_int_equal(f.profile.state, 3);
	f.m.view.epoch = 3;
	assert_int_equal(next(&f), 1);
	assert_int_equal(apply(&f), -ESTALE);
	assert_int_equal(f.profile.view.epoch, 0);
	vec_deinit(&second.bytes);
	end(&f);
}

CASE(a_profile_has_a_budget)
{
	struct fixture f;
	int err = 0;

	begin(&f);
	f.profile.max_bytes = 2u << 20;
	make_many(&f.m, 0, MANY);
	for (bool complete = false; !err; complete = next(&f)) {
		assert_false(complete);
		if (f.states)
			err = apply(&f);
		assert_true(f.profile.used_bytes <= 2u << 20);
	}
	assert_int_equal(err, -E2BIG);
	assert_int_equal(f.profile.state + f.profile.samples.profile.nodes.size, 0);
	end(&f);
}

/* Memory that runs out at any one allocation is an error, and leaves an empty profile. */
CASE(memory_that_runs_out)
{
	uint32_t failures = 0;
	struct fixture f;

	begin(&f);
	make_many(&f.m, 0, 200);
	do {
		int err;

		delta_writer_deinit(&f.writer);
		f.writer = (struct delta_writer){0};
		allocations_left = failures++;
		allocation_failed = false;
		counting_allocations = true;
		err = delta_writer_next(&f.writer, &f.m.view, 5, 1, DELTA_BYTES);
		counting_allocations = false;
		assert_int_equal(err, allocation_failed ? -ENOMEM : 1);
	} while (allocation_failed);
	assert_true(failures > 5);
	failures = 0;
	do {
		int err;

		allocations_left = failures++;
		allocation_failed = false;
		counting_allocations = true;
		err = apply(&f);
		counting_allocations = false;
		assert_int_equal(err, allocation_failed ? -ENOMEM : 0);
		assert_int_equal(f.profile.state, allocation_failed ? 0 : 1);
	} while (allocation_failed);
	assert_true(failures > 20);
	assert_same_view(&f.profile.view, &f.m.view);
	end(&f);
}

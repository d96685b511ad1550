/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel frames that a view hides: every output is the one of a profile that
 * never had them.
 */
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/shown_profile.h"
#include "tests/unit/cases.h"

#define FRAMES_MAX 16
#define SAMPLES	   400
#define PLACES	   12

static uint32_t below(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % limit;
}

/*
 * The same random samples, with or without the kernel frames that stacks begin with, and the code
 * of interpreters among the other frames.
 */
struct random_view {
	struct made_view m;
	struct sink_sample samples[SAMPLES];
	uint64_t addresses[SAMPLES][FRAMES_MAX];
};

static void add_random(struct random_view *r, uint32_t *seed, uint32_t number, bool cut, bool loops,
		       const uint32_t *user, const uint32_t *kernel, const uint32_t *serves)
{
	uint32_t kernel_frames = below(seed, 2) ? below(seed, 4) : 0, user_frames = below(seed, 5);
	uint32_t process = below(seed, 2), stack[FRAMES_MAX], count = 0;
	struct sink_sample *sample = &r->samples[number];

	for (uint32_t k = 0; k < kernel_frames + user_frames; k++) {
		uint32_t location = (k < kernel_frames ? kernel : user)[below(seed, PLACES)];
		uint32_t loop = serves[below(seed, PLACES)];

		if (k >= kernel_frames && !below(seed, 3) && loops && !cut) {
			stack[count] = loop;
			r->addresses[number][count++] = 0x9000 + k;
		}
		if (k < kernel_frames && cut)
			continue;
		stack[count] = location;
		r->addresses[number][count++] = 0x7000 + k;
	}
	*sample = (struct sink_sample){
		.time_ns = r->m.info.start_ns + number * 1000,
		.pid = 10 + process,
		.tid = 10 + process + below(seed, 3) * 100,
		.comm = made_string(&r->m, below(seed, 2) ? "main" : "worker"),
		.node = made_stack(&r->m, process, "app", 1, count, stack),
		.addresses = r->addresses[number],
		.kernel_frames = cut ? 0 : kernel_frames,
		.user_frames = count - (cut ? 0 : kernel_frames),
	};
}

static void random_view_init(struct random_view *r, bool cut, bool loops)
{
	uint32_t user[PLACES], kernel[PLACES], serves[PLACES], seed = 5;

	made_init(&r->m);
	for (uint32_t i = 0; i < PLACES; i++) {
		struct location location = {
			.kind = LOCATION_NATIVE, .is_interpreter = true, .offset = 0x1000 + i};
		char name[16];

		snprintf(name, sizeof(name), "user%u", i % 7);
		user[i] = made_named(&r->m, i % 3 ? LOCATION_NATIVE : LOCATION_JIT, 0x1000 + i,
				     name, i % 2 ? "/bin/app" : "");
		snprintf(name, sizeof(name), "kernel%u", i % 5);
		kernel[i] = made_named(&r->m, i % 4 ? LOCATION_KERNEL : LOCATION_KERNEL_CODE,
				       0xffffffff81000000 + i, name, "[kernel.kallsyms]");
		assert_int_equal(location_table_add(&r->m.locations, &location, &serves[i]), 0);
	}
	for (uint32_t i = 0; i < SAMPLES; i++)
		add_random(r, &seed, i, cut, loops, user, kernel, serves);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			vec_push(&r->m.ledger.processes, (struct ledger_process){.pid = 10 + i}),
			0);
	r->m.view.options.kernel = cut ? VIEW_KERNEL_SHOWN : VIEW_KERNEL_HIDDEN;
}

static void assert_hides(bool loops)
{
	static struct random_view whole, cut;

	random_view_init(&whole, false, loops);
	random_view_init(&cut, true, loops);
	assert_true(whole.m.profile.nodes.size > cut.m.profile.nodes.size);
	for (uint32_t by = VIEW_BY_COMM; by <= VIEW_BY_TID; by++) {
		whole.m.view.options.by = cut.m.view.options.by = by;
		for (size_t i = 0; sink_at(i); i++) {
			size_t whole_size, cut_size;
			/* The page and pprof have a count for each node of the profile. */
			if (loops && (sink_at(i) == &sink_html || sink_at(i) == &sink_pprof))
				continue;
			AUTO_FREE char *text = made_output_of(&whole.m, sink_at(i), whole.samples,
							      SAMPLES, &whole_size);
			AUTO_FREE char *expected =
				made_output_of(&cut.m, sink_at(i), cut.samples, SAMPLES, &cut_size);

			assert_int_equal(whole_size, cut_size);
			assert_memory_equal(text, expected, cut_size);
		}
	}
	made_deinit(&whole.m);
	made_deinit(&cut.m);
}

CASE(hidden_frames_are_as_if_never_sampled)
{
	assert_hides(false);
	assert_hides(true);
}

/* The interpreter is hidden unless the option says else. */
CASE(interpreters_are_shown_on_request)
{
	CLEANUP(made_deinit) struct made_view m;
	struct location location = {
		.kind = LOCATION_NATIVE, .is_interpreter = true, .offset = 0x1000};
	uint32_t user, loop;

	made_init(&m);
	user = made_named(&m, LOCATION_NATIVE, 1, "user", "/bin/app");
	assert_int_equal(location_table_add(&m.locations, &location, &loop), 0);
	made_stack(&m, 0, "app", 2, STACK(loop, user));
	made_stack(&m, 0, "app", 3, STACK(user, loop, user));
	AUTO_FREE char *hidden = made_output(&m, &sink_folded);
	assert_string_equal(hidden, "app;user 2\napp;user;user 3\n");
	m.view.options.interpreter = VIEW_INTERPRETER_SHOWN;
	AUTO_FREE char *shown = made_output(&m, &sink_folded);
	assert_string_equal(shown, "app;user;[unknown] 2\napp;user;[unknown];user 3\n");
}

/* A stack of kernel frames only is its process's. */
CASE(hidden_stacks_are_shown_at_their_callers)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t user, first, second, alone, deep, root;

	made_init(&m);
	user = made_named(&m, LOCATION_NATIVE, 1, "user", "/bin/app");
	first = made_named(&m, LOCATION_KERNEL, 2, "read", "[kernel.kallsyms]");
	second = made_named(&m, LOCATION_KERNEL_CODE, 3, "bpf_prog", "[bpf]");
	alone = made_stack(&m, 0, "app", 2, STACK(second, first));
	deep = made_stack(&m, 0, "app", 3, STACK(second, first, user));
	root = made_stack(&m, 0, "app", 0, 0, NULL);
	assert_int_equal(shown_profile_node(&m.view, deep), deep);
	AUTO_FREE char *all = made_output(&m, &sink_folded);
	assert_string_equal(all, "app;read_[k];bpf_prog_[k] 2\n"
				 "app;user;read_[k];bpf_prog_[k] 3\n");
	m.view.options.kernel = VIEW_KERNEL_HIDDEN;
	assert_int_equal(shown_profile_node(&m.view, alone), root);
	assert_int_equal(m.profile.nodes.data[shown_profile_node(&m.view, deep)].location, user);
	AUTO_FREE char *shown = made_output(&m, &sink_folded);
	assert_string_equal(shown, "app 2\napp;user 3\n");
}

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

#define FRAMES_MAX 8
#define SAMPLES	   400
#define PLACES	   12

static const struct sink_ops *const kinds[] = {
	&sink_firefox,	  &sink_folded,	 &sink_html,	     &sink_pprof, &sink_script,
	&sink_speedscope, &sink_summary, &sink_summary_json, &sink_top,
};

static uint32_t below(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % limit;
}

/* The same random samples, with or without the kernel frames that stacks begin with. */
struct random_view {
	struct made_view m;
	struct sink_sample samples[SAMPLES];
	uint64_t ips[SAMPLES][FRAMES_MAX];
};

static void random_view_init(struct random_view *r, bool cut)
{
	uint32_t user[PLACES], kernel[PLACES], seed = 5;

	made_init(&r->m);
	for (uint32_t i = 0; i < PLACES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "user%u", i % 7);
		user[i] = made_named(&r->m, i % 3 ? LOCATION_NATIVE : LOCATION_JIT, 0x1000 + i,
				     name, i % 2 ? "/bin/app" : "");
		snprintf(name, sizeof(name), "kernel%u", i % 5);
		kernel[i] = made_named(&r->m, i % 4 ? LOCATION_KERNEL : LOCATION_KERNEL_CODE,
				       0xffffffff81000000 + i, name, "[kernel.kallsyms]");
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t kernel_frames = below(&seed, 2) ? below(&seed, 4) : 0;
		uint32_t user_frames = below(&seed, 5), skipped = cut ? kernel_frames : 0;
		uint32_t process = below(&seed, 2), stack[FRAMES_MAX];

		for (uint32_t k = 0; k < kernel_frames + user_frames; k++) {
			stack[k] = (k < kernel_frames ? kernel : user)[below(&seed, PLACES)];
			r->ips[i][k] = 0x7000 + k;
		}
		r->samples[i] = (struct sink_sample){
			.time_ns = r->m.info.start_ns + i * 1000,
			.pid = 10 + process,
			.tid = 10 + process + below(&seed, 3) * 100,
			.comm = made_string(&r->m, below(&seed, 2) ? "main" : "worker"),
			.node = made_stack(&r->m, process, "app", 1,
					   kernel_frames + user_frames - skipped, stack + skipped),
			.ips = r->ips[i] + skipped,
			.kernel_frames = kernel_frames - skipped,
			.user_frames = user_frames,
		};
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			vec_push(&r->m.ledger.processes, (struct ledger_process){.pid = 10 + i}),
			0);
	r->m.view.options.kernel = cut ? VIEW_KERNEL_SHOWN : VIEW_KERNEL_HIDDEN;
}

CASE(hidden_frames_are_as_if_never_sampled)
{
	static struct random_view whole, cut;

	random_view_init(&whole, false);
	random_view_init(&cut, true);
	assert_true(whole.m.profile.nodes.size > cut.m.profile.nodes.size);
	for (uint32_t by = VIEW_BY_COMM; by <= VIEW_BY_TID; by++) {
		whole.m.view.options.by = cut.m.view.options.by = by;
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			size_t whole_size, cut_size;
			AUTO_FREE char *text = made_output_of(&whole.m, kinds[i], whole.samples,
							      SAMPLES, &whole_size);
			AUTO_FREE char *expected =
				made_output_of(&cut.m, kinds[i], cut.samples, SAMPLES, &cut_size);

			assert_int_equal(whole_size, cut_size);
			assert_memory_equal(text, expected, cut_size);
		}
	}
	made_deinit(&whole.m);
	made_deinit(&cut.m);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `record --code`: the code of what is sampled, once for each region and recording. */
#include <stdint.h>

#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"

#define CODE_BYTES 0x40

static uint8_t bytes[KEPT_CODE_BYTES_MAX / 32];

static bool is_ready(uint64_t time_ns)
{
	return true;
}

static void begin(struct made_run *run, bool keep_code, bool show_code)
{
	struct pipeline_options options = made_unwinding;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	options.keep_code = keep_code;
	options.analysis.keep_code = show_code;
	made_unwinder = (struct unwinder){.is_ready = is_ready};
	made_run_begin(run, &options);
	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
}

static void load(struct made_run *run, uint64_t time_ns, uint64_t sequence, const char *name)
{
	make_load(run, time_ns, sequence, name)->code_bytes = CODE_BYTES;
}

/* From now on, the unwinder knows this code of the region. */
static void know(uint64_t identity, uint32_t bytes_known)
{
	made_unwinder.code = (struct known_code){.identity = identity,
						 .address = MADE_CODE,
						 .size_bytes = CODE_BYTES,
						 .bytes = bytes,
						 .bytes_known = bytes_known};
}

static const struct view *view_of(const struct made_run *run)
{
	return pipeline_view(run->pipeline);
}

static const struct recorded_region *code_of(const struct made_run *run, const char *name)
{
	vec_for_each (location, &view_of(run)->locations->locations) {
		const struct code_region *region = (const struct code_region *)location->code;

		if (location->kind == LOCATION_JIT && !strcmp(region->name, name))
			return recorded_code_find(view_of(run)->code, code_region_identity(region));
	}
	return NULL;
}

/* Each generation of the code has its own bytes, also after it was overwritten. */
CASE(test_generations)
{
	const struct recorded_region *code;
	struct made_run run;

	begin(&run, true, true);
	load(&run, 10, 0, "first");
	make_sample(&run, 15, MADE_CODE + 8); /* its code is not known yet */
	made_round(&run, 18);
	assert_null(code_of(&run, "first"));
	know(1, CODE_BYTES);
	make_sample(&run, 20, MADE_CODE + 8);
	make_sample(&run, 21, MADE_CODE + 9);
	made_round(&run, 25);
	load(&run, 30, 1, "second");
	made_round(&run, 35);
	bytes[0] = 0xcc;
	know(2, CODE_BYTES / 2);
	make_sample(&run, 40, MADE_CODE + 4);
	made_finish(&run, 50);
	code = code_of(&run, "first");
	assert_non_null(code);
	assert_int_equal(code->size_bytes, CODE_BYTES);
	assert_int_equal(code->bytes[0], 1);
	assert_memory_equal(code->bytes + 1, bytes + 1, CODE_BYTES - 1);
	code = code_of(&run, "second");
	assert_non_null(code);
	assert_int_equal(code->size_bytes, CODE_BYTES / 2);
	assert_int_equal(code->bytes[0], 0xcc);
	assert_int_equal(view_of(&run)->code->regions.size, 2);
	made_run_end(&run);
}

/* Without the option nothing is emitted, and a live run keeps none of it in memory. */
CASE(test_off)
{
	struct made_run run;

	begin(&run, false, true);
	know(1, CODE_BYTES);
	load(&run, 10, 0, "first");
	make_sample(&run, 20, MADE_CODE + 8);
	made_finish(&run, 30);
	assert_false(made_unwinder.keeps_code);
	assert_int_equal(view_of(&run)->code->regions.size, 0);
	made_run_end(&run);

	begin(&run, true, false);
	know(1, CODE_BYTES);
	load(&run, 10, 0, "first");
	make_sample(&run, 20, MADE_CODE + 8);
	made_finish(&run, 30);
	assert_int_equal(run.pipeline->intake->kept.regions.size, 1);
	assert_int_equal(view_of(&run)->code->regions.size, 0);
	made_run_end(&run);
}

static int count_code(void *context, const struct jitbpf_record *record)
{
	*(uint64_t *)context += record->type == JITBPF_KEPT_CODE;
	return 0;
}

/* An owner gets a part of the budget; what is beyond is counted. A new recording begins anew. */
CASE(test_budget)
{
	struct kept_code kept = {0};
	uint64_t emitted = 0, lone;
	const struct record_consumer consumer = {.take = count_code, .context = &emitted};
	struct process one = {.owner = {.charged_uid = 1000}},
		       other = {.owner = {.charged_uid = 1001}};
	union {
		struct jitbpf_sample sample;
		uint8_t room[sizeof(struct jitbpf_sample) + 8];
	} made = {.sample = {.h.time_ns = 5, .user_words = 1}};

	made_unwinder = (struct unwinder){.keeps_code = true};
	made.sample.words[0] = MADE_CODE;
	for (uint64_t i = 1; i <= 64; i++) {
		know(i, sizeof(bytes));
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(kept_code_emit(&kept, &made_unwinder, &one, &made.sample,
							&consumer),
					 0);
	}
	lone = emitted;
	assert_true(lone > 16 && lone < 32);
	assert_int_equal(kept.refused, 2 * (64 - lone));
	know(65, sizeof(bytes));
	assert_int_equal(kept_code_emit(&kept, &made_unwinder, &other, &made.sample, &consumer), 0);
	assert_int_equal(emitted, lone + 1);
	kept_code_renew(&kept);
	assert_int_equal(kept_code_emit(&kept, &made_unwinder, &other, &made.sample, &consumer), 0);
	assert_int_equal(emitted, lone + 2);
	assert_int_equal(kept.refused, 2 * (64 - lone));
	kept_code_deinit(&kept);
}

/* JIT code that ran for a function of a runtime is kept as well; the function has no code. */
CASE(test_of_runtimes)
{
	static const struct {
		enum jitbpf_frame_kind kind;
		bool kept;
	} frames[] = {{JITBPF_FRAME_INTERPRETER, true}, {JITBPF_FRAME_RUNTIME, false}};
	union {
		struct jitbpf_sample sample;
		uint8_t room[sizeof(struct jitbpf_sample) + 16];
	} made = {.sample = {.h.time_ns = 5, .user_words = 2}};
	struct process process = {.owner = {.charged_uid = 1000}};

	made_unwinder = (struct unwinder){.keeps_code = true};
	know(1, CODE_BYTES);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		struct kept_code kept = {0};
		uint64_t emitted = 0;
		const struct record_consumer consumer = {.take = count_code, .context = &emitted};

		made.sample.words[0] = (uint64_t)frames[i].kind << JITBPF_FRAME_KIND_SHIFT |
				       (frames[i].kept ? MADE_CODE : 7);
		made.sample.words[1] = 3; /* a line, or a caller */
		assert_int_equal(
			kept_code_emit(&kept, &made_unwinder, &process, &made.sample, &consumer),
			0);
		assert_int_equal(emitted, frames[i].kept);
		kept_code_deinit(&kept);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/record_check.h"
#include "decode/record/sample_parts.h"
#include "tests/unit/cases.h"

/* Check a copy of exactly its size, so that sanitizers detect reads beyond it. */
static int check(const void *record, size_t available_bytes)
{
	void *exact = malloc(available_bytes ? available_bytes : 1);
	int err;

	assert_non_null(exact);
	memcpy(exact, record, available_bytes);
	err = record_check(exact, available_bytes);
	free(exact);
	return err;
}

/* A record is valid with this size, and with no smaller one. */
static void assert_least(struct jitbpf_record *record, size_t size_bytes)
{
	for (size_t size = 0; size < size_bytes; size++) {
		record->size_bytes = (uint32_t)size;
		assert_int_equal(check(record, size_bytes), -EBADMSG);
	}
	record->size_bytes = (uint32_t)size_bytes;
	assert_int_equal(check(record, size_bytes), 0);
	for (size_t available = 0; available < size_bytes; available++)
		assert_int_equal(check(record, available), -EBADMSG);
}

CASE(test_fixed_sizes)
{
	static const struct {
		uint16_t type;
		size_t size_bytes;
	} fixed[] = {
		{JITBPF_SAMPLE, 64},   {JITBPF_JIT, 40},	   {JITBPF_COMM, 48},
		{JITBPF_FORK, 32},     {JITBPF_EXIT, 32},	   {JITBPF_THROTTLE, 24},
		{JITBPF_COUNTERS, 16}, {JITBPF_EVENT_COUNTS, 144}, {JITBPF_LOST_SAMPLES, 40},
		{JITBPF_JOURNAL, 72},  {JITBPF_INNER_PID, 32},	   {JITBPF_PROGRAM, 48},
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		uint64_t words[64] = {0};
		struct jitbpf_record *record = (struct jitbpf_record *)words;

		record->type = fixed[i].type;
		assert_least(record, fixed[i].size_bytes);
	}
}

CASE(test_sample)
{
	uint64_t words[8 + JITBPF_SAMPLE_WORDS_MAX + 18 + 1] = {0};
	struct jitbpf_sample *sample = (struct jitbpf_sample *)words;

	sample->h.type = JITBPF_SAMPLE;
	sample->kernel_words = 3;
	sample->user_words = 2;
	assert_least(&sample->h, 64 + 5 * 8);
	sample->h.flags = JITBPF_SAMPLE_USER_REGS;
	assert_least(&sample->h, 64 + 5 * 8 + 144);
	sample->h.flags = JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_WEIGHT;
	assert_least(&sample->h, 64 + 5 * 8 + 144 + 8);
	sample->h.flags = JITBPF_SAMPLE_WEIGHT;
	sample->event = JITBPF_EVENTS_MAX - 1;
	assert_least(&sample->h, 64 + 5 * 8 + 8);
	for (uint32_t event = JITBPF_EVENTS_MAX; event <= UINT16_MAX; event++) {
		sample->event = (uint16_t)event;
		assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	}
	sample->event = 0;
	sample->h.flags = JITBPF_SAMPLE_USER_REGS;
	sample->kernel_words = JITBPF_KERNEL_FRAMES_MAX;
	sample->user_words = JITBPF_USER_WORDS_MAX;
	assert_least(&sample->h, 64 + (127 + 3073) * 8 + 144);
	sample->h.size_bytes = sizeof(words);
	sample->kernel_words = JITBPF_KERNEL_FRAMES_MAX + 1;
	sample->user_words = 0;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	sample->kernel_words = 0;
	sample->user_words = UINT16_MAX;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	sample->user_words = 0;
	sample->user_end = JITBPF_END_COUNT;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	sample->user_end = 0;
	memset(sample->comm, 'x', sizeof(sample->comm));
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
}

/* The strings have the given sizes; the number is that of a frame. */
CASE(test_runtime_function)
{
	uint64_t words[16] = {0};
	struct jitbpf_runtime_function *function = (struct jitbpf_runtime_function *)words;

	function->h.type = JITBPF_RUNTIME_FUNCTION;
	function->number = (1ull << JITBPF_FRAME_KIND_SHIFT) - 1;
	function->name_bytes = function->file_bytes = 1;
	assert_least(&function->h, 58);
	function->name_bytes = 2;
	function->file_bytes = 4;
	memcpy(function->strings, "f\0a.c", 6);
	assert_least(&function->h, 62);
	function->h.size_bytes = sizeof(words);
	assert_int_equal(check(function, sizeof(words)), 0);
	function->number = 0;
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->number = 1ull << JITBPF_FRAME_KIND_SHIFT;
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->number = 1;
	function->name_bytes = 3; /* its NUL is not the last byte */
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->name_bytes = 0;
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->name_bytes = 2;
	function->file_bytes = 0;
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->file_bytes = UINT32_MAX;
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
	function->file_bytes = 4;
	memset(function->runtime, 'x', sizeof(function->runtime));
	assert_int_equal(check(function, sizeof(words)), -EBADMSG);
}

CASE(test_runtime)
{
	uint64_t words[16] = {0};
	struct jitbpf_runtime *runtime = (struct jitbpf_runtime *)words;

	runtime->h.type = JITBPF_RUNTIME;
	runtime->status = UINT32_MAX;
	assert_least(&runtime->h, 56);
	runtime->h.size_bytes = sizeof(words);
	memset(runtime->name, 'x', sizeof(runtime->name));
	assert_int_equal(check(runtime, sizeof(words)), -EBADMSG);
}

/* Runtime frames are all there, and end in a known way; other parts are behind them. */
CASE(test_runtime_frames)
{
	union {
		struct jitbpf_sample sample;
		uint64_t words[8 + 1 + 3 + 4 * JITBPF_RUNTIME_FRAMES_MAX + 16];
	} u = {.sample = {.h = {.type = JITBPF_SAMPLE, .flags = JITBPF_SAMPLE_RUNTIME_FRAMES},
			  .user_words = 1}};
	struct jitbpf_runtime_frames *part = (struct jitbpf_runtime_frames *)&u.words[9];

	part->end = JITBPF_RUNTIME_ROOT;
	assert_least(&u.sample.h, 64 + 8 + 24);
	part->count = 2;
	assert_least(&u.sample.h, 64 + 8 + 24 + 2 * 32);
	assert_ptr_equal(sample_runtime_frames(&u.sample), part);
	u.sample.h.flags |= JITBPF_SAMPLE_CODE_BYTES;
	assert_least(&u.sample.h, 64 + 8 + 24 + 2 * 32 + sizeof(struct jitbpf_code_bytes));
	assert_ptr_equal(code_bytes_of(&u.sample), &part->frames[2]);
	u.sample.h.flags = JITBPF_SAMPLE_RUNTIME_FRAMES;
	part->count = JITBPF_RUNTIME_FRAMES_MAX;
	assert_least(&u.sample.h, 64 + 8 + 24 + 1024 * 32);
	u.sample.h.size_bytes = sizeof(u);
	part->count = JITBPF_RUNTIME_FRAMES_MAX + 1;
	assert_int_equal(check(&u, sizeof(u)), -EBADMSG);
	part->count = UINT32_MAX;
	assert_int_equal(check(&u, sizeof(u)), -EBADMSG);
	part->count = 0;
	for (uint32_t end = 0; end <= 6; end++) {
		part->end = end;
		assert_int_equal(check(&u, sizeof(u)),
				 end >= JITBPF_RUNTIME_ROOT && end <= JITBPF_RUNTIME_UNSETTLED
					 ? 0
					 : -EBADMSG);
	}
}

/* Both strings end inside the record, within their limits. */
CASE(test_cgroup)
{
	static uint64_t words[(sizeof(struct jitbpf_cgroup) + JITBPF_CGROUP_PATH_MAX +
			       JITBPF_CGROUP_NAME_MAX) /
			      8];
	struct jitbpf_cgroup *cgroup = (struct jitbpf_cgroup *)words;
	const size_t head = sizeof(*cgroup);

	cgroup->h.type = JITBPF_CGROUP;
	memcpy(cgroup->strings, "/a\0web", 7);
	assert_least(&cgroup->h, head + 7);
	memset(cgroup->strings, 0, 7);
	assert_least(&cgroup->h, head + 2);
	memset(cgroup->strings, 'a', JITBPF_CGROUP_PATH_MAX);
	cgroup->h.size_bytes = sizeof(words);
	assert_int_equal(check(cgroup, sizeof(words)), -EBADMSG);
	cgroup->strings[JITBPF_CGROUP_PATH_MAX - 1] = 0;
	assert_int_equal(check(cgroup, sizeof(words)), 0);
	memset(cgroup->strings + JITBPF_CGROUP_PATH_MAX, 'b', JITBPF_CGROUP_NAME_MAX - 1);
	assert_int_equal(check(cgroup, sizeof(words)), 0);
	cgroup->strings[JITBPF_CGROUP_PATH_MAX + JITBPF_CGROUP_NAME_MAX - 1] = 'b';
	assert_int_equal(check(cgroup, sizeof(words)), -EBADMSG);
	cgroup->strings[0] = 0;
	cgroup->strings[1 + JITBPF_CGROUP_NAME_MAX] = 0; /* a longer name that ends */
	assert_int_equal(check(cgroup, sizeof(words)), -EBADMSG);
}

CASE(test_code)
{
	static uint64_t words[(sizeof(struct jitbpf_code) + JITBPF_CODE_COPY_MAX) / 8 + 1];
	struct jitbpf_code *code = (struct jitbpf_code *)words;

	code->h.type = JITBPF_CODE;
	code->size_bytes = 100;
	assert_least(&code->h, 56 + 1);
	code->h.size_bytes = 56 + 40;
	code->offset = 60;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->offset = 61;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->offset = UINT32_MAX - 39;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->size_bytes = UINT64_MAX;
	code->offset = JITBPF_CODE_COPY_MAX - 40;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->offset++;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->offset = 0;
	code->h.size_bytes = 56 + JITBPF_CODE_COPY_MAX;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->address = 1;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->size_bytes--;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->h.size_bytes++;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
}

CASE(test_kept_code)
{
	static uint64_t words[(sizeof(struct jitbpf_kept_code) + JITBPF_KEPT_CODE_MAX) / 8 + 1];
	struct jitbpf_kept_code *code = (struct jitbpf_kept_code *)words;

	code->h.type = JITBPF_KEPT_CODE;
	code->size_bytes = 40;
	assert_least(&code->h, sizeof(*code) + 1);
	code->h.size_bytes = sizeof(*code) + 40;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->size_bytes--;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->size_bytes = UINT64_MAX;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->address = 1;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
	code->size_bytes--;
	code->h.size_bytes = sizeof(*code) + JITBPF_KEPT_CODE_MAX;
	assert_int_equal(check(code, sizeof(words)), 0);
	code->h.size_bytes++;
	assert_int_equal(check(code, sizeof(words)), -EBADMSG);
}

CASE(test_stack_copy)
{
	static uint64_t words[8 + 2 + 18 + 9 + 7 + JITBPF_STACK_COPY_MAX / 8 + 1];
	struct jitbpf_sample *sample = (struct jitbpf_sample *)words;
	struct jitbpf_stack_copy *copy = (struct jitbpf_stack_copy *)&sample->words[2];

	sample->h.type = JITBPF_SAMPLE;
	sample->h.flags = JITBPF_SAMPLE_STACK_COPY;
	sample->kernel_words = sample->user_words = 1;
	sample->user_end = JITBPF_END_NO_RULE;
	assert_least(&sample->h, 64 + 2 * 8 + 56);
	copy->is_caller = 1;
	copy->size_bytes = 21;
	assert_least(&sample->h, 64 + 2 * 8 + 56 + 21);
	sample->h.size_bytes = sizeof(words);
	copy->is_caller = 2;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	copy->is_caller = 0;
	copy->is_narrow = 2;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	copy->is_narrow = 1;
	copy->size_bytes = JITBPF_STACK_COPY_MAX + 1;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	copy->size_bytes = UINT32_MAX;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);
	copy->size_bytes = JITBPF_STACK_COPY_MAX;
	assert_int_equal(check(sample, sizeof(words)), 0);
	for (uint32_t end = 0; end < JITBPF_END_COUNT; end++) {
		sample->user_end = end;
		assert_int_equal(check(sample, sizeof(words)),
				 end == JITBPF_END_NO_RULE ? 0 : -EBADMSG);
	}
	sample->user_end = JITBPF_END_NO_RULE;
	sample->kernel_words = 2;
	sample->user_words = 0;
	assert_int_equal(check(sample, sizeof(words)), -EBADMSG);

	/* The copy comes after the registers. */
	sample->h.flags |= JITBPF_SAMPLE_USER_REGS;
	sample->kernel_words = sample->user_words = 1;
	copy = (struct jitbpf_stack_copy *)&sample->words[2 + 18];
	memset(copy, 0, sizeof(*copy));
	copy->size_bytes = 21;
	assert_least(&sample->h, 64 + 2 * 8 + 144 + 56 + 21);

	/* Bytes of code are between both. */
	sample->h.flags |= JITBPF_SAMPLE_CODE_BYTES;
	copy = (struct jitbpf_stack_copy *)&sample->words[2 + 18 + 9];
	memset(copy, 0, sizeof(*copy));
	copy->size_bytes = 21;
	assert_least(&sample->h, 64 + 2 * 8 + 144 + 72 + 56 + 21);
	sample->h.flags = JITBPF_SAMPLE_CODE_BYTES;
	assert_least(&sample->h, 64 + 2 * 8 + 72);
}

CASE(test_jit)
{
	uint64_t words[16] = {0};
	struct jitbpf_jit *jit = (struct jitbpf_jit *)words;

	jit->h.type = JITBPF_JIT;
	jit->data_bytes = 77;
	assert_least(&jit->h, 40 + 77);
	jit->data_bytes = UINT32_MAX;
	assert_int_equal(check(jit, 117), -EBADMSG);
}

CASE(test_mapping)
{
	uint64_t words[16] = {0};
	struct jitbpf_mapping *mapping = (struct jitbpf_mapping *)words;

	mapping->h.type = JITBPF_MAPPING;
	mapping->address = 0x1000;
	mapping->size_bytes = 0x1000;
	memcpy(mapping->path, "/bin/x", 7);
	assert_least(&mapping->h, 112 + 7);
	mapping->build_id_bytes = JITBPF_BUILD_ID_MAX;
	assert_int_equal(check(mapping, 119), 0);
	mapping->build_id_bytes++;
	assert_int_equal(check(mapping, 119), -EBADMSG);
	mapping->build_id_bytes = 0;
	mapping->size_bytes = 0;
	assert_int_equal(check(mapping, 119), -EBADMSG);
	mapping->size_bytes = UINT64_MAX;
	assert_int_equal(check(mapping, 119), -EBADMSG);
	mapping->size_bytes = 0x1000;
	mapping->path[6] = 'y';
	assert_int_equal(check(mapping, 119), -EBADMSG);
}

CASE(test_strings)
{
	uint64_t words[8] = {0};
	struct jitbpf_comm *comm = (struct jitbpf_comm *)words;
	struct jitbpf_kernel_symbol *symbol = (struct jitbpf_kernel_symbol *)words;

	comm->h.type = JITBPF_COMM;
	comm->h.size_bytes = sizeof(*comm);
	memset(comm->comm, 'x', sizeof(comm->comm) - 1);
	assert_int_equal(check(comm, sizeof(*comm)), 0);
	comm->comm[15] = 'x';
	assert_int_equal(check(comm, sizeof(*comm)), -EBADMSG);
	memset(words, 0, sizeof(words));
	symbol->h.type = JITBPF_KERNEL_SYMBOL;
	memcpy(symbol->name, "bpf_prog", 9);
	assert_least(&symbol->h, 32 + 9);
}

CASE(test_counters)
{
	uint64_t words[8] = {0};
	struct jitbpf_record *record = (struct jitbpf_record *)words;

	record->type = JITBPF_COUNTERS;
	record->size_bytes = 40;
	assert_int_equal(check(record, sizeof(words)), 0);
	record->size_bytes = 41;
	assert_int_equal(check(record, sizeof(words)), -EBADMSG);
}

CASE(test_journal)
{
	uint64_t words[12] = {0};
	struct jitbpf_journal *journal = (struct jitbpf_journal *)words;

	journal->h.type = JITBPF_JOURNAL;
	journal->h.size_bytes = 72 + 24;
	journal->live[0] = 3;
	journal->live[1] = 4;
	journal->live[2] = 9;
	assert_int_equal(check(journal, 96), 0);
	journal->live[1] = 3;
	assert_int_equal(check(journal, 96), -EBADMSG);
	journal->live[1] = 9;
	assert_int_equal(check(journal, 96), -EBADMSG);
	journal->h.size_bytes = 72 + 8;
	assert_int_equal(check(journal, 96), 0);
	journal->h.size_bytes = 72 + 9;
	assert_int_equal(check(journal, 96), -EBADMSG);
	journal->h.size_bytes = 72;
	journal->from_ns = 1;
	assert_int_equal(check(journal, 96), -EBADMSG);
	journal->to_ns = 1;
	assert_int_equal(check(journal, 96), 0);
}

CASE(test_unknown_type)
{
	uint64_t words[8] = {0};
	struct jitbpf_record *record = (struct jitbpf_record *)words;

	record->type = 77;
	record->size_bytes = 16;
	assert_int_equal(check(record, 16), -ENOTSUP);
	record->size_bytes = 17;
	assert_int_equal(check(record, 16), -EBADMSG);
	record->size_bytes = 15;
	assert_int_equal(check(record, 16), -EBADMSG);
}

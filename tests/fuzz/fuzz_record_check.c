/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sequence of records as from a source. Each record that passes the check is
 * read according to its type, and applied to a process table.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/media/jit_event.h"
#include "decode/record/record_check.h"
#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"
#include "state/process/cgroup_table.h"
#include "state/process/process_code.h"
#include "tests/fuzz/seeds.h"

SEEDS(15);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct fuzzed {
	struct process_table table;
	struct module_table modules;
	struct cgroup_table cgroups;
	struct string_pool *strings;
	volatile uint64_t sink;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

/*
 * Read the frames one at a time, and cut the finished sample behind each of them: what is left are
 * whole frames, and the parts behind them stay the same.
 */
static void read_frames(struct fuzzed *fuzzed, const struct jitbpf_sample *sample)
{
	struct frame_words user = sample_user_frames(sample), rest = user, left;
	struct typed_frame frame;
	uint32_t frames = 0;

	while (frame_words_next(&rest, &frame)) {
		fuzzed->sink += frame.value + frame.position + typed_frame_pc(&frame);
		frames++;
	}
	require(frame_words_are_whole(&user) == !rest.count);
	require(frame_words_of(&user, frames) == user.count - rest.count);
	for (uint32_t i = 0; i <= frames && i < 4; i++) {
		union finished_sample *finished = malloc(sizeof(*finished));

		require(finished != NULL);
		sample_build(sample, &user, sample->user_end, finished);
		sample_cut(&finished->sample, frames - i);
		left = sample_user_frames(&finished->sample);
		require(frame_words_are_whole(&left));
		require(finished->sample.h.size_bytes == sample_finished_bytes(&finished->sample));
		require(!memcmp(sample_kept_parts(&finished->sample), sample_kept_parts(sample),
				sample_kept_bytes(sample)));
		free(finished);
	}
}

/* Read the optional parts after the frames. */
static void read_behind(struct fuzzed *fuzzed, const struct jitbpf_sample *sample)
{
	const uint64_t *behind = sample_kept_parts(sample);
	const struct jitbpf_stack_copy *copy;

	if (sample->h.flags & JITBPF_SAMPLE_USER_REGS) {
		fuzzed->sink += ((const struct jitbpf_user_regs *)behind)->r15;
		behind += sizeof(struct jitbpf_user_regs) / sizeof(*behind);
	}
	if (sample->h.flags & JITBPF_SAMPLE_WEIGHT)
		fuzzed->sink += *behind++;
	if (sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES) {
		const struct jitbpf_runtime_frames *frames = (const void *)behind;

		require(frames == sample_runtime_frames(sample));
		for (uint32_t i = 0; i < frames->count; i++)
			fuzzed->sink += frames->frames[i].check;
		behind = (const uint64_t *)&frames->frames[frames->count];
	}
	if (sample->h.flags & JITBPF_SAMPLE_CODE_BYTES) {
		const struct jitbpf_code_bytes *code = (const struct jitbpf_code_bytes *)behind;

		for (uint32_t i = 0; i < JITBPF_CODE_BYTES; i++)
			fuzzed->sink += code->bytes[i];
		behind += sizeof(*code) / sizeof(*behind);
	}
	if (!(sample->h.flags & JITBPF_SAMPLE_STACK_COPY))
		return;
	copy = (const struct jitbpf_stack_copy *)behind;
	require(copy->size_bytes <= JITBPF_STACK_COPY_MAX && copy->is_caller <= 1 &&
		copy->is_narrow <= 1);
	for (uint32_t i = 0; i < copy->size_bytes; i++)
		fuzzed->sink += copy->data[i];
}

static void take_sample(struct fuzzed *fuzzed, const struct jitbpf_sample *sample)
{
	const struct code_region *region;
	const struct mapping *mapping;
	struct process *process;
	struct code_place place;

	require(!process_table_at(&fuzzed->table, sample->pid, sample->start_ns, sample->h.time_ns,
				  &process));
	require(process->pid == sample->pid && sample->user_end < JITBPF_END_COUNT);
	for (uint32_t i = 0; i < sample->kernel_words + sample->user_words; i++) {
		fuzzed->sink += sample->words[i];
		mapping = process_mapping_told(process, sample->words[i], sample->h.time_ns);
		if (mapping)
			fuzzed->sink += mapping->module;
		region = process_code_find(process, mapping, sample->words[i], sample->h.time_ns,
					   &place);
		if (region)
			require(place.address - region->address < region->size_bytes);
	}
	read_frames(fuzzed, sample);
	read_behind(fuzzed, sample);
	fuzzed->sink += strlen(sample->comm);
}

/* Read a record in one part; assembly of parts has a target of its own. */
static void take_jit(struct fuzzed *fuzzed, const struct jitbpf_jit *jit)
{
	struct jitbpf_jit_header header;
	struct code_event event;
	struct process *process;
	struct jit_event whole;

	require(!process_table_at(&fuzzed->table, jit->pid, jit->start_ns, jit->h.time_ns,
				  &process));
	if (!process->code || jit_part_decode(jit->data, jit->data_bytes, &header) ||
	    jit_fields_decode(&header, jit->data + sizeof(header),
			      header.size_bytes - sizeof(header), &whole))
		return;
	jit_event_convert(&whole, jit, &event);
	event.origin.engine |= CODE_ENGINE_KNOWN;
	require(!process_code_apply(process, &event));
}

/* A copy is within its budget and inside its code. */
static void take_code(struct fuzzed *fuzzed, const struct jitbpf_code *code)
{
	size_t data_bytes = code->h.size_bytes - sizeof(*code);

	require(data_bytes && code->offset + data_bytes <= JITBPF_CODE_COPY_MAX &&
		code->offset + data_bytes <= code->size_bytes);
	for (size_t i = 0; i < data_bytes; i++)
		fuzzed->sink += code->data[i];
}

static void take_kept_code(struct fuzzed *fuzzed, const struct jitbpf_kept_code *code)
{
	size_t data_bytes = code->h.size_bytes - sizeof(*code);

	require(data_bytes && data_bytes <= JITBPF_KEPT_CODE_MAX && data_bytes <= code->size_bytes);
	for (size_t i = 0; i < data_bytes; i++)
		fuzzed->sink += code->data[i];
}

static void take_journal(struct fuzzed *fuzzed, const struct jitbpf_journal *journal)
{
	struct code_gap gap = {
		.from_ns = journal->from_ns,
		.to_ns = journal->to_ns,
		.live = (const uint64_t *)journal->live,
		.live_count = (journal->h.size_bytes - sizeof(*journal)) / 8,
	};
	struct process *process;

	require(!process_table_at(&fuzzed->table, journal->pid, journal->start_ns, journal->to_ns,
				  &process));
	if (process->code)
		require(!process_code_gap(process, &gap));
}

static void take_code_event(struct fuzzed *fuzzed, const struct jitbpf_code_event *record)
{
	struct code_event event;
	struct process *process;

	require(!process_table_at(&fuzzed->table, record->pid, record->start_ns,
				  record->reported_ns, &process));
	if (!process->code || code_event_decode(record, record->h.size_bytes, &event))
		return;
	event.origin.engine = process_code_engine(process, &event);
	require(!process_code_apply(process, &event));
}

/* Names are never NULL, and only a cgroup that is not known has none. */
static void take_cgroup(struct fuzzed *fuzzed, const struct jitbpf_cgroup *record)
{
	const struct known_cgroup *known;
	int err = cgroup_table_take(&fuzzed->cgroups, record);

	require(!err || err == -EDQUOT);
	known = cgroup_table_find(&fuzzed->cgroups, record->cgroup);
	require(!known == (err || record->h.flags & JITBPF_CGROUP_GONE));
	if (!known)
		return;
	require(!strcmp(known->path, record->strings));
	require(known_cgroup_is_of(known, known->path));
	require(!*known->name || known_cgroup_is_of(known, known->name));
	fuzzed->sink += strlen(known->container) + strlen(known->unit);
}

static void take(struct fuzzed *fuzzed, const struct jitbpf_record *record)
{
	const struct jitbpf_counters *counters = (const struct jitbpf_counters *)record;
	int err = 0;

	switch (record->type) {
	case JITBPF_SAMPLE:
		take_sample(fuzzed, (const struct jitbpf_sample *)record);
		break;
	case JITBPF_JIT:
		take_jit(fuzzed, (const struct jitbpf_jit *)record);
		break;
	case JITBPF_KEPT_CODE:
		take_kept_code(fuzzed, (const struct jitbpf_kept_code *)record);
		break;
	case JITBPF_CODE:
		take_code(fuzzed, (const struct jitbpf_code *)record);
		break;
	case JITBPF_CODE_EVENT:
		take_code_event(fuzzed, (const struct jitbpf_code_event *)record);
		break;
	case JITBPF_JOURNAL:
		take_journal(fuzzed, (const struct jitbpf_journal *)record);
		break;
	case JITBPF_MAPPING:
		err = process_table_map(&fuzzed->table, (const struct jitbpf_mapping *)record);
		break;
	case JITBPF_COMM:
		err = process_table_comm(&fuzzed->table, (const struct jitbpf_comm *)record);
		break;
	case JITBPF_INNER_PID:
		err = process_table_inner_pid(&fuzzed->table,
					      (const struct jitbpf_inner_pid *)record);
		break;
	case JITBPF_OWNER:
		err = process_table_owner(&fuzzed->table, (const struct jitbpf_owner *)record);
		break;
	case JITBPF_CGROUP:
		take_cgroup(fuzzed, (const struct jitbpf_cgroup *)record);
		break;
	case JITBPF_FORK:
		err = process_table_fork(&fuzzed->table, (const struct jitbpf_task *)record);
		break;
	case JITBPF_EXIT:
		err = process_table_exit(&fuzzed->table, (const struct jitbpf_task *)record);
		process_table_forget(&fuzzed->table, record->time_ns);
		break;
	case JITBPF_KERNEL_SYMBOL:
		fuzzed->sink += strlen(((const struct jitbpf_kernel_symbol *)record)->name);
		break;
	case JITBPF_COUNTERS:
		for (size_t i = 0; i < (record->size_bytes - sizeof(*record)) / 8; i++)
			fuzzed->sink += counters->values[i];
		break;
	}
	require(!err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct fuzzed fuzzed = {.sink = 0};
	size_t left = size_bytes;

	require(!string_pool_create(&fuzzed.strings));
	process_table_init(&fuzzed.table, fuzzed.strings, &fuzzed.modules, &code_budget_default,
			   NULL);
	while (left) {
		struct jitbpf_record *exact = malloc(left);
		size_t used = 0;
		int err;

		/*
		 * The copy has exactly its size and alignment, so that
		 * sanitizers detect reads beyond it.
		 */
		require(exact);
		memcpy(exact, data + size_bytes - left, left);
		err = record_check(exact, left);
		require(err <= 0);
		if (!err)
			take(&fuzzed, exact);
		if (err != -EBADMSG)
			used = exact->size_bytes;
		free(exact);
		if (!used)
			break;
		left -= used;
	}
	if (!left)
		seed_taken();
	cgroup_table_deinit(&fuzzed.cgroups);
	process_table_deinit(&fuzzed.table);
	module_table_deinit(&fuzzed.modules);
	string_pool_destroy(fuzzed.strings);
	return 0;
}

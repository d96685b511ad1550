/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/record_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode/record/code_event.h"
#include "decode/record/sample_parts.h"

/* Returns true if a string that begins at offset ends inside the record. */
static bool string_ends(const struct jitbpf_record *record, size_t offset)
{
	return record->size_bytes > offset &&
	       memchr((const char *)record + offset, 0, record->size_bytes - offset);
}

static bool comm_ends(const char comm[JITBPF_COMM_MAX])
{
	return memchr(comm, 0, JITBPF_COMM_MAX);
}

/* Check a stack copy: the walk ended at a frame without a rule. */
static bool copy_is_whole(const struct jitbpf_sample *sample, size_t offset)
{
	const struct jitbpf_stack_copy *copy = (const void *)((const char *)sample + offset);

	if (sample->h.size_bytes < offset + sizeof(*copy) || !sample->user_words ||
	    sample->user_end != JITBPF_END_NO_RULE)
		return false;
	return copy->is_caller <= 1 && copy->is_narrow <= 1 &&
	       copy->size_bytes <= JITBPF_STACK_COPY_MAX &&
	       copy->size_bytes <= sample->h.size_bytes - offset - sizeof(*copy);
}

static bool sample_is_whole(const struct jitbpf_sample *sample)
{
	size_t wanted;

	if (sample->kernel_words > JITBPF_KERNEL_FRAMES_MAX ||
	    sample->user_words > JITBPF_USER_WORDS_MAX || sample->user_end >= JITBPF_END_COUNT ||
	    sample->event >= JITBPF_EVENTS_MAX || !comm_ends(sample->comm))
		return false;
	wanted = sample_finished_bytes(sample);
	if (sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES) {
		const struct jitbpf_runtime_frames *part = sample_runtime_frames(sample);

		if (!part || part->end < JITBPF_RUNTIME_ROOT ||
		    part->end > JITBPF_RUNTIME_UNSETTLED)
			return false;
		wanted += sizeof(*part) + part->count * sizeof(part->frames[0]);
	}
	if (sample->h.flags & JITBPF_SAMPLE_CODE_BYTES)
		wanted += sizeof(struct jitbpf_code_bytes);
	if (sample->h.flags & JITBPF_SAMPLE_STACK_COPY)
		return copy_is_whole(sample, wanted);
	return sample->h.size_bytes >= wanted;
}

static bool mapping_is_whole(const struct jitbpf_mapping *mapping)
{
	uint64_t end = mapping->address + mapping->size_bytes;

	return end > mapping->address && mapping->build_id_bytes <= JITBPF_BUILD_ID_MAX &&
	       string_ends(&mapping->h, offsetof(struct jitbpf_mapping, path));
}

static bool journal_is_whole(const struct jitbpf_journal *journal)
{
	size_t live_bytes = journal->h.size_bytes - sizeof(*journal);

	for (size_t i = 1; i < live_bytes / sizeof(journal->live[0]); i++) {
		if (journal->live[i - 1] >= journal->live[i])
			return false;
	}
	return live_bytes % sizeof(journal->live[0]) == 0 && journal->from_ns <= journal->to_ns &&
	       journal->publisher < JITBPF_PUBLISHER_COUNT;
}

/* Check a piece of code: it is inside the code, and inside its copied part. */
static bool code_is_whole(const struct jitbpf_code *code)
{
	size_t data_bytes = code->h.size_bytes - sizeof(*code);

	return data_bytes && data_bytes <= JITBPF_CODE_COPY_MAX &&
	       code->offset <= JITBPF_CODE_COPY_MAX - data_bytes &&
	       code->size_bytes >= code->offset + data_bytes &&
	       code->size_bytes <= UINT64_MAX - code->address;
}

/* Check code that was kept: it is the beginning of a region that does not wrap. */
static bool kept_code_is_whole(const struct jitbpf_kept_code *code)
{
	size_t data_bytes = code->h.size_bytes - sizeof(*code);

	return data_bytes && data_bytes <= JITBPF_KEPT_CODE_MAX && data_bytes <= code->size_bytes &&
	       code->size_bytes <= UINT64_MAX - code->address;
}

/* Check that both strings end, within their limits. */
static bool cgroup_is_whole(const struct jitbpf_cgroup *record)
{
	size_t bytes = record->h.size_bytes - sizeof(*record);
	size_t path_bytes = strnlen(record->strings, bytes);
	size_t name_bytes;

	if (path_bytes >= bytes || path_bytes >= JITBPF_CGROUP_PATH_MAX)
		return false;
	bytes -= path_bytes + 1;
	name_bytes = strnlen(record->strings + path_bytes + 1, bytes);
	return name_bytes < bytes && name_bytes < JITBPF_CGROUP_NAME_MAX;
}

/* Check a string of size_bytes with its NUL, which is the only one. */
static bool is_string(const char *s, size_t size_bytes)
{
	return size_bytes && strnlen(s, size_bytes) == size_bytes - 1;
}

/* The strings can be followed by padding. */
static bool runtime_function_is_whole(const struct jitbpf_runtime_function *record)
{
	size_t bytes = record->h.size_bytes - sizeof(*record);

	if (!record->number || record->number >> JITBPF_FRAME_KIND_SHIFT ||
	    !memchr(record->runtime, 0, sizeof(record->runtime)) || record->name_bytes > bytes ||
	    record->file_bytes > bytes - record->name_bytes)
		return false;
	return is_string(record->strings, record->name_bytes) &&
	       is_string(record->strings + record->name_bytes, record->file_bytes);
}

/* An unknown publisher, of a newer version, is not an error. */
static bool code_event_is_whole(const struct jitbpf_code_event *record)
{
	struct code_event ignored;

	return code_event_decode(record, record->h.size_bytes, &ignored) != -EBADMSG;
}

/* Returns the least size of a record of a type; 0 for an unknown type. */
static size_t least_bytes(uint16_t type)
{
	switch (type) {
	case JITBPF_SAMPLE:
		return sizeof(struct jitbpf_sample);
	case JITBPF_JIT:
		return sizeof(struct jitbpf_jit);
	case JITBPF_CODE:
		return sizeof(struct jitbpf_code);
	case JITBPF_KEPT_CODE:
		return sizeof(struct jitbpf_kept_code);
	case JITBPF_MAPPING:
		return sizeof(struct jitbpf_mapping);
	case JITBPF_COMM:
		return sizeof(struct jitbpf_comm);
	case JITBPF_FORK:
	case JITBPF_EXIT:
		return sizeof(struct jitbpf_task);
	case JITBPF_INNER_PID:
		return sizeof(struct jitbpf_inner_pid);
	case JITBPF_OWNER:
		return sizeof(struct jitbpf_owner);
	case JITBPF_CGROUP:
		return sizeof(struct jitbpf_cgroup);
	case JITBPF_JIT_COUNTS:
		return sizeof(struct jitbpf_jit_counts);
	case JITBPF_KERNEL_SYMBOL:
		return sizeof(struct jitbpf_kernel_symbol);
	case JITBPF_THROTTLE:
		return sizeof(struct jitbpf_throttle);
	case JITBPF_LOST_SAMPLES:
		return sizeof(struct jitbpf_lost_samples);
	case JITBPF_COUNTERS:
		return sizeof(struct jitbpf_counters);
	case JITBPF_EVENT_COUNTS:
		return sizeof(struct jitbpf_event_counts);
	case JITBPF_JOURNAL:
		return sizeof(struct jitbpf_journal);
	case JITBPF_CODE_EVENT:
		return sizeof(struct jitbpf_code_event);
	case JITBPF_CODE_REFUSED:
		return sizeof(struct jitbpf_code_refused);
	case JITBPF_RUNTIME:
		return sizeof(struct jitbpf_runtime);
	case JITBPF_PROGRAM:
		return sizeof(struct jitbpf_program);
	case JITBPF_RUNTIME_FUNCTION:
		return sizeof(struct jitbpf_runtime_function);
	default:
		return 0;
	}
}

/* Check counts and strings of a record whose fixed part is complete. */
static bool is_whole(const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_SAMPLE:
		return sample_is_whole((const struct jitbpf_sample *)record);
	case JITBPF_JIT:
		return ((const struct jitbpf_jit *)record)->data_bytes <=
		       record->size_bytes - sizeof(struct jitbpf_jit);
	case JITBPF_CODE:
		return code_is_whole((const struct jitbpf_code *)record);
	case JITBPF_KEPT_CODE:
		return kept_code_is_whole((const struct jitbpf_kept_code *)record);
	case JITBPF_MAPPING:
		return mapping_is_whole((const struct jitbpf_mapping *)record);
	case JITBPF_COMM:
		return comm_ends(((const struct jitbpf_comm *)record)->comm);
	case JITBPF_CGROUP:
		return cgroup_is_whole((const struct jitbpf_cgroup *)record);
	case JITBPF_KERNEL_SYMBOL:
		return string_ends(record, offsetof(struct jitbpf_kernel_symbol, name));
	case JITBPF_LOST_SAMPLES:
		return ((const struct jitbpf_lost_samples *)record)->event < JITBPF_EVENTS_MAX;
	case JITBPF_COUNTERS:
	case JITBPF_JIT_COUNTS: /* a multiple, since its fixed part is one */
		return (record->size_bytes - sizeof(*record)) % sizeof(uint64_t) == 0;
	case JITBPF_JOURNAL:
		return journal_is_whole((const struct jitbpf_journal *)record);
	case JITBPF_CODE_EVENT:
		return code_event_is_whole((const struct jitbpf_code_event *)record);
	case JITBPF_RUNTIME:
		return memchr(((const struct jitbpf_runtime *)record)->name, 0,
			      sizeof(((const struct jitbpf_runtime *)record)->name));
	case JITBPF_RUNTIME_FUNCTION:
		return runtime_function_is_whole((const struct jitbpf_runtime_function *)record);
	default:
		return true;
	}
}

int record_check(const void *bytes, size_t available_bytes)
{
	const struct jitbpf_record *record = bytes;
	size_t least;

	if (available_bytes < sizeof(*record) || record->size_bytes < sizeof(*record) ||
	    record->size_bytes > available_bytes)
		return -EBADMSG;
	least = least_bytes(record->type);
	if (!least)
		return -ENOTSUP;
	return record->size_bytes >= least && is_whole(record) ? 0 : -EBADMSG;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/log_events.h"

#include <string.h>

#include "jitapi-shim/caller_group.h"
#include "jitapi-shim/payload.h"
#include "uapi/jit_journal.h"

/*
 * A parent's code does not run until all that is inlined into it has been told
 * of: what has waited so long waits for nothing.
 */
#define WAIT_NS 10000000000ull

/* At most four keys an event: its id and its parent's, each of its engine and in its host. */
static uint64_t table_size(uint64_t key_count)
{
	uint64_t size = 16;

	while (size < key_count + key_count / 4)
		size *= 2;
	return size;
}

uint64_t log_events_bytes(uint32_t entry_count)
{
	uint64_t each = sizeof(struct log_event) + 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t);

	return each * entry_count + table_size(4ull * entry_count) * sizeof(struct log_key) +
	       CALLER_GROUPS_BYTES + range_marks_bytes(entry_count) + 256;
}

struct log_key *log_events_key(const struct log_events *log, uint32_t id, uint32_t scope)
{
	uint32_t slot = log_hash(id, scope) & log->key_mask;
	struct log_key *key;

	for (;; slot = (slot + 1) & log->key_mask) {
		key = &log->keys[slot];
		if (key->id == id && key->scope == scope)
			return key;
		if (!key->scope)
			break;
	}
	*key = (struct log_key){id, scope, LOG_NONE, LOG_NONE};
	return key;
}

static enum log_kind kind_of(const struct jitbpf_jit_header *header)
{
	bool range = header->address && header->code_bytes &&
		     header->address + header->code_bytes > header->address;

	switch (header->event) {
	case JITAPI_LOAD:
	case JITAPI_LOAD_V2:
	case JITAPI_LOAD_V3:
		return range && header->method_id ? LOG_LOAD : LOG_NOTHING;
	case JITAPI_INLINE_LOAD:
		return range && header->method_id ? LOG_INLINED : LOG_NOTHING;
	case JITAPI_UNLOAD:
		if (header->method_id)
			return LOG_UNLOAD_ID;
		return range ? LOG_UNLOAD_RANGE : LOG_NOTHING;
	case JITAPI_UPDATE:
	case JITAPI_UPDATE_V2:
		return range ? LOG_CHANGE : LOG_NOTHING;
	}
	return LOG_NOTHING;
}

static bool has_range(enum log_kind kind)
{
	return kind != LOG_NOTHING && kind != LOG_UNLOAD_ID;
}

static const struct jitbpf_jit_header *next_header(const void **entries)
{
	const struct jitbpf_journal_entry *entry = *entries;

	*entries = (const char *)*entries + entry->size_bytes;
	return &entry->header;
}

/* The ends of all ranges, and who called. Returns the time of the newest event. */
static uint64_t survey(struct log_events *log, const void *entries, struct caller_groups *groups,
		       struct scratch *scratch)
{
	uint64_t *ends = scratch_take(scratch, 2ull * log->count * sizeof(*ends));
	uint64_t newest_ns = 0, key_count = 0;
	uint32_t end_count = 0;

	for (uint32_t i = 0; i < log->count; i++) {
		const struct jitbpf_jit_header *header = next_header(&entries);
		enum log_kind kind = kind_of(header);

		caller_groups_add(groups, header->caller);
		if (newest_ns < header->time_ns)
			newest_ns = header->time_ns;
		key_count += kind == LOG_INLINED ? 4 : 1;
		if (!has_range(kind))
			continue;
		ends[end_count++] = header->address;
		ends[end_count++] = header->address + header->code_bytes;
	}
	caller_groups_resolve(groups, scratch);
	range_marks_init(&log->marks, ends, end_count, scratch);
	log->key_mask = (uint32_t)table_size(key_count) - 1;
	log->keys = scratch_take(scratch, (log->key_mask + 1ull) * sizeof(*log->keys));
	log->starts = scratch_take(scratch, end_count * sizeof(*log->starts));
	memset(log->starts, 0xff, end_count * sizeof(*log->starts));
	return newest_ns;
}

void log_events_read(struct log_events *log, const void *entries, uint32_t entry_count,
		     struct scratch *scratch)
{
	struct caller_groups *groups = scratch_take(scratch, sizeof(*groups));
	uint32_t near = 0;
	uint64_t newest_ns;

	log->count = entry_count;
	log->events = scratch_take(scratch, (uint64_t)entry_count * sizeof(*log->events));
	newest_ns = survey(log, entries, groups, scratch);
	log->unsure = groups->unsure;

	for (uint32_t i = 0; i < entry_count; i++) {
		const struct jitbpf_jit_header *header = next_header(&entries);
		struct log_event *event = &log->events[i];

		*event = (struct log_event){
			.id = header->method_id,
			.parent_id = header->parent_id,
			.group = caller_groups_get(groups, header->caller),
			.overwriter = LOG_NONE,
			.ender = LOG_NONE,
			.host = LOG_NONE,
			.part_of = LOG_NONE,
			.overwritten = LOG_NONE,
			.hosted = LOG_NONE,
			.kind = (uint8_t)kind_of(header),
			.old = newest_ns - header->time_ns > WAIT_NS,
		};
		if (!has_range(event->kind))
			continue;
		/* Engines allocate upwards, more often than not. */
		event->from = range_marks_cell(&log->marks, header->address, near);
		event->to = near = range_marks_cell(
			&log->marks, header->address + header->code_bytes, event->from);
	}
}

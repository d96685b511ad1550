/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jitapi-shim/journal_compaction.h"
#include "jitapi-shim/journal_losses.h"
#include "jitapi-shim/journal_memory.h"
#include "jitapi-shim/process_state.h"

#define PAGE_BYTES 4096u

/* So many bytes of events are between two compactions, unless the log is full. */
#define COMPACT_BYTES (1u << 20)

/* Of code, in which its addresses are noted; and the limit for one load. */
#define GRANULE	     16
#define GRANULES_MAX 4096

/*
 * A fork copies these. All zeros: there is no journal, also in children.
 */
static struct journal_memory memory;

/*
 * The number of the next event in the journal that this memory last wrote to. A child finds its
 * parent's value as of the fork. Guarded by the lock.
 */
static uint64_t written_sequence;

static uint64_t align_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

static uint64_t entry_bytes(uint64_t event_bytes)
{
	return align_up(offsetof(struct jitbpf_journal_entry, header) + event_bytes, 8);
}

/*
 * Returns the limit of used_bytes for an event. Events with scope tables may fill three quarters of
 * the capacity, and other events with fields seven eighths. The last eighth is for bare headers: if
 * there is no room for a load's name, the header alone still ends the code that the load
 * overwrites. Half of this eighth is for unloads only, since they let a compaction free space.
 */
static uint64_t room_for(const struct journal *journal, const struct record *record)
{
	uint64_t part = journal->capacity / 16;

	if (record_has_scopes(record))
		return journal->capacity - 4 * part;
	if (record->field_count)
		return journal->capacity - 2 * part;
	return record_is_end(&record->header) ? journal->capacity : journal->capacity - part;
}

/*
 * Notes the addresses of a load. Returns true if an earlier load was at one of them, so that the
 * load may end code. Parts of the load at both ends, where it shares GRANULE bytes, do not count.
 */
static bool reuses(const struct jitbpf_jit_header *load)
{
	uint64_t at = (load->address + GRANULE - 1) / GRANULE;
	uint64_t end = (load->address + load->code_bytes) / GRANULE;
	uint64_t mask = memory.reused_bytes * 8 - 1;
	bool reuses = false;

	if (end > at + GRANULES_MAX)
		end = at + GRANULES_MAX;
	for (; at < end; at++) {
		uint64_t *word = &memory.reused[(at & mask) / 64], bit = 1ull << (at & mask) % 64;

		reuses |= *word & bit;
		*word |= bit;
	}
	return reuses;
}

static void count_event(struct journal *journal, const struct jitbpf_jit_header *header,
			uint64_t size_bytes)
{
	journal->since_bytes += size_bytes;
	if (record_is_end(header) || (jit_event_is_load(header->event) && reuses(header)))
		journal->end_count++;
}

/*
 * A compaction costs time for each entry. It is worth it when half of the code in the log may have
 * ended, so that an event pays for a few entries, however much code is live.
 */
static bool is_worth_it(const struct journal *journal)
{
	return journal->since_bytes > COMPACT_BYTES &&
	       2 * journal->end_count >= journal->load_count;
}

/*
 * An event does not fit. If live entries nearly fill the log, a part of the capacity has to be
 * written before the next compaction; less for unloads, which have room of their own.
 */
static bool may_make_room(const struct journal *journal, const struct jitbpf_jit_header *header)
{
	return journal->since_bytes > journal->capacity / (record_is_end(header) ? 32 : 8);
}

static void compact(struct journal *journal)
{
	journal_compact(journal, memory.scratch, memory.scratch_bytes);
	journal->since_bytes = 0;
}

static void begin(struct journal *journal, struct jitbpf_journal_header *header, uint64_t capacity,
		  uint64_t now_ns)
{
	memcpy(header->magic, JITBPF_JOURNAL_MAGIC, sizeof(header->magic));
	header->version = JITBPF_JOURNAL_VERSION;
	header->data_offset = PAGE_BYTES;
	header->capacity = capacity;
	header->used_bytes = PAGE_BYTES;
	header->epoch_ns = now_ns;
	header->unsure.start = UINT64_MAX;
	journal->capacity = capacity;
	journal->used_bytes = PAGE_BYTES;
	atomic_store_explicit(&journal->header, header, memory_order_release);
}

/* Without the wipe, a child would write to its parent's journal. */
void journal_prepare(void)
{
	struct timespec now;

	if (process_journal()->header)
		return;
	if (!process_begins_anew_on_fork() || journal_memory_reserve(&memory))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	memory.shared->pid = (uint32_t)syscall(SYS_getpid);
	memory.shared->forked_address = (uintptr_t)memory.forked;
	memory.shared->forked_bytes = memory.forked_bytes;
	begin(process_journal(), memory.shared, memory.shared_bytes,
	      (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec);
}

/*
 * The first event of a forked child. If its parent is a forked child, too, the parent's journal is
 * out of readers' reach, and its copy here is replaced.
 */
static void begin_forked(struct journal *journal, uint64_t now_ns)
{
	bool copied = memory.forked->version;
	uint32_t parent = copied ? JITBPF_JOURNAL_LOST_PID : memory.shared->pid;

	*memory.forked = (struct jitbpf_journal_header){
		.inherited_pid = parent,
		.inherited_sequence = copied ? 0 : written_sequence,
	};
	begin(journal, memory.forked, memory.forked_bytes, now_ns);
}

/* Writes the entry, then its commit word, then used_bytes. Returns 0 or negative errno. */
static int entry_write(struct journal *journal, const struct record *record)
{
	uint64_t event_bytes = sizeof(record->header) + record_field_bytes(record);
	uint64_t size_bytes = entry_bytes(event_bytes);
	struct jitbpf_journal_header *header = journal->header;
	struct jitbpf_journal_entry *entry;

	if (size_bytes > JITBPF_JOURNAL_ENTRY_MAX ||
	    journal->used_bytes + size_bytes > room_for(journal, record))
		return -ENOSPC;
	entry = (void *)((char *)header + journal->used_bytes);
	entry->commit = 0;
	entry->size_bytes = (uint32_t)size_bytes;
	entry->header = record->header;
	entry->header.size_bytes = (uint32_t)event_bytes;
	entry->header.part_count = 1;
	record_copy_fields(record, entry + 1);
	journal->used_bytes += size_bytes;
	journal->entry_count++;
	journal->load_count += record_can_end(&record->header);
	__atomic_store_n(&entry->commit, JITBPF_JOURNAL_COMMITTED, __ATOMIC_RELEASE);
	__atomic_store_n(&header->used_bytes, journal->used_bytes, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Returns true if the header of an event alone is of no use, or wrong: a method without code has no
 * more than its name, and what an update ends depends on its fields.
 */
static bool needs_fields(const struct jitbpf_jit_header *event)
{
	return record_is_method(event) || event->event == JIT_EVENT_UPDATE ||
	       event->event == JIT_EVENT_UPDATE_V2;
}

/*
 * Writes what the log has room for: the record, the record without its scope table, or the header
 * alone, which still ends the code that it overwrites; that of a thread ends the earlier name.
 */
static void journal_write(struct journal *journal, const struct record *record)
{
	struct record less = *record;

	if (!entry_write(journal, record))
		return;
	if (record_has_scopes(record)) {
		record_drop_scopes(&less);
		if (!entry_write(journal, &less))
			return;
	}
	less.header.flags |= JITBPF_JIT_TRUNCATED;
	less.field_count = 0;
	if (record->header.event == JIT_EVENT_JVM_THREAD)
		less.header.event = JIT_EVENT_JVM_THREAD_END;
	if (record->field_count && !needs_fields(&record->header) && !entry_write(journal, &less))
		journal_losses_count(journal, &record->header);
	else
		journal_losses_add(journal, &record->header, false);
}

static bool has_room(const struct journal *journal, const struct record *record)
{
	uint64_t event_bytes = sizeof(record->header) + record_field_bytes(record);

	return journal->used_bytes + entry_bytes(event_bytes) <= room_for(journal, record);
}

static void compact_if_due(struct journal *journal, const struct record *record)
{
	count_event(journal, &record->header,
		    entry_bytes(sizeof(record->header) + record_field_bytes(record)));
	if (is_worth_it(journal) ||
	    (!has_room(journal, record) && may_make_room(journal, &record->header)))
		compact(journal);
}

bool journal_wanted(void)
{
	return memory.shared;
}

/* The caller holds the lock. */
static void append(struct journal *journal, struct record *record)
{
	uint64_t sequence, early;

	if (!journal->header)
		begin_forked(journal, record->header.time_ns);
	sequence = process_next_sequence();
	record->header.sequence = sequence;
	written_sequence = sequence + 1;
	__atomic_store_n(&journal->header->next_sequence, sequence + 1, __ATOMIC_RELAXED);
	compact_if_due(journal, record);
	journal_write(journal, record);
	early = atomic_load_explicit(&journal->left_out, memory_order_relaxed);
	if (!early)
		return;
	early = atomic_exchange(&journal->left_out, 0);
	__atomic_fetch_add(&journal->header->left_out, early, __ATOMIC_RELEASE);
}

void journal_append(struct record *record)
{
	struct journal *journal = process_journal();

	if (journal_wanted() && journal_lock_take(&journal->lock)) {
		append(journal, record);
		journal_lock_release(&journal->lock);
		return;
	}
	record->header.sequence = process_next_sequence();
	if (journal_wanted())
		journal_losses_add(journal, &record->header, true);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/journal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jitapi-shim/journal_compaction.h"
#include "jitapi-shim/journal_memory.h"
#include "jitapi-shim/process_state.h"

#define PAGE_BYTES 4096u

/* Smaller logs are not compacted. */
#define COMPACT_BYTES (1u << 20)

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

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns true for an event that lets a compaction drop another one. */
static bool is_unload(const struct record *record)
{
	return record->header.event == JIT_EVENT_UNLOAD ||
	       record->header.event == JIT_EVENT_JVM_UNLOAD ||
	       record->header.event == JIT_EVENT_JVM_THREAD_END;
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
	return is_unload(record) ? journal->capacity : journal->capacity - part;
}

/*
 * The next compaction is due when the log has doubled or is full. If live entries nearly
 * fill it, a sixteenth of the capacity has to be written first.
 */
static void schedule_compaction(struct journal *journal)
{
	uint64_t doubled = at_least(journal->used_bytes, COMPACT_BYTES);
	uint64_t part = journal->capacity / 16, room = journal->capacity - 2 * part, left = part;

	if (room > journal->used_bytes)
		left = at_least(room - journal->used_bytes, part);
	journal->since_bytes = 0;
	journal->due_bytes = doubled < left ? doubled : left;
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
	journal->capacity = capacity;
	journal->used_bytes = PAGE_BYTES;
	schedule_compaction(journal);
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

static void compact_if_due(struct journal *journal, uint64_t size_bytes)
{
	journal->since_bytes += size_bytes;
	if (journal->since_bytes <= journal->due_bytes)
		return;
	journal_compact(journal, memory.scratch,
			memory.scratch_bytes); /* on failure, the log grows until it is full */
	schedule_compaction(journal);
	journal->since_bytes = size_bytes;
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
	__atomic_store_n(&entry->commit, JITBPF_JOURNAL_COMMITTED, __ATOMIC_RELEASE);
	__atomic_store_n(&header->used_bytes, journal->used_bytes, __ATOMIC_RELEASE);
	return 0;
}

/* Returns 0, or negative errno if the log lacks the record or its fields other than scopes. */
static int journal_write(struct journal *journal, const struct record *record)
{
	struct record less;
	int err;

	compact_if_due(journal, entry_bytes(sizeof(record->header) + record_field_bytes(record)));
	err = entry_write(journal, record);
	if (err && record_has_scopes(record)) {
		less = *record;
		record_drop_scopes(&less);
		err = entry_write(journal, &less);
	}
	/* For a thread, or a method without code, an entry without the name would be useless. */
	if (!err || !record->field_count || record_is_method(&record->header) ||
	    record->header.event == JIT_EVENT_JVM_THREAD)
		return err;
	less.header = record->header;
	less.header.flags |= JITBPF_JIT_TRUNCATED;
	less.field_count = 0;
	entry_write(journal, &less);
	return err;
}

/* Counts an event that the journal lacks. Needs no lock. */
static void leave_out(struct journal *journal, uint64_t sequence)
{
	struct jitbpf_journal_header *header =
		atomic_load_explicit(&journal->header, memory_order_acquire);
	uint64_t last;

	if (!header) {
		atomic_fetch_add(&journal->left_out, 1);
		return;
	}
	last = __atomic_load_n(&header->left_out_last, __ATOMIC_RELAXED);
	while (last < sequence &&
	       !__atomic_compare_exchange_n(&header->left_out_last, &last, sequence, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_fetch_add(&header->left_out, 1, __ATOMIC_RELEASE);
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
	if (journal_write(journal, record))
		leave_out(journal, sequence);
	early = atomic_load_explicit(&journal->left_out, memory_order_relaxed);
	if (!early)
		return;
	early = atomic_exchange(&journal->left_out, 0);
	while (early--)
		leave_out(journal, 0);
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
		leave_out(journal, record->header.sequence);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the records of the shim's probe into the code ring. Defines the maps and variables
 * that all programs share.
 */
#include "bpf/maps.h"

#include "bpf/owner.h"
#include "bpf/pid_space.h"
#include "bpf/ring_shares.h"
#include "bpf/unwind_maps.h"
#include "uapi/code_event.h"
#include "uapi/jit_record.h"
#include "uapi/record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 pidns_inum = 0;
const volatile bool only_tracked = false;

/* Wake the reader at this fill level. It also drains periodically (agent/live/live_source.h). */
const volatile __u32 code_wake_bytes = 2u << 20;

__u64 unwind_removals = 0;

struct counters_map counters SEC(".maps");
struct tracked_map tracked SEC(".maps");
struct owners_known_map owners_known SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_processes_map unwind_processes SEC(".maps");

struct code_ring_map code_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PIDS_MAX);
	__type(key, struct jitbpf_jit_loss_key);
	__type(value, struct jitbpf_jit_loss);
} jit_losses SEC(".maps");

/* Incremented after each change of jit_losses, so that user space scans the map only if needed. */
__u64 losses_noted = 0;

/*
 * One function per size class, since a ring reservation needs a constant size. The function copies
 * into the ring directly. Uprobe programs can be preempted, so they would share a per-CPU buffer.
 * Returns 0, or the counter of the loss.
 */
#define DEFINE_EMIT(kind, class, is_copy, flags)                                                   \
	struct kind##_slot_##class                                                                 \
	{                                                                                          \
		struct jitbpf_##kind head;                                                         \
		__u8 data[class];                                                                  \
	};                                                                                         \
	static __always_inline int emit_##kind##_##class(const struct ring_payer *payer,           \
							 const struct jitbpf_##kind *head,         \
							 const void *from, __u64 size)             \
	{                                                                                          \
		struct kind##_slot_##class *slot;                                                  \
                                                                                                   \
		if (!ring_admits(payer, sizeof(*slot), is_copy))                                   \
			return JITBPF_COUNT_JIT_OVER_SHARE;                                        \
		slot = bpf_ringbuf_reserve(&code_ring, sizeof(*slot), 0);                          \
		if (!slot)                                                                         \
			return JITBPF_COUNT_JIT_RING_FULL;                                         \
		ring_charge(payer, sizeof(*slot));                                                 \
		__builtin_memcpy(&slot->head, head, sizeof(slot->head));                           \
		asm volatile("" : "+r"(size));                                                     \
		if (size > class || bpf_probe_read_user(slot->data, size, from)) {                 \
			bpf_ringbuf_discard(slot, BPF_RB_NO_WAKEUP);                               \
			return JITBPF_COUNT_JIT_UNREADABLE;                                        \
		}                                                                                  \
		bpf_ringbuf_submit(slot, flags);                                                   \
		return 0;                                                                          \
	}                                                                                          \
	struct emit_semicolon

static __always_inline __u64 wake_flag(void)
{
	return bpf_ringbuf_query(&code_ring, BPF_RB_AVAIL_DATA) >= code_wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

DEFINE_EMIT(jit, 256, false, wake_flag());
DEFINE_EMIT(jit, 1024, false, wake_flag());
DEFINE_EMIT(jit, 4096, false, wake_flag());
/* No wake-up: the record of the load has caused it. */
DEFINE_EMIT(code, 256, true, BPF_RB_NO_WAKEUP);
DEFINE_EMIT(code, 1024, true, BPF_RB_NO_WAKEUP);
DEFINE_EMIT(code, 4096, true, BPF_RB_NO_WAKEUP);

/*
 * Notes a lost record. If user space removes the entry at the same time, the write may hit a
 * stale slot, or the entry of another process. Both are harmless: user space reads the
 * journal after the removal, and the event is already there; the other process's journal
 * is read from an earlier number than needed.
 */
static __always_inline void note_loss(const struct jitbpf_jit *head, __u64 sequence, __u32 event)
{
	struct jitbpf_jit_loss_key key = {
		.pid = head->pid,
		.publisher =
			jit_event_is_jvm(event) ? JITBPF_PUBLISHER_JVMTI : JITBPF_PUBLISHER_SHIM,
	};
	struct jitbpf_jit_loss loss = {
		.start_ns = head->start_ns,
		.first_ns = head->h.time_ns,
		.first_sequence = sequence,
	};
	struct jitbpf_jit_loss *known = bpf_map_lookup_elem(&jit_losses, &key);

	if (!known) {
		if (!bpf_map_update_elem(&jit_losses, &key, &loss, BPF_NOEXIST))
			goto noted;
		known = bpf_map_lookup_elem(&jit_losses, &key);
	}
	if (!known) {
		count(JITBPF_COUNT_JIT_LOSS_UNNOTED);
	} else if (known->start_ns != loss.start_ns) {
		*known = loss; /* the pid was reused */
	} else if (sequence < known->first_sequence) {
		known->first_sequence = sequence;
	}
noted:
	__sync_fetch_and_add(&losses_noted, 1);
}

static __always_inline int emit(const struct ring_payer *payer, const struct jitbpf_jit *head,
				const void *from, __u64 size)
{
	if (size < sizeof(struct jitbpf_jit_header) || size > JITBPF_JIT_PART_MAX)
		return JITBPF_COUNT_JIT_BAD_SIZE;
	if (size <= 256)
		return emit_jit_256(payer, head, from, size);
	if (size <= 1024)
		return emit_jit_1024(payer, head, from, size);
	return emit_jit_4096(payer, head, from, size);
}

/* Counts a loss. A record over a share is also counted as lost by a full ring. */
static __always_inline void count_loss(int loss)
{
	count(loss);
	if (loss == JITBPF_COUNT_JIT_OVER_SHARE)
		count(JITBPF_COUNT_JIT_RING_FULL);
}

#define WITHDRAWN_PAGES_MAX	64 /* 4 MB; user space invalidates the rest in its next round */
#define WITHDRAWN_PAGES_AT_ONCE 8

static __always_inline bool loads_code(const struct jitbpf_jit_header *event)
{
	return jit_event_is_load(event->event) && event->address && event->code_bytes;
}

static __always_inline bool changes_code(const struct jitbpf_jit_header *event)
{
	return loads_code(event) ||
	       ((event->event == JIT_EVENT_UNLOAD || event->event == JIT_EVENT_JVM_UNLOAD) &&
		event->code_bytes);
}

/*
 * Removes the entries of WITHDRAWN_PAGES_AT_ONCE pages, up to the last one. Returns 1 if there were
 * any. A global function, so that the verifier checks its loop once.
 */
__noinline int withdraw_pages(__u32 owner, __u64 page, __u64 last)
{
	struct unwind_page_key key = {.owner = owner};
	long failed = -1; /* not 0 if no page was removed */

	for (__u32 i = 0; i < WITHDRAWN_PAGES_AT_ONCE && page <= last; i++, page++) {
		key.page = page;
		failed &= bpf_map_delete_elem(&unwind_pages, &key);
	}
	return !failed;
}

/*
 * Invalidates the unwind rows of the code that an event replaces or unloads. This is done at
 * the hit, so that no stack is walked by stale rows until user space reads the event.
 */
static __always_inline void withdraw_code(const struct unwind_process *process,
					  const struct jitbpf_jit_header *event)
{
	__u64 page = event->address >> UNWIND_PAGE_SHIFT;
	__u64 last = (event->address + event->code_bytes - 1) >> UNWIND_PAGE_SHIFT;
	int removed = 0;

	for (__u32 i = 0; i < WITHDRAWN_PAGES_MAX / WITHDRAWN_PAGES_AT_ONCE && page <= last; i++) {
		removed |= withdraw_pages(process->code_owner, page, last);
		page += WITHDRAWN_PAGES_AT_ONCE;
	}
	if (removed)
		__sync_fetch_and_add(&unwind_removals, 1);
}

#define CODE_PIECE_MAX 4096

struct code_copying {
	struct jitbpf_code head;
	struct ring_payer payer;
};

/*
 * Copies the piece of code at head.offset and advances head. Returns 0 if more code may follow, or
 * a value other than 0: -1 at the end of the copied part, else the counter of the loss. A global
 * function, so that the verifier checks it once.
 */
__noinline int copy_code_piece(struct code_copying *copying)
{
	const struct ring_payer *payer = &copying->payer;
	struct jitbpf_code *head = &copying->head;
	const void *from;
	__u64 size;
	int loss;

	if (!copying || head->offset >= head->size_bytes || head->offset >= JITBPF_CODE_COPY_MAX)
		return -1;
	from = (const void *)(head->address + head->offset);
	size = head->size_bytes - head->offset;
	if (size > CODE_PIECE_MAX)
		size = CODE_PIECE_MAX;
	head->h.size_bytes = sizeof(*head) + size;
	if (size <= 256)
		loss = emit_code_256(payer, head, from, size);
	else if (size <= 1024)
		loss = emit_code_1024(payer, head, from, size);
	else
		loss = emit_code_4096(payer, head, from, size);
	head->offset += size;
	return loss;
}

#define CODE_PIECES 16 /* at a time */

/* copy_code_piece() for up to CODE_PIECES pieces. A global function, as that is. */
__noinline int copy_code_pieces(struct code_copying *copying)
{
	int end = 0;

	for (__u32 i = 0; i < CODE_PIECES && !end; i++)
		end = copy_code_piece(copying);
	return end;
}

/*
 * If a stack needs code that was not copied, user space reads it from memory. By then, the memory
 * may hold other code, or the process has ended.
 */
static __always_inline void copy_code(const struct ring_payer *payer, const struct jitbpf_jit *jit,
				      const struct jitbpf_jit_header *event)
{
	struct code_copying copying = {
		.head.h.type = JITBPF_CODE,
		.head.h.flags = jit_event_is_jvm(event->event) ? JITBPF_PUBLISHER_JVMTI
							       : JITBPF_PUBLISHER_SHIM,
		.head.h.time_ns = jit->h.time_ns,
		.head.pid = jit->pid,
		.head.start_ns = jit->start_ns,
		.head.sequence = event->sequence,
		.head.address = event->address,
		.head.size_bytes = event->code_bytes,
		.payer = *payer,
	};

	for (__u32 i = 0; i < JITBPF_CODE_COPY_MAX / (CODE_PIECES * CODE_PIECE_MAX); i++) {
		int end = copy_code_pieces(&copying);

		if (end == JITBPF_COUNT_JIT_OVER_SHARE || end == JITBPF_COUNT_JIT_RING_FULL)
			count(JITBPF_COUNT_CODE_NOT_COPIED);
		if (end)
			return;
	}
}

SEC("uprobe")
int jit_event(struct context_regs *regs)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task(), *leader;
	struct jitbpf_jit head = {.h.type = JITBPF_JIT};
	const void *from = (const void *)regs->di;
	struct jitbpf_jit_header event = {};
	struct unwind_process *process;
	struct jitbpf_owner owner;
	struct ring_payer payer;
	__u64 size = regs->si;
	int loss;

	head.pid = current_pid_in_our_space(task);
	if (!is_tracked(head.pid))
		return 0;
	count(JITBPF_COUNT_JIT_HITS);
	head.h.size_bytes = sizeof(head) + size;
	head.h.time_ns = bpf_ktime_get_ns();
	head.tid = current_tid_in_our_space(task);
	leader = BPF_CORE_READ(task, group_leader);
	owner = owner_of(leader, head.pid, head.h.time_ns);
	tell_known_owner(&owner);
	payer = (struct ring_payer){owner.cgroup, head.pid, owner.charged_uid};
	head.start_ns = owner.start_ns;
	head.data_bytes = size;
	head.copy = bpf_get_attach_cookie(regs);
	process = bpf_map_lookup_elem(&unwind_processes, &head.pid);
	if (size >= sizeof(event))
		bpf_probe_read_user(&event, sizeof(event), from); /* zeros on failure */
	if (process && changes_code(&event) && !event.part)
		withdraw_code(process, &event);
	loss = emit(&payer, &head, from, size);
	if (loss) {
		count_loss(loss);
		note_loss(&head, regs->dx, (__u32)regs->cx);
	} else if (loads_code(&event) && event.part + 1 == event.part_count) {
		copy_code(&payer, &head, &event);
	}
	return 0;
}

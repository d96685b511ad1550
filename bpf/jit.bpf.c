/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captures what the shim's probe hands over: copies bytes, knows nothing of
 * the JIT API. Also defines what all programs share.
 */
#include "bpf/maps.h"

#include "bpf/pid_space.h"
#include "bpf/unwind_maps.h"
#include "uapi/jit_record.h"
#include "uapi/record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 pidns_inum = 0;
const volatile bool only_tracked = false;

/* Wake the reader when this much waits; else it comes by itself (agent/live_source.h). */
const volatile __u32 code_wake_bytes = 2u << 20;

struct counters_map counters SEC(".maps");
struct tracked_map tracked SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_processes_map unwind_processes SEC(".maps");

struct code_ring_map code_ring SEC(".maps");

/* From where on a process's journal has to be read: user space takes it out, then reads. */
struct jit_loss {
	__u64 start_ns;
	__u64 first_ns;
	__u64 first_sequence;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PIDS_MAX);
	__type(key, __u32);
	__type(value, struct jit_loss);
} jit_losses SEC(".maps");

__u64 self_test_hits = 0;

/* Goes up behind each change of jit_losses, which is large, and mostly empty. */
__u64 losses_noted = 0;

/*
 * One function per size class: a ring reservation needs a constant size. The
 * copy goes straight into the ring, with no scratch in between: uprobe programs
 * can be preempted, and would share it.
 */
#define DEFINE_EMIT(class)                                                                         \
	struct jit_slot_##class                                                                    \
	{                                                                                          \
		struct jitbpf_jit head;                                                            \
		__u8 data[class];                                                                  \
	};                                                                                         \
	static __always_inline bool emit_##class(const struct jitbpf_jit *head, const void *from,  \
						 __u64 size)                                       \
	{                                                                                          \
		struct jit_slot_##class *slot;                                                     \
                                                                                                   \
		slot = bpf_ringbuf_reserve(&code_ring, sizeof(*slot), 0);                          \
		if (!slot) {                                                                       \
			count(JITBPF_COUNT_JIT_RING_FULL);                                         \
			return false;                                                              \
		}                                                                                  \
		__builtin_memcpy(&slot->head, head, sizeof(slot->head));                           \
		asm volatile("" : "+r"(size));                                                     \
		if (size > class || bpf_probe_read_user(slot->data, size, from)) {                 \
			bpf_ringbuf_discard(slot, BPF_RB_NO_WAKEUP);                               \
			count(JITBPF_COUNT_JIT_UNREADABLE);                                        \
			return false;                                                              \
		}                                                                                  \
		bpf_ringbuf_submit(slot, wake_flag());                                             \
		return true;                                                                       \
	}                                                                                          \
	struct emit_semicolon

static __always_inline __u64 wake_flag(void)
{
	return bpf_ringbuf_query(&code_ring, BPF_RB_AVAIL_DATA) >= code_wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

DEFINE_EMIT(256);
DEFINE_EMIT(1024);
DEFINE_EMIT(4096);

/*
 * Whoever finds an entry that is being taken out writes to nobody's, or to another's,
 * which then is read from too early on: its own event is in the journal already, and
 * that is not read before the entry is out.
 */
static __always_inline void note_loss(const struct jitbpf_jit *head, __u64 sequence)
{
	struct jit_loss loss = {
		.start_ns = head->start_ns,
		.first_ns = bpf_ktime_get_ns(),
		.first_sequence = sequence,
	};
	struct jit_loss *known = bpf_map_lookup_elem(&jit_losses, &head->pid);

	if (!known) {
		if (!bpf_map_update_elem(&jit_losses, &head->pid, &loss, BPF_NOEXIST))
			goto noted;
		known = bpf_map_lookup_elem(&jit_losses, &head->pid);
	}
	if (!known) {
		count(JITBPF_COUNT_JIT_LOSS_UNNOTED);
	} else if (known->start_ns != loss.start_ns) {
		*known = loss; /* a pid that is used again */
	} else if (sequence < known->first_sequence) {
		known->first_sequence = sequence;
	}
noted:
	__sync_fetch_and_add(&losses_noted, 1);
}

static __always_inline bool emit(const struct jitbpf_jit *head, const void *from, __u64 size)
{
	if (size < sizeof(struct jitbpf_jit_header) || size > JITBPF_JIT_PART_MAX) {
		count(JITBPF_COUNT_JIT_BAD_SIZE);
		return false;
	}
	if (size <= 256)
		return emit_256(head, from, size);
	if (size <= 1024)
		return emit_1024(head, from, size);
	return emit_4096(head, from, size);
}

/* The JIT API's numbers of what changes code: as user/decode/jit_event.h. */
enum code_event {
	CODE_LOAD = 13,
	CODE_UNLOAD = 14,
	CODE_LOAD_V2 = 21,
	CODE_LOAD_V3 = 22,
};

#define WITHDRAWN_PAGES_MAX 64 /* 4 MB; user space sees to what is larger, at its round */

static __always_inline bool changes_code(const struct jitbpf_jit_header *event)
{
	return (event->event == CODE_LOAD || event->event == CODE_LOAD_V2 ||
		event->event == CODE_LOAD_V3 || event->event == CODE_UNLOAD) &&
	       event->code_bytes && !event->part;
}

/*
 * What was published of how to unwind the code there holds no longer: no stack shall be
 * walked by it, not even until user space has read the event.
 */
static __always_inline void withdraw_code(__u32 pid, const void *from, __u64 size)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &pid);
	struct jitbpf_jit_header event;
	struct unwind_page_key key;
	__u64 page, last;

	if (!process)
		return;
	key.owner = process->code_owner;
	if (size < sizeof(event) || bpf_probe_read_user(&event, sizeof(event), from) ||
	    !changes_code(&event))
		return;
	page = event.address >> UNWIND_PAGE_SHIFT;
	last = (event.address + event.code_bytes - 1) >> UNWIND_PAGE_SHIFT;
	for (__u32 i = 0; i < WITHDRAWN_PAGES_MAX && page <= last; i++, page++) {
		key.page = page;
		bpf_map_delete_elem(&unwind_pages, &key);
	}
}

SEC("uprobe")
int jit_event(struct context_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct jitbpf_jit head = {.h.type = JITBPF_JIT};
	const void *from = (const void *)regs->di;
	__u64 size = regs->si;

	head.pid = current_pid_in_our_space(task);
	if (!is_tracked(head.pid))
		return 0;
	count(JITBPF_COUNT_JIT_HITS);
	head.h.size_bytes = sizeof(head) + size;
	head.h.time_ns = bpf_ktime_get_ns();
	head.tid = current_tid_in_our_space(task);
	head.start_ns = task->group_leader->start_boottime;
	head.data_bytes = size;
	head.copy = bpf_get_attach_cookie(regs);
	withdraw_code(head.pid, from, size);
	if (!emit(&head, from, size))
		note_loss(&head, regs->dx);
	return 0;
}

/* Attached to our own process alone, to see whether an offset of the site fires at all. */
SEC("uprobe")
int self_test(struct context_regs *regs)
{
	__sync_fetch_and_add(&self_test_hits, 1);
	return 0;
}

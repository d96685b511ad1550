/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes CPU samples, with kernel and user stacks, into the ring of the CPU. */
#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

#include "bpf/owner.h"
#include "bpf/pid_space.h"
#include "bpf/runtime_walk.h"
#include "bpf/sample_copy.h"
#include "bpf/sample_filter.h"
#include "bpf/sample_scratch.h"
#include "bpf/sample_walk.h"
#include "uapi/record.h"

#define USER_MODE	 3 /* privilege level in cs */
#define KERNEL_STACK_MAX (JITBPF_KERNEL_FRAMES_MAX * sizeof(__u64))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool want_user_regs = false;

const volatile __u32 sample_wake_bytes = 256u << 10;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PIDS_MAX);
	__type(key, struct jitbpf_lost_key);
	__type(value, __u64);
} lost_samples SEC(".maps");

/* By event: lost samples of processes that have no entry in lost_samples, since it is full. */
__u64 lost_elsewhere[JITBPF_EVENTS_MAX] = {0};

/* If set, perf events have the number of their event as their cookie. */
const volatile bool many_events = false;

/* By event from 1 on: samples taken. */
__u64 event_taken[JITBPF_EVENTS_MAX] = {0};

static __always_inline void lose(const struct jitbpf_sample *sample, __u32 why)
{
	__u32 event = sample->event & (JITBPF_EVENTS_MAX - 1);
	struct jitbpf_lost_key key = {
		.start_ns = sample->start_ns, .pid = sample->pid, .event = event};
	__u64 one = 1, *lost;

	count(why);
	lost = bpf_map_lookup_elem(&lost_samples, &key);
	if (!lost && !bpf_map_update_elem(&lost_samples, &key, &one, BPF_NOEXIST))
		return;
	lost = lost ?: bpf_map_lookup_elem(&lost_samples, &key);
	if (lost)
		__sync_fetch_and_add(lost, 1);
	else
		__sync_fetch_and_add(&lost_elsewhere[event], 1);
}

/* A wake-up interrupts the CPU: one for each multiple of sample_wake_bytes, not each sample. */
static __always_inline __u64 sample_wake_flag(void *ring, __u64 size)
{
	__u64 waiting = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return waiting / sample_wake_bytes !=
			       (waiting + size + BPF_RINGBUF_HDR_SZ) / sample_wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* Returns false if the sample is lost. */
static __always_inline bool output(struct sample_scratch *s, __u64 size)
{
	__u32 why = JITBPF_COUNT_SAMPLES_NO_SCRATCH;
	void *ring = sample_ring_of(s);
	__u64 flags;

	s->head.h.size_bytes = size;
	if (ring) {
		why = JITBPF_COUNT_SAMPLES_RING_FULL;
		flags = runtime_wakes_reader(s) ? BPF_RB_FORCE_WAKEUP
						: sample_wake_flag(ring, size);
		asm volatile("" : "+r"(size));
		if (size <= offsetof(struct sample_scratch, walk) &&
		    !bpf_ringbuf_output(ring, s, size, flags))
			return true;
	}
	lose(&s->head, why);
	return false;
}

/* Returns true if a row was missing, so that the reader completes the stack from a copy. */
static __always_inline bool wants_copy(const struct sample_scratch *s)
{
	return walk_tables && s->head.user_words && s->head.user_end == JITBPF_END_NO_RULE &&
	       s->walk.not_made;
}

/*
 * Adds the first part of a sample that follows its frames. Returns the number of words up to its
 * end. Global, as walk_frame() is.
 */
__noinline int begin_parts(struct sample_scratch *s)
{
	__u32 words;

	if (!s)
		return 0;
	words = s->head.kernel_words + s->head.user_words;
	if (s->head.h.flags & JITBPF_SAMPLE_REUSES_CALLERS) {
		words -= s->walk.reused;
		s->head.user_end |= s->walk.reused << JITBPF_REUSED_SHIFT;
	}
	if (want_user_regs && s->head.user_words && words <= JITBPF_SAMPLE_FRAMES_MAX) {
		copy_regs((struct jitbpf_user_regs *)&s->words[words],
			  (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
		s->head.h.flags |= JITBPF_SAMPLE_USER_REGS;
		words += REGS_WORDS;
	}
	return words;
}

/*
 * Adds the other parts of a sample, behind `words` words, and writes the sample into the ring.
 * Global, as walk_frame() is.
 */
__noinline int finish_sample(struct sample_scratch *s, struct kept_walk *kept, __u32 words)
{
	bool copy;

	if (!s || !kept)
		return 0;
	copy = wants_copy(s);
	if (s->head.user_words && s->walk.code)
		words += copy_code_bytes(s, words);
	if (copy) {
		s->head.h.flags |= JITBPF_SAMPLE_STACK_COPY;
		words += copy_stack(s, words);
	}
	/* The reader lacks this sample's callers: the next sample must carry all of its own. */
	if (!output(s, sizeof(s->head) + (__u64)words * sizeof(__u64)))
		kept->pid = 0;
	return 0;
}

/*
 * Numbers in the current task are loaded by an instruction, pointers by a helper call: to find the
 * type behind a loaded pointer, the verifier would search all types of the kernel.
 */
static __always_inline __u64 start_of_process(struct task_struct *task)
{
	return task->pid == task->tgid ? task->start_boottime
				       : BPF_CORE_READ(task, group_leader, start_boottime);
}

static __always_inline void fill_head(struct jitbpf_sample *head, struct task_struct *task,
				      __u32 pid)
{
	head->h.type = JITBPF_SAMPLE;
	head->h.flags = 0;
	head->h.time_ns = bpf_ktime_get_ns();
	head->pid = pid;
	head->tid = pidns_inum ? pid_in_our_space(task) : task->pid;
	head->start_ns = start_of_process(task);
	head->cpu = bpf_get_smp_processor_id();
	head->kernel_words = 0;
	head->user_words = 0;
	head->user_end = JITBPF_END_NONE;
	head->mappings_age_ns = 0;
	bpf_get_current_comm(head->comm, sizeof(head->comm));
}

#define OWNER_READ_NS 10000000ull

/* Global, so that the verifier checks it once. */
__noinline int read_owner(__u64 leader, __u32 pid, __u64 time_ns)
{
	tell_owner((struct task_struct *)leader, pid, time_ns);
	return 0;
}

/*
 * Reads the owner of the sampled process at most every OWNER_READ_NS, since that takes a dozen
 * calls. An exec, which can change the owner, reports it at once (bpf/process.bpf.c).
 */
static __always_inline void watch_owner(struct sample_scratch *s, struct task_struct *task)
{
	struct owner_read *last = &s->owner_read;

	if (last->pid == s->head.pid && last->start_ns == s->head.start_ns &&
	    s->head.h.time_ns - last->time_ns < OWNER_READ_NS)
		return;
	last->pid = s->head.pid;
	last->start_ns = s->head.start_ns;
	last->time_ns = s->head.h.time_ns;
	/* 1 ns before the sample, so that the sample counts for this cgroup. */
	read_owner((__u64)BPF_CORE_READ(task, group_leader), s->head.pid, s->head.h.time_ns - 1);
}

static __always_inline void walk_kernel(struct sample_scratch *s, struct bpf_perf_event_data *ctx)
{
	long bytes;

	if (ctx->regs.cs & USER_MODE)
		return;
	bytes = bpf_get_stack(ctx, s->words, KERNEL_STACK_MAX, 0);
	if (bytes <= 0) { /* keep the leaf */
		s->words[0] = ctx->regs.ip;
		bytes = sizeof(__u64);
	}
	s->head.kernel_words = (__u32)bytes / sizeof(__u64);
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JITBPF_FILES_GONE_MAX);
	__type(key, __u32);
	__type(value, __u32);
} files_gone SEC(".maps");

/*
 * Reports which file the thread executes. That takes as long as a sample, so it is for processes
 * that unmap and delete files before they can be opened. Call it after the walk.
 */
static __always_inline void tell_build_id(struct sample_scratch *s, struct bpf_perf_event_data *ctx)
{
	struct jitbpf_build_id *out = &s->build_id;
	__u32 at = s->head.kernel_words;
	void *ring = sample_ring_of(s);

	if (!ring || !s->head.user_words || at > JITBPF_KERNEL_FRAMES_MAX ||
	    bpf_get_stack(ctx, &s->told, sizeof(s->told), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID) !=
		    sizeof(s->told) ||
	    s->told.status != BPF_STACK_BUILD_ID_VALID)
		return;
	out->h.size_bytes = sizeof(*out);
	out->h.type = JITBPF_BUILD_ID;
	out->h.time_ns = s->head.h.time_ns;
	out->pid = s->head.pid;
	out->address = s->words[at];
	out->file_offset = s->told.offset;
	__builtin_memcpy(out->build_id, s->told.build_id, sizeof(out->build_id));
	bpf_ringbuf_output(ring, out, sizeof(*out), BPF_RB_NO_WAKEUP);
}

/*
 * Returns the number of the event that the program runs for. Event 0 is attached without a cookie,
 * and counts in JITBPF_COUNT_SAMPLES_TAKEN.
 */
static __always_inline __u32 count_event(struct bpf_perf_event_data *ctx)
{
	__u32 event = many_events ? bpf_get_attach_cookie(ctx) & (JITBPF_EVENTS_MAX - 1) : 0;

	if (event)
		__sync_fetch_and_add(&event_taken[event], 1);
	else
		count(JITBPF_COUNT_SAMPLES_TAKEN);
	return event;
}

/*
 * The verifier checks a global function once. It checks code that is inlined here once for each
 * state in which the code before it can end.
 */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	__u32 pid = pidns_inum ? current_pid_in_our_space(task) : task->tgid;
	struct sample_scratch *s;
	struct kept_walk *kept;
	__u32 words;

	if (!is_tracked(pid) || !is_sampled())
		return 0;
	s = bpf_map_lookup_elem(&scratch_map, &cpu);
	kept = bpf_map_lookup_elem(&kept_walks, &zero);
	if (!s || !kept)
		return 0; /* for the verifier */
	s->head.event = count_event(ctx);
	fill_head(&s->head, task, pid);
	watch_owner(s, task);
	walk_kernel(s, ctx);
	walk_user(s, kept);
	if (bpf_map_lookup_elem(&files_gone, &pid))
		tell_build_id(s, ctx);
	words = begin_parts(s);
	if (runtime_recipe_count && s->head.user_words)
		words += copy_runtime_frames(s, kept, words);
	finish_sample(s, kept, words);
	return 0;
}

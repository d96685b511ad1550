/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes CPU samples: kernel stack, user stack, who and when, into the CPU's own ring. */
#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

#define unwind_read(dst, size, address) bpf_probe_read_user((dst), (size), (void *)(address))

#include "bpf/pid_space.h"
#include "bpf/unwind.h"
#include "uapi/record.h"

#define USER_MODE	 3 /* privilege level in cs */
#define USER_CS_32	 0x23
#define KERNEL_STACK_MAX (JITBPF_FRAMES_MAX * sizeof(__u64))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool want_user_regs = false;
const volatile __u32 sample_wake_bytes = 256u << 10;

/* One ring a CPU: in an NMI a shared one's lock is only tried, and samples would be dropped. */
struct sample_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_DEFAULT);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_CPUS);
	__type(key, __u32);
	__array(values, struct sample_ring);
} sample_rings SEC(".maps");

/*
 * Where a sample is put together; the frames are packed, so its size is exact.
 * An interrupt does not nest into itself, so that one a CPU is enough.
 */
struct sample_scratch {
	struct jitbpf_sample head;
	__u64 ips[2 * JITBPF_FRAMES_MAX + 2];
	struct jitbpf_user_regs regs_room;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_scratch);
} scratch_map SEC(".maps");

struct lost_key {
	__u64 start_ns;
	__u32 pid;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PIDS_MAX);
	__type(key, struct lost_key);
	__type(value, __u64);
} lost_samples SEC(".maps");

/* Samples lost of processes that found no room in lost_samples either. */
__u64 lost_elsewhere = 0;

static __always_inline void lose(const struct jitbpf_sample *sample, __u32 why)
{
	struct lost_key key = {.start_ns = sample->start_ns, .pid = sample->pid};
	__u64 one = 1, *lost;

	count(why);
	lost = bpf_map_lookup_elem(&lost_samples, &key);
	if (!lost && !bpf_map_update_elem(&lost_samples, &key, &one, BPF_NOEXIST))
		return;
	lost = lost ?: bpf_map_lookup_elem(&lost_samples, &key);
	__sync_fetch_and_add(lost ?: &lost_elsewhere, 1);
}

/* The user-mode part of a sample: frames behind those of the kernel. */
static __always_inline void walk_user(struct sample_scratch *s, struct task_struct *task,
				      struct pt_regs *user, __u32 at)
{
	__u64 stack_top = task->mm->start_stack, thread_pointer = task->thread.fsbase;
	enum jitbpf_stack_end end;
	__u32 frames = 0;
	__u64 top = 0;

	/* Read here: behind the walk, the verifier would check the reads once for each of its
	 * exits. */
	asm volatile("" : "+r"(stack_top), "+r"(thread_pointer));
	asm volatile("" : "+r"(at));
	if (at > JITBPF_FRAMES_MAX)
		return;
	s->ips[at] = user->ip;
	if (user->cs == USER_CS_32) {
		s->head.user_end = JITBPF_END_COMPAT;
	} else {
		end = unwind_frame_pointers(user->sp, user->bp, &s->ips[at + 1],
					    JITBPF_FRAMES_MAX - 1, &frames, &top);
		s->head.user_end =
			unwind_judge_end(end, frames, user->sp, top, stack_top, thread_pointer);
	}
	s->head.user_frames = frames + 1;
}

static __always_inline void copy_regs(struct jitbpf_user_regs *to, const struct pt_regs *from)
{
	to->ax = from->ax;
	to->bx = from->bx;
	to->cx = from->cx;
	to->dx = from->dx;
	to->si = from->si;
	to->di = from->di;
	to->bp = from->bp;
	to->sp = from->sp;
	to->ip = from->ip;
	to->flags = from->flags;
	to->r8 = from->r8;
	to->r9 = from->r9;
	to->r10 = from->r10;
	to->r11 = from->r11;
	to->r12 = from->r12;
	to->r13 = from->r13;
	to->r14 = from->r14;
	to->r15 = from->r15;
}

static __always_inline void output(struct sample_scratch *s, __u64 size)
{
	__u32 cpu = s->head.cpu;
	void *ring = bpf_map_lookup_elem(&sample_rings, &cpu);
	__u64 flags = BPF_RB_NO_WAKEUP;

	s->head.h.size_bytes = size;
	if (!ring) {
		lose(&s->head, JITBPF_COUNT_SAMPLES_NO_SCRATCH);
		return;
	}
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= sample_wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	asm volatile("" : "+r"(size));
	if (size > sizeof(*s) || bpf_ringbuf_output(ring, s, size, flags))
		lose(&s->head, JITBPF_COUNT_SAMPLES_RING_FULL);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sample_scratch *s;
	struct pt_regs *user;
	__u32 zero = 0, pid, frames;
	long kernel_bytes = 0;

	pid = current_pid_in_our_space(task);
	if (!is_tracked(pid))
		return 0;
	count(JITBPF_COUNT_SAMPLES_TAKEN);
	s = bpf_map_lookup_elem(&scratch_map, &zero);
	if (!s)
		return 0; /* cannot be: the map has one element */
	s->head.h.type = JITBPF_SAMPLE;
	s->head.h.flags = 0;
	s->head.h.time_ns = bpf_ktime_get_ns();
	s->head.pid = pid;
	s->head.tid = current_tid_in_our_space(task);
	s->head.start_ns = task->group_leader->start_boottime;
	s->head.cpu = bpf_get_smp_processor_id();
	s->head.user_frames = 0;
	s->head.user_end = JITBPF_END_NONE;
	s->head.reserved = 0;
	bpf_get_current_comm(s->head.comm, sizeof(s->head.comm));

	if (!(ctx->regs.cs & USER_MODE)) {
		kernel_bytes = bpf_get_stack(ctx, s->ips, KERNEL_STACK_MAX, 0);
		if (kernel_bytes <= 0) { /* the leaf at least is known */
			s->ips[0] = ctx->regs.ip;
			kernel_bytes = sizeof(__u64);
		}
	}
	frames = (__u32)kernel_bytes / sizeof(__u64);
	s->head.kernel_frames = frames;

	/* The kernel's helpers of a process (io_uring) share its memory, but never were in user
	 * mode. */
	user = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!(task->flags & PF_KTHREAD) && task->mm && user->ip)
		walk_user(s, task, user, frames);

	frames += s->head.user_frames;
	if (want_user_regs && s->head.user_frames && frames <= 2 * JITBPF_FRAMES_MAX) {
		copy_regs((struct jitbpf_user_regs *)&s->ips[frames], user);
		s->head.h.flags |= JITBPF_SAMPLE_USER_REGS;
		frames += sizeof(struct jitbpf_user_regs) / sizeof(__u64);
	}
	output(s, sizeof(s->head) + (__u64)frames * sizeof(__u64));
	return 0;
}

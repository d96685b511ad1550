/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes CPU samples, with kernel and user stacks, into the ring of the CPU. */
#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

#include "bpf/owner.h"
#include "bpf/pid_space.h"
#include "bpf/sample_filter.h"
#include "bpf/unwind_kept.h"
#include "uapi/record.h"

#define USER_MODE	 3 /* privilege level in cs */
#define USER_CS_32	 0x23
#define KERNEL_STACK_MAX (JITBPF_KERNEL_FRAMES_MAX * sizeof(__u64))
#define REGS_WORDS	 (sizeof(struct jitbpf_user_regs) / sizeof(__u64))
#define CODE_WORDS	 (sizeof(struct jitbpf_code_bytes) / sizeof(__u64))

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool want_user_regs = false;

/* Walk by unwind tables, and copy the stack if they lack a row; otherwise by frame pointers. */
const volatile bool walk_tables = false;
const volatile __u32 sample_wake_bytes = 256u << 10;

/* One ring per CPU: an NMI only tries a ring's lock, so a shared ring would drop samples. */
struct sample_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_DEFAULT);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, JITBPF_CPUS_MAX);
	__type(key, __u32);
	__array(values, struct sample_ring);
} sample_rings SEC(".maps");

#define COPY_PIECE	  4096 /* a page: the readable part of a stack ends at a page boundary */
#define ABOVE_STACK_LIMIT 128  /* bytes of the outermost frame above the limit */

/* The process whose owner was read last on this CPU, and the time of that sample. */
struct owner_read {
	__u64 start_ns, time_ns;
	__u32 pid; /* 0: never */
	__u32 reserved;
};

/*
 * Buffer for one sample, whose parts are packed from head on. One per CPU is enough, since
 * the sampling interrupt does not nest.
 */
struct sample_scratch {
	struct jitbpf_sample head;
	__u64 ips[JITBPF_SAMPLE_FRAMES_MAX + 1];
	struct jitbpf_user_regs regs_room;
	struct jitbpf_code_bytes code_room;
	struct jitbpf_stack_copy copy_room;
	union {
		__u8 stack_room[JITBPF_STACK_COPY_MAX + COPY_PIECE];
		struct kept_room kept_room; /* of the walk, which ends before the copy */
	};
	struct user_walk walk; /* not part of the sample */
	struct owner_read owner_read;
};

/* By CPU, but no per-CPU map: those have at most 32 KB. User space sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_scratch);
} scratch_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PIDS_MAX);
	__type(key, struct jitbpf_lost_key);
	__type(value, __u64);
} lost_samples SEC(".maps");

/* Lost samples of processes that have no entry in lost_samples, since it is full. */
__u64 lost_elsewhere = 0;

static __always_inline void lose(const struct jitbpf_sample *sample, __u32 why)
{
	struct jitbpf_lost_key key = {.start_ns = sample->start_ns, .pid = sample->pid};
	__u64 one = 1, *lost;

	count(why);
	lost = bpf_map_lookup_elem(&lost_samples, &key);
	if (!lost && !bpf_map_update_elem(&lost_samples, &key, &one, BPF_NOEXIST))
		return;
	lost = lost ?: bpf_map_lookup_elem(&lost_samples, &key);
	__sync_fetch_and_add(lost ?: &lost_elsewhere, 1);
}

/* Loops of this length are cheap to verify, and their product is what a sample holds. */
#define WALK_PIECE  4 /* callers */
#define WALK_PIECES 8
#define KEEP_PIECE  8
#define KEEP_PIECES 8
#define WALK_TURNS  (JITBPF_USER_FRAMES_MAX / (WALK_PIECE * WALK_PIECES))

_Static_assert(JITBPF_USER_FRAMES_MAX % (WALK_PIECE * WALK_PIECES) == 0, "whole turns");

/* Results of begin_user(). */
#define BEGUN	 1
#define BEGUN_32 2 /* at 32-bit code, which is not walked */

/* Not of enum jitbpf_stack_end. */
#define WALK_KEPT  100 /* the current frame is a kept one */
#define WALK_AGAIN 101 /* the kept callers are of no use */

/*
 * Continues the walk by up to WALK_PIECE callers, and writes them to ips[at] and up; the first
 * caller of the stack is at ips[at]. The walk ends when it finds one caller more than a sample
 * holds. Global, as walk_frame() is.
 */
__noinline int walk_piece(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	__u64 to, callers;
	int end;

	if (!s || !kept)
		return JITBPF_END_NO_RULE;
	for (__u32 i = 0; i < WALK_PIECE; i++) {
		callers = s->walk.callers;
		to = at + callers;
		if (callers && s->walk.kept_at < KEPT_MAX && is_kept(&s->walk, kept))
			return WALK_KEPT;
		end = walk_frame(&s->walk);
		asm volatile("" : "+r"(to), "+r"(callers));
		if (callers - 1 < JITBPF_USER_FRAMES_MAX)
			s->kept_room.found[callers - 1].sp |= s->walk.flags;
		if (end)
			return end;
		if (callers >= JITBPF_USER_FRAMES_MAX - 1 || to > JITBPF_SAMPLE_FRAMES_MAX) {
			s->walk.callers = JITBPF_USER_FRAMES_MAX - 1;
			return JITBPF_END_DEPTH;
		}
		s->ips[to] = unwind_frame_ip(&s->walk.state);
		s->kept_room.found[callers].sp = kept_sp(&s->walk.state);
		s->kept_room.found[callers].bp = s->walk.state.bp;
	}
	return UNWIND_STEPPED;
}

/* Likewise by up to WALK_PIECES pieces. */
__noinline int walk_pieces(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end = UNWIND_STEPPED;

	for (__u32 i = 0; i < WALK_PIECES && !end; i++)
		end = walk_piece(s, kept, at);
	return end;
}

/* Continues the walk until the stack ends, or is deeper than a sample. Global, as walk_frame(). */
__noinline int walk_callers(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end = UNWIND_STEPPED;

	for (__u32 i = 0; i < WALK_TURNS && !end; i++)
		end = walk_pieces(s, kept, at);
	return end;
}

#define REUSE_TRIES 2

/*
 * Walks until the stack ends, or until the remaining callers are those of the last walk. Then ips
 * lacks s->walk.reused callers. The row of the outermost frame is looked up again, so that the walk
 * ends by the tables of now.
 */
__noinline int walk_or_reuse(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end;

	if (!s || !kept)
		return JITBPF_END_NO_RULE;
	for (__u32 i = 0; i < REUSE_TRIES; i++) {
		/* Most walks end, or meet a kept frame, within a piece. */
		end = walk_piece(s, kept, at) ?: walk_callers(s, kept, at);
		if (end != WALK_KEPT)
			return end;
		if (reuse_kept(&s->walk, kept, &s->kept_room))
			return walk_frame(&s->walk) == JITBPF_END_ROOT ? JITBPF_END_ROOT
								       : WALK_AGAIN;
	}
	s->walk.kept_at = KEPT_MAX;
	return walk_callers(s, kept, at);
}

/* Continues to keep the callers of a walk, whose first one is at ips[at]. Returns true at the end.
 */
__noinline int keep_piece(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	struct kept_frame *frame;
	__u64 from, i;

	if (!s || !kept)
		return 1;
	for (__u32 n = 0; n < KEEP_PIECE; n++) {
		i = s->walk.kept_at;
		from = at + i;
		frame = kept_frame_at(kept, KEPT_MAX - (__u64)s->walk.callers + i);
		asm volatile("" : "+r"(i), "+r"(from));
		if (!frame || i + s->walk.reused >= s->walk.callers || i >= KEPT_MAX ||
		    from > JITBPF_SAMPLE_FRAMES_MAX)
			return 1;
		frame->ip = s->ips[from];
		frame->sp = s->kept_room.found[i].sp;
		frame->bp = s->kept_room.found[i].bp;
		s->walk.kept_at = i + 1;
	}
	return 0;
}

__noinline int keep_pieces(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int done = 0;

	for (__u32 i = 0; i < KEEP_PIECES && !done; i++)
		done = keep_piece(s, kept, at);
	return done;
}

/* Keeps the callers for the next walk on this CPU. */
__noinline int keep_callers(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	struct kept_frame *met;
	int done = 0;
	__u64 i;

	if (!s || !kept)
		return 0;
	/*
	 * This walk reached the first reused frame from another called frame, so its sp has
	 * changed.
	 */
	i = s->walk.callers - s->walk.reused;
	asm volatile("" : "+r"(i));
	met = s->walk.reused ? kept_frame_at(kept, KEPT_MAX - (__u64)s->walk.reused) : NULL;
	if (met && i < KEPT_MAX)
		met->sp = s->kept_room.found[i].sp | (met->sp & (KEPT_CODE | KEPT_GUESSED));
	s->walk.kept_at = 0;
	for (__u32 n = 0; n < KEPT_MAX / (KEEP_PIECE * KEEP_PIECES) && !done; n++)
		done = keep_pieces(s, kept, at);
	kept->pid = s->head.pid;
	kept->start_ns = s->head.start_ns;
	kept->stack_top = s->walk.stack_top;
	kept->known_ns = s->walk.known_ns;
	kept->removals = s->walk.removals;
	kept->first = s->walk.first;
	kept->mappings = s->walk.count;
	kept->count = s->walk.callers;
	return 0;
}

static __always_inline void *sample_ring_of(const struct sample_scratch *s)
{
	__u32 cpu = s->head.cpu;

	return bpf_map_lookup_elem(&sample_rings, &cpu);
}

/* Half of the ring is for samples only: a stack copy is many times larger than a sample. */
static __always_inline bool has_room_for_copy(void *ring)
{
	return ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) <
			       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
}

/*
 * Begins the walk at the user registers. Returns BEGUN or BEGUN_32, or 0 if the task has no user
 * stack. Global, as walk_frame() is.
 */
__noinline int begin_user(struct sample_scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	struct mm_struct *mm;

	/* Worker threads of the kernel (io_uring) share the process's memory, but have ip 0. */
	if (!s || task->flags & PF_KTHREAD || !user->ip)
		return 0;
	mm = BPF_CORE_READ(task, mm);
	if (!mm)
		return 0;
	begin_walk(&s->walk, s->head.pid, user, BPF_CORE_READ(mm, start_stack),
		   task->thread.fsbase);
	if (s->head.kernel_frames)
		unwind_undo_delivery(&s->walk.state);
	return user->cs == USER_CS_32 ? BEGUN_32 : BEGUN;
}

/* Walks by the tables. Returns how the stack ends. */
static __always_inline int walk_by_tables(struct sample_scratch *s, struct kept_walk *kept,
					  __u32 at)
{
	struct user_walk *w = &s->walk;
	int end;

	begin_kept(w, kept, s->head.pid, s->head.start_ns);
	end = walk_or_reuse(s, kept, at);
	if (end == WALK_AGAIN) {
		begin_user(s);
		end = walk_callers(s, kept, at);
	}
	if (w->not_made && !has_room_for_copy(sample_ring_of(s))) {
		/* No copy: guess the other callers by frame pointers. */
		w->by_frame_pointers = true;
		w->kept_at = KEPT_MAX;
		end = walk_callers(s, kept, at);
		if (end != JITBPF_END_ROOT && end != JITBPF_END_DEPTH)
			end = JITBPF_END_NO_ROOM;
	}
	/* Only whole stacks reuse callers, so the callers of other stacks are not kept. */
	if (end == JITBPF_END_ROOT && !w->by_frame_pointers) {
		keep_callers(s, kept, at);
		s->head.h.flags |= JITBPF_SAMPLE_REUSES_CALLERS;
	}
	return end;
}

/* Writes the user frames behind the kernel's. Global, as walk_frame() is. */
__noinline int walk_user(struct sample_scratch *s, struct kept_walk *kept)
{
	struct user_walk *w;
	int begun, end;
	__u64 at;

	if (!s || !kept)
		return 0;
	w = &s->walk;
	at = s->head.kernel_frames;
	begun = begin_user(s);
	asm volatile("" : "+r"(at));
	if (!begun || at > JITBPF_KERNEL_FRAMES_MAX)
		return 0;
	s->ips[at] = w->state.ip;
	if (begun == BEGUN_32) {
		end = JITBPF_END_COMPAT;
	} else if (walk_tables) {
		end = walk_by_tables(s, kept, at + 1);
	} else {
		w->by_frame_pointers = true;
		end = walk_callers(s, kept, at + 1);
	}
	s->head.user_end = end;
	s->head.user_frames = w->callers + 1;
	if (w->count)
		s->head.mappings_age_ns = mappings_age_ns(w, s->head.h.time_ns);
	if (w->state.guessed)
		s->head.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	return 0;
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

/*
 * Adds to a copy of the stack up to the end of the next page. A page that cannot be read becomes a
 * hole in the copy or, if the end of the stack is not known, the end of the copy. Returns 1 when
 * the copy is complete.
 */
__noinline int copy_page(struct sample_scratch *s, __u32 at, __u64 wanted, __u64 limit)
{
	struct jitbpf_stack_copy *copy;
	__u64 size, piece;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + CODE_WORDS)
		return 1;
	copy = (struct jitbpf_stack_copy *)&s->ips[at];
	size = copy->size_bytes;
	if (size >= wanted)
		return 1;
	piece = COPY_PIECE - ((copy->sp + size) & (COPY_PIECE - 1));
	if (piece > wanted - size)
		piece = wanted - size;
	asm volatile("" : "+r"(piece), "+r"(size));
	if (size > JITBPF_STACK_COPY_MAX || piece > COPY_PIECE)
		return 1;
	if (bpf_probe_read_user(copy->data + size, piece, (void *)(copy->sp + size))) {
		if (!limit)
			return 1;
		if (!copy->hole_end)
			copy->hole_start = size;
		copy->hole_end = size + piece;
	}
	copy->size_bytes = size + piece;
	return 0;
}

/*
 * Returns the size of a copy of the stack from sp on. Where the stack ends beyond
 * JITBPF_UNBOUNDED_COPY_MAX, the copy has at most a quarter of the size of the ring.
 */
static __always_inline __u64 copy_bytes(const struct sample_scratch *s, __u64 sp, __u64 limit)
{
	__u64 most = JITBPF_UNBOUNDED_COPY_MAX, ring_bytes;
	void *ring = sample_ring_of(s);

	if (!limit)
		return most;
	ring_bytes = ring ? bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) : 0;
	if (ring_bytes / 4 > most)
		most = ring_bytes / 4;
	if (most > JITBPF_STACK_COPY_MAX)
		most = JITBPF_STACK_COPY_MAX;
	return limit - sp + ABOVE_STACK_LIMIT < most ? limit - sp + ABOVE_STACK_LIMIT : most;
}

/*
 * Writes a copy of the stack, from where the walk stopped, at ips[at]. Returns the size of the copy
 * in words.
 */
__noinline int copy_stack(struct sample_scratch *s, __u32 at)
{
	__u64 sp, limit, wanted;
	struct jitbpf_stack_copy *copy;
	int done = 0;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS + CODE_WORDS)
		return 0;
	copy = (struct jitbpf_stack_copy *)&s->ips[at];
	sp = s->walk.state.sp;
	limit = unwind_stack_limit(sp, s->walk.stack_top, s->walk.thread_pointer);
	wanted = copy_bytes(s, sp, limit);
	copy->ip = s->walk.state.ip;
	copy->sp = sp;
	copy->bp = s->walk.state.bp;
	copy->stack_top = s->walk.stack_top;
	copy->thread_pointer = s->walk.thread_pointer;
	copy->size_bytes = copy->hole_start = copy->hole_end = 0;
	copy->is_caller = s->walk.state.is_caller;
	for (__u32 i = 0; i <= JITBPF_STACK_COPY_MAX / COPY_PIECE && !done; i++)
		done = copy_page(s, at, wanted, limit);
	copy->size_bytes &= ~7u;
	return (sizeof(*copy) + copy->size_bytes) / sizeof(__u64);
}

/*
 * Copies the memory around the innermost frame in code without a file to ips[at] and up. Returns
 * the number of words, 0 if it cannot be read. Global, as walk_frame() is.
 */
__noinline int copy_code_bytes(struct sample_scratch *s, __u32 at)
{
	struct jitbpf_code_bytes *code;

	if (!s || at > JITBPF_SAMPLE_FRAMES_MAX + REGS_WORDS)
		return 0;
	code = (struct jitbpf_code_bytes *)&s->ips[at];
	code->address = s->walk.code & ~(__u64)(JITBPF_CODE_BYTES - 1);
	if (bpf_probe_read_user(code->bytes, sizeof(code->bytes), (void *)code->address))
		return 0;
	s->head.h.flags |= JITBPF_SAMPLE_CODE_BYTES;
	return CODE_WORDS;
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
		flags = sample_wake_flag(ring, size);
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
	return walk_tables && s->head.user_frames && s->head.user_end == JITBPF_END_NO_RULE &&
	       s->walk.not_made;
}

/*
 * Adds what a sample has besides its frames, and writes it into the ring. Global, as walk_frame()
 * is.
 */
__noinline int finish_sample(struct sample_scratch *s, struct kept_walk *kept)
{
	bool copy;
	__u32 words;

	if (!s || !kept)
		return 0;
	copy = wants_copy(s);
	words = s->head.kernel_frames + s->head.user_frames;
	if (s->head.h.flags & JITBPF_SAMPLE_REUSES_CALLERS) {
		words -= s->walk.reused;
		s->head.user_end |= s->walk.reused << JITBPF_REUSED_SHIFT;
	}
	if (want_user_regs && s->head.user_frames && words <= JITBPF_SAMPLE_FRAMES_MAX) {
		copy_regs((struct jitbpf_user_regs *)&s->ips[words],
			  (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
		s->head.h.flags |= JITBPF_SAMPLE_USER_REGS;
		words += REGS_WORDS;
	}
	if (s->head.user_frames && s->walk.code)
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
	head->kernel_frames = 0;
	head->user_frames = 0;
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
	/* With a time before the sample's, so that the sample counts for this cgroup. */
	read_owner((__u64)BPF_CORE_READ(task, group_leader), s->head.pid, s->head.h.time_ns - 1);
}

static __always_inline void walk_kernel(struct sample_scratch *s, struct bpf_perf_event_data *ctx)
{
	long bytes;

	if (ctx->regs.cs & USER_MODE)
		return;
	bytes = bpf_get_stack(ctx, s->ips, KERNEL_STACK_MAX, 0);
	if (bytes <= 0) { /* keep the leaf */
		s->ips[0] = ctx->regs.ip;
		bytes = sizeof(__u64);
	}
	s->head.kernel_frames = (__u32)bytes / sizeof(__u64);
}

/*
 * The verifier checks each global function once, but code that is inlined here once for each state
 * in which the code before it can end.
 */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	__u32 pid = pidns_inum ? current_pid_in_our_space(task) : task->tgid;
	struct sample_scratch *s;
	struct kept_walk *kept;

	if (!is_tracked(pid) || !is_sampled())
		return 0;
	count(JITBPF_COUNT_SAMPLES_TAKEN);
	s = bpf_map_lookup_elem(&scratch_map, &cpu);
	kept = bpf_map_lookup_elem(&kept_walks, &zero);
	if (!s || !kept)
		return 0; /* for the verifier */
	fill_head(&s->head, task, pid);
	watch_owner(s, task);
	walk_kernel(s, ctx);
	walk_user(s, kept);
	finish_sample(s, kept);
	return 0;
}

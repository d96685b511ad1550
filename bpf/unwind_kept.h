/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For each CPU, the callers that its last walk found, and the stack words that they were read from.
 * If these words, the tables and the mappings are unchanged, a walk that reaches one of these
 * frames has the same callers. So a walk compares the words instead of looking up rows.
 */
#ifndef JITBPF_BPF_UNWIND_KEPT_H
#define JITBPF_BPF_UNWIND_KEPT_H

#include "bpf/unwind_walk.h"

/*
 * The word sp of a frame:
 * - bits 0-47: its stack pointer;
 * - bits 48-59: where the step to this frame found rbp, in words from the stack pointer;
 *   KEPT_SAME_RBP if rbp is that of the called frame;
 * - KEPT_GUESSED and KEPT_CODE.
 * The word is 0 if the step also read other words of the stack. Then the frame is not reused.
 */
#define KEPT_SP(word)	  ((word) & ((1ull << 48) - 1))
#define KEPT_RBP(word)	  ((__s64)((word) << 4) >> 52)
#define KEPT_RBP_BITS(at) (((__u64)(at)&0xfff) << 48)
#define KEPT_SAME_RBP	  0x7ff

struct kept_frame {
	__u64 ip, sp, bp; /* sp: see KEPT_SP */
};

/*
 * The process and the tables of the walk: names as in struct user_walk. Its callers are
 * frames[KEPT_MAX - count] and up.
 */
struct kept_walk {
	__u64 start_ns, stack_top, known_ns, removals;
	__u32 pid; /* 0: none */
	__u32 first, mappings;
	__u32 count;
	struct kept_frame frames[KEPT_MAX]; /* the outermost one is the last */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kept_walk);
} kept_walks SEC(".maps");

_Static_assert(sizeof(struct kept_walk) <= 32u << 10, "a value of a per-CPU map");

#define KEPT_READ_BYTES 2048

/* Buffers of a walk. */
struct kept_room {
	struct {
		__u64 sp, bp; /* as in struct kept_frame */
	} found[KEPT_MAX];    /* by caller, the first one at 0 */
	__u64 words[KEPT_READ_BYTES / sizeof(__u64)];
	__u64 base, bytes; /* address of words, and the number of bytes that are valid */
	__u64 reads_left;
};

/* Returns sp for struct kept_frame, without the flags. */
static __always_inline __u64 kept_sp(const struct unwind_state *s)
{
	if (s->sp >> 48 || !s->is_caller)
		return 0;
	if (s->rbp == UNWIND_RBP_KEPT)
		return s->sp | KEPT_RBP_BITS(KEPT_SAME_RBP);
	if (s->rbp >= KEPT_SAME_RBP || s->rbp <= -KEPT_SAME_RBP)
		return 0;
	return s->sp | KEPT_RBP_BITS(s->rbp);
}

/* Allows the walk to use the kept callers if they are of the same process and tables. */
static __always_inline void begin_kept(struct user_walk *w, const struct kept_walk *kept, __u32 pid,
				       __u64 start_ns)
{
	if (kept->pid == pid && kept->start_ns == start_ns && kept->stack_top == w->stack_top &&
	    kept->removals == w->removals && w->count && kept->known_ns == w->known_ns &&
	    kept->first == w->first && kept->mappings == w->count && kept->count <= KEPT_MAX)
		w->kept_at = KEPT_MAX - kept->count;
}

/*
 * Returns a kept frame, or NULL. The asm statement keeps the compiler from dropping the mask as
 * redundant: the verifier needs it.
 */
static __always_inline struct kept_frame *kept_frame_at(struct kept_walk *kept, __u64 at)
{
	if (at >= KEPT_MAX)
		return NULL;
	asm volatile("" : "+r"(at));
	return &kept->frames[at & (KEPT_MAX - 1)];
}

#define KEPT_SKIP 16

/*
 * Returns true if the current frame is the kept caller w->kept_at. Skips kept frames that have
 * returned. Global, as walk_frame() is.
 */
__noinline int is_kept(struct user_walk *w, struct kept_walk *kept)
{
	const struct kept_frame *frame;
	__u64 sp;

	if (!w || !kept)
		return 0;
	for (__u32 i = 0; i < KEPT_SKIP; i++) {
		frame = kept_frame_at(kept, w->kept_at);
		if (!frame)
			return 0;
		sp = KEPT_SP(frame->sp);
		if (sp >= w->state.sp)
			return sp == w->state.sp && frame->ip == w->state.ip &&
			       frame->bp == w->state.bp && w->state.is_caller;
		w->kept_at++;
	}
	return 0;
}

/* Returns the word at an offset in the buffer. */
static __always_inline __u64 kept_word_at(const struct kept_room *room, __u64 offset)
{
	asm volatile("" : "+r"(offset));
	return room->words[(offset / 8) & (KEPT_READ_BYTES / 8 - 1)];
}

enum kept_verdict { KEPT_GO_ON, KEPT_ALL_SAME, KEPT_CHANGED, KEPT_STEPPED };

#define KEPT_STEP   4  /* frames that a call compares */
#define KEPT_PIECE  16 /* frames compared by a read, at most */
#define KEPT_PIECES 16 /* reads of a turn */
#define KEPT_TURNS  16

/*
 * Limit of reads for a number of frames: a read costs as much as some look-ups, and each large
 * frame needs one.
 */
#define KEPT_READS(frames) ((frames) / 8 + 16)

_Static_assert(KEPT_PIECES *KEPT_TURNS >= KEPT_READS(KEPT_MAX), "the loops do not end before");

/*
 * Compares the words by which the frame after w->kept_at was found, and advances w->kept_at. The
 * buffer holds the words at [base, base + bytes).
 */
static __always_inline int compare_frame(struct user_walk *w, struct kept_walk *kept,
					 struct kept_room *room)
{
	const struct kept_frame *frame, *next;
	__u64 sp, at, slot, word;
	__s64 rbp;

	frame = kept_frame_at(kept, w->kept_at);
	next = kept_frame_at(kept, w->kept_at + 1ull);
	if (!frame || !next)
		return frame ? KEPT_ALL_SAME : KEPT_CHANGED;
	sp = KEPT_SP(next->sp);
	at = sp - 8 - room->base;
	if (at >= room->bytes)
		return KEPT_GO_ON;
	if (at & 7 || kept_word_at(room, at) != next->ip)
		return KEPT_CHANGED;
	rbp = KEPT_RBP(next->sp);
	slot = sp + rbp * 8;
	at = slot - room->base;
	if (rbp == KEPT_SAME_RBP)
		word = frame->bp;
	else if (at < room->bytes)
		word = kept_word_at(room, at);
	else if (bpf_probe_read_user(&word, sizeof(word), (void *)slot))
		return KEPT_CHANGED;
	if (word != next->bp)
		return KEPT_CHANGED;
	if (frame->sp & KEPT_CODE && !w->kept_code)
		w->kept_code = frame->ip - 1;
	w->kept_guessed |= frame->sp >> KEPT_GUESSED_BIT & 1;
	w->kept_at++;
	return KEPT_STEPPED;
}

/*
 * compare_frame() for up to KEPT_STEP frames, since a call takes longer than a comparison. Global,
 * as walk_frame() is.
 */
__noinline int compare_frames(struct user_walk *w, struct kept_walk *kept, struct kept_room *room)
{
	int verdict = KEPT_STEPPED;

	if (!w || !kept || !room)
		return KEPT_CHANGED;
	for (__u32 i = 0; i < KEPT_STEP && verdict == KEPT_STEPPED; i++)
		verdict = compare_frame(w, kept, room);
	return verdict;
}

/* compare_frame() for up to KEPT_PIECE frames, with one read of the stack. */
__noinline int compare_piece(struct user_walk *w, struct kept_walk *kept, struct kept_room *room)
{
	const struct kept_frame *frame, *next;
	__u64 base, bytes, sp;
	int verdict = KEPT_STEPPED;
	__u32 from;

	if (!w || !kept || !room)
		return KEPT_CHANGED;
	from = w->kept_at;
	frame = kept_frame_at(kept, from);
	next = kept_frame_at(kept, from + 1ull);
	if (!frame || !next)
		return frame ? KEPT_ALL_SAME : KEPT_CHANGED;
	base = KEPT_SP(frame->sp);
	sp = KEPT_SP(next->sp);
	if (sp - base > KEPT_READ_BYTES / 2)
		base = sp - 64;
	bytes = KEPT_SP(kept->frames[KEPT_MAX - 1].sp) - base;
	if (bytes > KEPT_READ_BYTES)
		bytes = KEPT_READ_BYTES;
	asm volatile("" : "+r"(bytes));
	if (!room->reads_left)
		return KEPT_CHANGED;
	room->reads_left--;
	if (bytes > KEPT_READ_BYTES || bpf_probe_read_user(room->words, bytes, (void *)base))
		return KEPT_CHANGED;
	room->base = base;
	room->bytes = bytes & ~7ull;
	for (__u32 i = 0; i < KEPT_PIECE / KEPT_STEP && verdict == KEPT_STEPPED; i++)
		verdict = compare_frames(w, kept, room);
	if (verdict == KEPT_GO_ON && w->kept_at == from)
		return KEPT_CHANGED;
	return verdict == KEPT_STEPPED ? KEPT_GO_ON : verdict;
}

__noinline int compare_pieces(struct user_walk *w, struct kept_walk *kept, struct kept_room *room)
{
	int verdict = KEPT_GO_ON;

	for (__u32 i = 0; i < KEPT_PIECES && !verdict; i++)
		verdict = compare_piece(w, kept, room);
	return verdict;
}

/*
 * Compares the words of all callers of the current frame, which is the kept one w->kept_at. Returns
 * true with the walk at the outermost caller if they are the same. Otherwise the walk is at the
 * same frame, and w->kept_at is a frame that has changed.
 */
__noinline int reuse_kept(struct user_walk *w, struct kept_walk *kept, struct kept_room *room)
{
	const struct kept_frame *outermost;
	int verdict = KEPT_GO_ON;
	__u32 from;

	if (!w || !kept || !room)
		return 0;
	from = w->kept_at;
	if (from >= KEPT_MAX)
		return 0;
	room->reads_left = KEPT_READS(KEPT_MAX - from);
	w->kept_code = 0;
	w->kept_guessed = 0;
	for (__u32 i = 0; i < KEPT_TURNS && !verdict; i++)
		verdict = compare_pieces(w, kept, room);
	/* The sum counts the current frame twice. A sample has at most KEPT_MAX - 1 callers. */
	if (verdict != KEPT_ALL_SAME || w->callers + (KEPT_MAX - from) > KEPT_MAX) {
		w->kept_at++;
		return 0;
	}
	outermost = &kept->frames[KEPT_MAX - 1];
	w->state.ip = outermost->ip;
	w->state.sp = KEPT_SP(outermost->sp);
	w->state.bp = outermost->bp;
	w->state.guessed |= w->kept_guessed;
	if (!w->code)
		w->code = w->kept_code;
	w->reused = KEPT_MAX - from;
	w->callers += w->reused - 1;
	return 1;
}

#endif

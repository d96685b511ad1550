/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the runtime frames of a sample between its native frames. Each native frame in the loop of
 * an interpreter stands for a group of runtime frames: from the newest one that no inner loop frame
 * stands for, to the next entry (uapi/runtime_recipe.h). Pure code.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_RUNTIME_MERGE_H
#define JITBPF_UNWIND_RUNTIMES_RUNTIME_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/* The two words of a runtime frame in a finished sample. First word 0: it has no function. */
struct runtime_words {
	uint64_t function, position;
};

/* The native frames of a thread: addresses, leaf first. The leaf is a pc, the others return. */
struct native_stack {
	const uint64_t *addresses;
	uint32_t count; /* up to JITBPF_USER_FRAMES_MAX */
	/* How many of them the kernel has walked. Of the others, rbp is known, by address. */
	uint32_t walked;
	const uint64_t *frame_pointers;
	bool whole;    /* the last one is the outermost frame */
	bool doubtful; /* the code of the last one is not known: none is placed behind it */
	/* Returns true if an address is in anonymous memory, and in no known code. May be NULL. */
	bool (*is_unknown)(const void *context, uint64_t address);
	/* Returns true if an address is in a library that switches native stacks. May be NULL. */
	bool (*switches)(const void *context, uint64_t address);
	const void *context;
};

/* The runtime frames of a thread, newest first. */
struct runtime_stack {
	const struct runtime_recipe *recipe;
	struct runtime_range own; /* where the code of the runtime's file is; or empty */
	const struct runtime_frame *frames;
	const struct runtime_words *words; /* by frame */
	uint32_t count;			   /* up to JITBPF_RUNTIME_FRAMES_MAX */
	bool whole;			   /* the last one is the outermost frame */
	uint32_t flags;			   /* enum jitbpf_runtime_flag */
};

struct merged_stack {
	uint64_t words[JITBPF_USER_WORDS_MAX];
	uint32_t count;
	bool cut; /* JITBPF_SAMPLE_RUNTIME_CUT */
};

/*
 * Merge. The order of frames of each kind is kept. A group is placed outside of (behind) its loop
 * frame, which runs it and gets the kind INTERPRETER: so stacks that differ only in the instruction
 * of the loop have all other frames in common. Frames of the runtime's own file outside of a
 * runtime frame get that kind, too, but for the outermost frame of the thread, such as _start: a
 * stack begins with it, with or without runtime frames, so all stacks of a program have the same
 * root. So does unknown code in anonymous memory that has called the loop itself, even if the loop
 * has no group: only the runtime does that, by a trampoline that it has made for a function
 * (`python -X perf`). In a group of compiled code, the innermost frame is marked as such. Unknown
 * code that the recipe's `compiled` describes is of the loop, too; of its newest frame, no line is
 * known.
 *
 * A loop that was called again (struct runtime_recipe) and the next outer one, with what is between
 * them, stand for one group.
 *
 * Innermost groups and loop frames belong together. But a leaf that is in the loop may have no
 * group yet, or no more: that is so if it is unsettled; if the flags say so; or, for a runtime that
 * cannot tell, of whole stacks, if there is one loop frame more than entries. If it could tell, and
 * the flags do not, the groups may be another state's: none is placed. The other way round, if the
 * recipe says that an entry is early, and whole stacks have one entry more than loop frames, then
 * the innermost frame of the runtime's own file is about to call the loop: it stands for the newest
 * group. Groups that are left behind the outermost loop frame are placed at the end. Their native
 * frames are on another stack or, if the native stack is not whole, not known: then a frame of kind
 * GAP is before them. If the runtime stack is not whole, it may be none: they are placed only
 * behind others. Loop frames that are left stay as they are. But if the frames are doubtful and
 * fewer groups than loop frames of whole stacks, then they are of another state of the thread: none
 * is placed.
 *
 * If the runtime stack is not whole, a GAP follows its last frame, unless that is the end of a
 * native stack that is not whole: its end says the same. While the thread switches native stacks,
 * each frame of the two stacks is right, but they need not belong together. So the leaf alone is
 * before the runtime frames, with a GAP between. It may do so while its leaf is in, or was called
 * from, the code that the recipe names or a library that switches, before any loop frame. Such a
 * library begins each further stack, too: what is behind its frame, behind all groups of a whole
 * runtime stack, is memory of other stacks, and no part of this one. A stack with a GAP whose
 * outermost frame is not known ends with a GAP, if there is room for it.
 */
void runtime_merge(const struct native_stack *native, const struct runtime_stack *runtime,
		   struct merged_stack *ret);

#endif

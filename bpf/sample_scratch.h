/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The buffer in which a sample is made, and the ring that it is written to. */
#ifndef JITBPF_BPF_SAMPLE_SCRATCH_H
#define JITBPF_BPF_SAMPLE_SCRATCH_H

#include "bpf/maps.h"
#include "bpf/unwind_kept.h"
#include "uapi/record.h"

#define REGS_WORDS (sizeof(struct jitbpf_user_regs) / sizeof(__u64))
#define CODE_WORDS (sizeof(struct jitbpf_code_bytes) / sizeof(__u64))
#define RUNTIME_WORDS                                                                              \
	((sizeof(struct jitbpf_runtime_frames) +                                                   \
	  JITBPF_RUNTIME_FRAMES_MAX * sizeof(struct runtime_frame)) /                              \
	 sizeof(__u64))
#define PAGE_BYTES	  4096
#define COPY_PIECE	  PAGE_BYTES /* the readable part of a stack ends at a page boundary */
#define SEARCH_PAGE_WORDS (PAGE_BYTES / sizeof(__u64))

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

/* The process whose owner was read last on this CPU, and the time of that sample. */
struct owner_read {
	__u64 start_ns, time_ns;
	__u32 pid; /* 0: never */
	__u32 reserved;
};

#define RUNTIME_SEEN 32 /* a power of two */

/* A function that a walk has read. */
struct runtime_seen {
	__u64 walk, function, owner, check, is_native;
};

/* The walk of runtime frames (bpf/runtime_walk.h). */
struct runtime_walk {
	__u64 frame;	/* address of the next one; 0: none */
	__u64 function; /* of the current frame */
	__u64 owner;	/* of that function; 0: none */
	__u64 newest, newest_position;
	__u64 on_stack;		    /* where the loop of the newest frame is; 0: not known */
	__u64 leaf_start, leaf_end; /* the innermost native frame; equal: not known */
	__u64 leaf_bp;		    /* its rbp */
	/* Of native frames that hold functions: the number of the next one; the current one. */
	__u32 native_at, native_is_leaf;
	__u64 native_pc, native_bp;
	__u32 leaf_runs;     /* the leaf has a frame, or a function without one */
	__u32 native_enters; /* the current one has no frame yet: a register has its function */
	__u32 is_doubtful;
	__u32 wants_owner; /* the current frame's function can have one */
	__u32 count;	   /* of frames so far */
	__u32 loop;	   /* enum runtime_loop_flag, of the innermost native frame */
	__u32 is_native, has_position;
	__u64 news; /* a function that the reader may not know; kept for the wake-up */
	__u64 walk; /* its number */
	/* Of frames in sections: the section, its array, and the place of the next frame. */
	__u64 section, array, place;
	__s32 number; /* of the next frame; negative: the section has none */
	__u32 kind;   /* of the section */
	__u32 last_is_entry, reserved;
	/* A word can be at any offset. */
	__u8 frame_bytes[RUNTIME_FRAME_BYTES_MAX + sizeof(__u64)];
	__u8 object_bytes[RUNTIME_OBJECT_BYTES_MAX + sizeof(__u64)];
	__u8 owner_bytes[RUNTIME_OWNER_BYTES_MAX + sizeof(__u64)];
	struct runtime_seen seen[RUNTIME_SEEN];
};

/*
 * Buffer for one sample, whose parts are packed from head on. One per CPU is enough, since
 * the sampling interrupt does not nest.
 */
struct sample_scratch {
	struct jitbpf_sample head;
	__u64 words[JITBPF_SAMPLE_FRAMES_MAX + 1];
	struct jitbpf_user_regs regs_room;
	struct jitbpf_runtime_frames runtime_head_room;
	struct runtime_frame runtime_room[JITBPF_RUNTIME_FRAMES_MAX];
	struct jitbpf_code_bytes code_room;
	struct jitbpf_stack_copy copy_room;
	union {
		__u8 stack_room[JITBPF_STACK_COPY_MAX + COPY_PIECE];
		struct kept_room kept_room;	      /* of the walk, which ends before the copy */
		__u64 search_room[SEARCH_PAGE_WORDS]; /* of bpf/runtime_search.h, between them */
	};
	struct user_walk walk; /* not part of the sample */
	struct runtime_walk runtime;
	/* A page of the stack that is searched, the next word of it, the word before that. */
	__u64 search_at, search_end, search_count, search_index, search_before;
	struct owner_read owner_read;
	struct bpf_stack_build_id told;
	struct jitbpf_build_id build_id; /* a record of its own */
};

/*
 * Entries by CPU number. A per-CPU map cannot be used, since its values have at most 32 KB. User
 * space sets the number of entries.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_scratch);
} scratch_map SEC(".maps");

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

#endif

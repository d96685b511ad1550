/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a recording (uapi/recording.h) packs its chunks.
 *
 * Behind the file header come segments: a struct jitbpf_segment_head and the compressed bytes. The
 * bytes of all segments are a sequence of zstd frames, flushed at the end of each segment. A
 * recording is one frame; a copy that was made while it was written has another one for its end.
 * A recorder ends a segment at least once a second, so a file that is cut can be read up to its
 * last whole segment.
 *
 * The content of a segment is the size in bytes of each lane, then the lanes (enum jitbpf_lane).
 * A lane holds the values of one kind, since similar values compress better together. Chunks are
 * whole in a segment; rounds need not be. Numbers are unsigned LEB128. A difference is a signed
 * number, in zigzag form: 0, -1, 1, -2 are 0, 1, 2, 3.
 *
 * A chunk begins with a byte in HEADS. If the byte has JITBPF_PACKED_SAMPLE, the chunk is a sample.
 * Else the byte is the type of a chunk in general form:
 *   HEADS: type, flags, number of runs; then for each run:
 *          - the number of its words
 *          - if there are words: a mask of the words that differ from the expected ones
 *          - the number of its bytes, as a difference to its last word (to 0 without words),
 *            modulo 2^32
 *   TIMES: difference of time_ns to the chunk before
 *   WORDS: for each word of the masks, its difference to the expected one, modulo 2^32
 *   TEXT:  the bytes of the runs
 * A run is a part of the chunk behind its header: 32-bit words, then bytes.
 * decode/recording/word_columns.h computes the expected words. A writer may split a chunk into any
 * runs.
 *
 * A sample without mappings_age_ns is usually in this form:
 *   HEADS: a byte of JITBPF_PACKED_*, and what its bits announce, in this order
 *   TIMES: difference of time_ns to the last sample of event 0 on its CPU plus the sampling period
 *          of INFO or, of another event, to the last sample of other events on its CPU
 *   NODES: number of a node: the leaf of the stack, or the parent of the first new node
 *   WORDS: for each new node, the difference of its word to the expected one, modulo 2^64
 *          (decode/recording/stack_tree.h)
 * With JITBPF_SAMPLE_WEIGHT, the weight follows in HEADS, behind what the bits announce.
 * With JITBPF_SAMPLE_USER_REGS, the words of a struct jitbpf_user_regs follow, as those of the
 * first run of a chunk of type SAMPLE: a mask in HEADS, and differences in WORDS. Before its first
 * sample, a CPU has thread 0 and time 0; CPU and flags before the first sample are 0.
 *
 * A stack is a path in a tree. Nodes are numbered in order. Nodes 0 to JITBPF_STACK_ROOTS - 1 are
 * roots without a frame: the root's number is the stack's user_end. Each other node is a word of a
 * frame (enum jitbpf_frame_kind). The last word of the outermost user frame is a child of the root;
 * the outermost kernel frame is a child of the innermost user frame, or of the root. A chunk FRESH
 * removes all nodes but the roots, and all threads; each CPU has thread 0.
 *
 * In a CODE_EVENT, the last part may be JITBPF_CODE_PART_PACKED_SCOPES: a packed scope table
 * (uapi/scope_table.h), which a reader puts in the place of that part. It has these numbers:
 *   the four counts of struct jitbpf_scope_table
 *   for each method: the differences of name, class name and source to the method before
 *   for each scope: the distance from its caller, 0 if there is none; the differences of method,
 *          position and line to the scope before
 *   for each range: the distance from the offset before, and the difference of its scope to the
 *          scope of the range before
 * and then the strings. Differences are modulo 2^32; before the first one, all values are 0.
 */
#ifndef JITBPF_UAPI_PACKED_RECORDING_H
#define JITBPF_UAPI_PACKED_RECORDING_H

#include <linux/types.h>

/* Limits of the decompressed bytes of a segment, and of the base-2 logarithm of zstd's window. */
#define JITBPF_SEGMENT_MAX	  (48u << 20)
#define JITBPF_SEGMENT_WINDOW_LOG 20

#define JITBPF_RUN_WORDS_MAX   40
#define JITBPF_STACK_ROOTS     16
#define JITBPF_NODES_MAX       (1u << 17) /* nodes of the tree, with its roots */
#define JITBPF_THREADS_MAX     (1u << 16)
#define JITBPF_PACKED_CPUS_MAX (1u << 16)

struct jitbpf_segment_head {
	__u32 bytes; /* compressed */
	/* CRC-32 of all bytes of the file up to the segment's end, except for the crc fields */
	__u32 crc;
};

enum jitbpf_lane {
	JITBPF_LANE_HEADS = 0,
	JITBPF_LANE_TIMES = 1,
	JITBPF_LANE_NODES = 2,
	JITBPF_LANE_WORDS = 3,
	JITBPF_LANE_TEXT = 4,
	JITBPF_LANE_COUNT
};

#define JITBPF_PACKED_SAMPLE 0x80u
#define JITBPF_PACKED_CPU    1u	 /* its CPU; else that of the sample before */
#define JITBPF_PACKED_THREAD 2u	 /* its thread; else that of the last sample on its CPU */
#define JITBPF_PACKED_FLAGS  4u	 /* its flags; else those of the sample before */
#define JITBPF_PACKED_USER   8u	 /* the number of new nodes of user frames; else 0 */
#define JITBPF_PACKED_KERNEL 16u /* the number of new nodes of kernel frames; else 0 */
#define JITBPF_PACKED_EVENT  32u /* its event; else 0 */

_Static_assert(sizeof(struct jitbpf_segment_head) == 8, "ABI");

#endif

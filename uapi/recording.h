/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording (.jitbpf): struct jitbpf_recording_header, then chunks. A chunk
 * is a struct jitbpf_record of any size_bytes, so that chunks are not aligned.
 * Those with types below 100 are the records of uapi/record.h, byte for byte;
 * a sample usually comes as its stack, written once (STACK), and a reference to
 * it (SAMPLE_REF).
 *
 * The first chunk is INFO. Chunks come in rounds: a ROUND chunk ends one, and
 * holds the CRC-32 (zlib's) of all bytes from the ROUND before it, or from the
 * beginning of the file, up to its own field crc. Right behind the last ROUND
 * stands END, and nothing stands behind that: a file without END was cut.
 *
 * Version 1 holds a source's records as they came: a reader puts each round into order of time.
 * Version 2 holds finished records in the order in which they were applied: by time within a
 * round, but for samples whose stacks were completed later, which keep their own time.
 *
 * Chunks of unknown types are skipped, and enums and headers may grow, within
 * one version; a version that is greater than a reader's is not for it.
 * Little-endian.
 */
#ifndef JITBPF_UAPI_RECORDING_H
#define JITBPF_UAPI_RECORDING_H

#include "uapi/record.h"

#define JITBPF_RECORDING_MAGIC	 "JITBPF\r\n"
#define JITBPF_RECORDING_VERSION 2
#define JITBPF_CHUNK_MAX	 (16u << 20) /* no chunk is larger */
#define JITBPF_STACKS_MAX	 (64u << 20) /* bytes of STACK chunks that are in force at once */
#define JITBPF_TEXT_MAX		 0xffffu     /* of one string in INFO and FRAMES; the rest is cut */

struct jitbpf_recording_header {
	char magic[8];
	__u32 version;
	__u32 header_bytes; /* where the first chunk begins; the header may grow */
};

enum jitbpf_chunk_type {
	JITBPF_CHUNK_INFO = 100,       /* what was recorded: struct jitbpf_info_chunk */
	JITBPF_CHUNK_STACK = 101,      /* struct jitbpf_stack_chunk */
	JITBPF_CHUNK_SAMPLE_REF = 102, /* struct jitbpf_sample_ref_chunk */
	JITBPF_CHUNK_ROUND = 103,      /* struct jitbpf_round_chunk */
	JITBPF_CHUNK_FRAMES = 104,     /* names of one location: struct jitbpf_frames_chunk */
	JITBPF_CHUNK_END = 105,	       /* the header alone; nothing follows */
};

/* h.time_ns is the recording's start. */
struct jitbpf_info_chunk {
	struct jitbpf_record h;
	__u64 wall_clock_ns; /* CLOCK_REALTIME at h.time_ns */
	__u32 freq_hz;
	__u32 cpus;
	char text[]; /* four NUL-terminated strings: event, command, host, kernel release */
};

#define JITBPF_STACK_FRESH 1u /* flags: all stacks before are gone; this one is number 0 */

/*
 * Numbered in the order of appearance: the first is 0, as is one marked FRESH,
 * by which a recorder keeps within JITBPF_STACKS_MAX. One stack may be written
 * more than once.
 */
struct jitbpf_stack_chunk {
	struct jitbpf_record h;
	__u16 kernel_frames;
	__u16 user_frames;
	__u32 user_end; /* enum jitbpf_stack_end */
	__u64 ips[];
};

/* A struct jitbpf_sample without its frames. flags are the sample's. Its mappings_age_ns is 0. */
struct jitbpf_sample_ref_chunk {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns;
	__u32 cpu;
	__u32 stack;
	char comm[JITBPF_COMM_MAX];
	/* struct jitbpf_user_regs where flags say so */
};

struct jitbpf_round_chunk {
	struct jitbpf_record h; /* time_ns: when the round's drain began */
	__u32 reserved;
	__u32 crc; /* of all bytes since the ROUND before, up to here */
};

/*
 * Frames of one location, innermost first. Behind it: the identity of a native
 * location's module (build_id_bytes or path_bytes; a path counts together with
 * device and inode, which are 0 otherwise), then per frame a struct
 * jitbpf_frame_entry and its strings without NUL: name, file, module. A kernel
 * location has no module, and its offset is the address.
 */
struct jitbpf_frames_chunk {
	struct jitbpf_record h;
	__u64 offset;
	__u16 kind; /* enum location_kind */
	__u16 frame_count;
	__u16 build_id_bytes;
	__u16 path_bytes; /* without NUL */
	__u32 dev_major;
	__u32 dev_minor;
	__u64 inode;
};

struct jitbpf_frame_entry {
	__u64 symbol_offset;
	__u32 line;
	__u16 flags; /* FRAME_* */
	__u16 kind;  /* enum frame_kind */
	__u16 name_bytes;
	__u16 file_bytes;
	__u16 module_bytes;
	__u16 reserved;
};

_Static_assert(sizeof(struct jitbpf_recording_header) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_info_chunk) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_stack_chunk) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_sample_ref_chunk) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_round_chunk) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_frames_chunk) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_frame_entry) == 24, "ABI");

#endif

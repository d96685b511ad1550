/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording (.jitbpf): struct jitbpf_recording_header, then chunks. A chunk
 * is a struct jitbpf_record; those with types below 100 are the records of
 * uapi/record.h, byte for byte, but for samples, whose stacks are written once
 * (STACK) and then referred to (SAMPLE_REF).
 *
 * Records come in rounds: a ROUND chunk ends one and holds the CRC-32 of all
 * bytes since the one before. Unknown chunk types are skipped. A file without
 * an END chunk was cut. Little-endian, enums only grow.
 */
#ifndef JITBPF_UAPI_RECORDING_H
#define JITBPF_UAPI_RECORDING_H

#include "uapi/record.h"

#define JITBPF_RECORDING_MAGIC	 "JITBPF\r\n"
#define JITBPF_RECORDING_VERSION 1
#define JITBPF_CHUNK_MAX	 (16u << 20) /* no chunk is larger */

struct jitbpf_recording_header {
	char magic[8];
	__u32 version;
	__u32 header_bytes; /* where the first chunk begins; later versions may be longer */
};

enum jitbpf_chunk_type {
	JITBPF_CHUNK_INFO = 100,       /* what was recorded: struct jitbpf_info_chunk */
	JITBPF_CHUNK_STACK = 101,      /* struct jitbpf_stack_chunk */
	JITBPF_CHUNK_SAMPLE_REF = 102, /* struct jitbpf_sample_ref_chunk */
	JITBPF_CHUNK_ROUND = 103,      /* struct jitbpf_round_chunk */
	JITBPF_CHUNK_FRAMES = 104,     /* names of one location: struct jitbpf_frames_chunk */
	JITBPF_CHUNK_END = 105,	       /* the header alone; nothing follows */
};

/* h.time_ns is the recording's start; sent first. */
struct jitbpf_info_chunk {
	struct jitbpf_record h;
	__u64 wall_clock_ns; /* CLOCK_REALTIME at h.time_ns */
	__u32 freq_hz;
	__u32 cpus;
	char text[]; /* four NUL-terminated strings: event, command, host, kernel release */
};

/* Numbered from 0 in the order of appearance. */
struct jitbpf_stack_chunk {
	struct jitbpf_record h;
	__u16 kernel_frames;
	__u16 user_frames;
	__u32 user_end; /* enum jitbpf_stack_end */
	__u64 ips[];
};

/* A struct jitbpf_sample without its frames. flags are the sample's. */
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
	__u32 crc;
	__u32 reserved;
};

/*
 * Frames of one location, innermost first. For a kernel location module_bytes
 * is 0 and offset the address. Behind it: the module's identity (module_bytes:
 * build ID bytes, or the path), then per frame a struct jitbpf_frame_entry and
 * its strings without NUL.
 */
struct jitbpf_frames_chunk {
	struct jitbpf_record h;
	__u64 offset;
	__u16 kind; /* enum location_kind */
	__u16 frame_count;
	__u16 build_id_bytes; /* of the identity, where it is a build ID */
	__u16 path_bytes;     /* of the identity, where it is a path */
};

struct jitbpf_frame_entry {
	__u64 symbol_offset;
	__u32 line;
	__u16 flags; /* FRAME_* */
	__u16 file_bytes;
	__u32 name_bytes;
	__u16 module_bytes;
	__u16 reserved;
};

_Static_assert(sizeof(struct jitbpf_recording_header) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_info_chunk) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_stack_chunk) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_sample_ref_chunk) == 56, "ABI");
_Static_assert(sizeof(struct jitbpf_round_chunk) == 24, "ABI");
_Static_assert(sizeof(struct jitbpf_frames_chunk) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_frame_entry) == 24, "ABI");

#endif

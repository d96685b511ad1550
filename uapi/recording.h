/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording (.jitbpf): struct jitbpf_recording_header, then chunks. A chunk is a struct
 * jitbpf_record of any size_bytes, so chunks are not aligned. Chunks with types below 100 are
 * records of uapi/record.h. The first chunk is INFO. Chunks come in rounds: a ROUND chunk ends a
 * round. END follows the last ROUND and is the last chunk. A file without END has been cut.
 *
 * A recording holds finished records in the order in which they were applied: by time within a
 * round, except for samples whose stacks were completed later; these keep their own time. Events
 * about JIT code are CODE_EVENT records (uapi/code_event.h), not JIT records. A ROUND chunk can end
 * several rounds: there are about four in a second.
 *
 * Behind the file header, chunks are packed (uapi/packed_recording.h) and compressed.
 *
 * Within a version, enums and headers may grow, and readers skip chunks of unknown types. A
 * reader refuses other versions. Little-endian.
 */
#ifndef JITBPF_UAPI_RECORDING_H
#define JITBPF_UAPI_RECORDING_H

#include "uapi/record.h"

#define JITBPF_RECORDING_MAGIC	 "JITBPF\r\n"
#define JITBPF_RECORDING_VERSION 5
#define JITBPF_CHUNK_MAX	 (16u << 20) /* bytes of a chunk, at most */
#define JITBPF_TEXT_MAX		 0xffffu     /* bytes of a string in INFO and FRAMES; cut there */
#define JITBPF_FRAMES_MAX	 64	     /* frames of a FRAMES chunk; a reader refuses more */

struct jitbpf_recording_header {
	char magic[8];
	__u32 version;
	__u32 header_bytes; /* offset of the first chunk; the header may grow */
};

enum jitbpf_chunk_type {
	JITBPF_CHUNK_INFO = 100,   /* the run: struct jitbpf_info_chunk */
	JITBPF_CHUNK_ROUND = 103,  /* h.time_ns: when the drain of the round began */
	JITBPF_CHUNK_FRAMES = 104, /* names of one location: struct jitbpf_frames_chunk */
	JITBPF_CHUNK_END = 105,	   /* only the header */
	JITBPF_CHUNK_THREAD = 106, /* struct jitbpf_thread_chunk */
	JITBPF_CHUNK_FRESH = 107,  /* discards all threads and stacks before it */
};

/* h.time_ns: start of the recording. */
struct jitbpf_info_chunk {
	struct jitbpf_record h;
	__u64 wall_clock_ns; /* CLOCK_REALTIME at h.time_ns */
	__u32 freq_hz;
	__u32 cpus;
	/*
	 * NUL-terminated strings: event, command, host, kernel release. For each event from 1 on,
	 * three more follow: name, unit, and period in decimal.
	 */
	char text[];
};

/*
 * The frames of one location, innermost first. The chunk is followed by:
 * - for a native location, the identity of its module, with device and inode: the build ID, and
 *   the path. If inode_generation of the module's mappings is not 0, inode holds a hash of both.
 * - for each frame, a struct jitbpf_frame_entry and its strings without NUL: name, file,
 *   module, decl_file.
 * A kernel location has no module, and its offset is the address.
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

/*
 * A thread of the samples that follow. Threads are numbered in order from 0. The numbers restart
 * after a FRESH chunk.
 */
struct jitbpf_thread_chunk {
	struct jitbpf_record h;
	__u32 pid;
	__u32 tid;
	__u64 start_ns;
	char comm[JITBPF_COMM_MAX];
};

/*
 * Of a static function, the file that declares it: a string of its own, or that of `file` if
 * JITBPF_FRAME_DECLARED_HERE is set. Neither: the function is not static, or its file is not known.
 */
#define JITBPF_FRAME_DECLARED_HERE 0x100u

struct jitbpf_frame_entry {
	__u64 symbol_offset;
	__u32 line;
	__u16 flags; /* FRAME_*, JITBPF_FRAME_DECLARED_HERE */
	__u16 kind;  /* enum frame_kind */
	__u16 name_bytes;
	__u16 file_bytes;
	__u16 module_bytes;
	__u16 decl_file_bytes;
};

_Static_assert(sizeof(struct jitbpf_recording_header) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_info_chunk) == 32, "ABI");
_Static_assert(sizeof(struct jitbpf_thread_chunk) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_frames_chunk) == 48, "ABI");
_Static_assert(sizeof(struct jitbpf_frame_entry) == 24, "ABI");

#endif

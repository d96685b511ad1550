/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the recorder and a reader process. The recorder sends a
 * request; until the reader answers, it may call back for files, one call at a
 * time.
 *
 * reader_service.c answers a request. The recorder sends it from name_reader.c, rows_reader.c or
 * code_reader.c, by reader_client.h.
 */
#ifndef JITBPF_AGENT_READERS_READER_MESSAGE_H
#define JITBPF_AGENT_READERS_READER_MESSAGE_H

#include <stdint.h>

#include "runtimes/runtime_reader.h"
#include "uapi/record.h"

#define READER_FILES_MAX 512	     /* open files of a reader */
#define READER_READ_MAX	 (64u << 10) /* bytes of one READER_READ */
#define READER_NAMES_MAX 64	     /* locations of one READER_NAMES */

enum reader_message {
	READER_STARTED, /* by the reader, once, before all else: pid_t; with its pidfd */
	/* Requests. */
	READER_SETTINGS, /* struct reader_settings; the first one, without an answer */
	READER_NAMES,	 /* struct reader_names, offsets (uint64_t), and the module's path */
	READER_PAGE,	 /* struct reader_page, and the module's path */
	READER_RETURN,	 /* struct reader_return, and the module's path; no rows */
	READER_CODE,	 /* struct reader_code, the host's path and function, and the code */
	READER_RUNTIME,	 /* struct reader_return, the module's path, and the name of an engine */
	READER_PROGRAM,	 /* struct reader_module, and its path: which runtime it has */
	READER_COMPARE,	 /* copies of code, of equal size, and uint8_t: objects_move; no rows */
	/*
	 * struct reader_annotate, the module's path, places (uint64_t: offset, samples), by offset,
	 * and the code of JIT code.
	 */
	READER_ANNOTATE,
	READER_FORGET, /* uint32_t: number of a module; without an answer */
	/* Calls by the reader. */
	READER_OPEN_MODULE, /* uint32_t: number of a module of the request */
	READER_OPEN_DEBUG,  /* struct reader_debug and the path */
	READER_FETCH_DEBUG, /* the build ID */
	READER_CHECK,	    /* struct reader_check; the reply is READER_CHECKED */
	READER_READ,	    /* struct reader_piece; the reply is READER_BYTES */
	READER_CLOSE,	    /* uint32_t: number of an open file; without a reply */
	/* Replies to calls. */
	READER_OPENED,	/* struct reader_opened, and a descriptor if the file is direct */
	READER_BYTES,	/* the bytes; fewer than requested: an error */
	READER_CHECKED, /* int32_t: 0 if it may be checked, or a negative errno */
	/* Answers. */
	/*
	 * int32_t: 0 or a negative errno, and rows (decode/cfi/unwind_rows.h). -ESTALE: the
	 * compared code differs; or functions cannot return there.
	 */
	READER_ROWS,
	/*
	 * struct symbolizer_counts, and for each location, in order: uint32_t size_bytes, and
	 * frames (symbolize/frames_message.h). At least one location, or more as long as that is
	 * quick.
	 */
	READER_FRAMES,
	READER_FACTS,	  /* struct reader_facts */
	READER_HAS,	  /* struct reader_has */
	READER_ANNOTATED, /* sink/annotate/annotation_message.h */
};

struct reader_settings {
	uint64_t symbols_bytes; /* limit of the memory for symbols; 0: the default */
	uint64_t no_demangle;
};

struct reader_module {
	uint32_t number;
	uint32_t build_id_bytes;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
};

struct reader_names {
	struct reader_module module;
	uint32_t count; /* of file offsets: 1..READER_NAMES_MAX */
};

struct reader_page {
	struct reader_module module;
	uint32_t page;
	uint32_t quick; /* see struct unwind_maker */
};

struct reader_return {
	struct reader_module module;
	uint64_t offset; /* in the file */
};

struct reader_facts {
	int64_t err;	  /* 0 or a negative errno */
	uint64_t address; /* of the offset */
	struct runtime_facts facts;
};

struct reader_has {
	int32_t err;	 /* 0 or a negative errno */
	char engine[28]; /* name of the runtime's engine, with its NUL; empty: none */
};

struct reader_code {
	struct reader_module host; /* if has_host; else the strings are empty */
	uint32_t has_host;
	uint32_t frames; /* enum engine_frames */
	uint64_t address, size_bytes;
};

#define READER_PLACES_MAX	 65536
#define READER_ANNOTATE_CODE_MAX (64u << 10) /* of a function that is disassembled */
#define READER_INSTRUCTIONS_MAX	 4000	     /* of the answer */

struct reader_annotate {
	struct reader_module module; /* if has_module; else the path is empty */
	uint32_t has_module;	     /* native code; else JIT code */
	uint32_t arch;		     /* of JIT code, as in struct code_region */
	uint32_t place_count, code_bytes;
	uint64_t start;		      /* NATIVE: file offset */
	uint64_t address, size_bytes; /* of JIT code */
};

struct reader_place {
	uint64_t offset, samples;
};

struct reader_debug {
	uint32_t module;
	uint32_t ours;
};

/* May a debug file of a module be read for a check of its identity? */
struct reader_check {
	uint64_t size_bytes;
	uint32_t module;
	uint32_t reserved;
};

struct reader_piece {
	uint64_t offset, size_bytes;
	uint32_t file;
	uint32_t reserved;
};

struct reader_opened {
	int32_t err;
	uint32_t file; /* number, if there is no descriptor */
	uint64_t size_bytes;
};

#endif

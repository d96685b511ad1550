/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a jitdump file (the kernel's tools/perf/Documentation/jitdump-specification.txt): a
 * header, then records. The process writes the file while it runs, so the bytes may end anywhere,
 * and nothing in them is trusted.
 */
#ifndef JITBPF_DECODE_MEDIA_JITDUMP_H
#define JITBPF_DECODE_MEDIA_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

#define JITDUMP_HEADER_MAX   4096u /* bytes of the header, with fields that later versions append */
#define JITDUMP_RECORD_BYTES 16u   /* of the common start of every record */
#define JITDUMP_RECORD_MAX   (16u << 20) /* a record that is larger is skipped */

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump_header {
	uint32_t pid;	   /* as the process sees itself */
	uint32_t reserved; /* engines put a mark of their own there */
	uint64_t time_ns;  /* CLOCK_MONOTONIC, as are all times */
};

/* The line table of DEBUG_INFO, read one by one. */
struct jitdump_lines {
	struct cursor bytes;
	uint64_t left; /* lines, as the record claims */
};

struct jitdump_line {
	uint64_t address;
	uint32_t line;
	const char *file;
};

/* Pointers are borrowed from the bytes. Fields that a kind does not have are 0. */
struct jitdump_record {
	uint32_t kind; /* enum jitdump_kind, or a later one */
	uint64_t time_ns;
	uint32_t pid; /* LOAD, MOVE: as the process sees itself */
	uint64_t address;
	uint64_t old_address;	    /* MOVE */
	uint64_t size_bytes;	    /* LOAD, MOVE: of the code, not 0 */
	const char *name;	    /* LOAD */
	const void *code;	    /* LOAD: size_bytes */
	struct jitdump_lines lines; /* DEBUG_INFO */
};

/*
 * Decode the header and move past it. Returns 1 with *ret set; 0 if the bytes end in it;
 * -EBADMSG (not a jitdump file); -ENOTSUP (other byte order, version or machine); or -ETIME (times
 * are those of the TSC).
 */
int jitdump_header_decode(struct cursor *bytes, struct jitdump_header *ret);

/*
 * Get the size that the record at the cursor claims; the cursor does not move. Returns 1 with
 * *ret_bytes set, 0 if the bytes end before the size, or -EBADMSG: no record can follow any more.
 */
int jitdump_record_size(const struct cursor *bytes, uint32_t *ret_bytes);

/* Returns the kind of the record at the cursor, for which jitdump_record_size() has returned 1. */
uint32_t jitdump_record_kind(const struct cursor *bytes);

/*
 * Decode a record and move past it. Returns 1 with *ret set; 0 if it is not whole, with the cursor
 * not moved; or -EBADMSG: if the cursor moved, the record alone is malformed, and the next one can
 * be decoded.
 */
int jitdump_record_next(struct cursor *bytes, struct jitdump_record *ret);

/*
 * Decode the next line. On entry, *ret is the line before it, or zero-initialized. Returns 1 with
 * *ret set, 0 at the end, or -EBADMSG.
 */
int jitdump_line_next(struct jitdump_lines *lines, struct jitdump_line *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads HotSpot's tables of its own structures in a live process (hotspot_file.h). */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_TABLES_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_TABLES_H

#include <stdint.h>

#include "runtimes/hotspot/hotspot_file.h"
#include "runtimes/process_memory.h"

/* Larger values are no offsets or sizes of a structure that is read. */
#define HOTSPOT_OFFSET_MAX 4096

enum hotspot_code_form {
	HOTSPOT_CODE_UNKNOWN, /* the tables lack something: code cannot be found */
	/* Up to Java 22: code has addresses of its parts. */
	HOTSPOT_CODE_ADDRESSES,
	/* Since Java 25: code has offsets, and some tables are elsewhere. */
	HOTSPOT_CODE_OFFSETS,
};

/* How HotSpot keeps machine code: blobs in the blocks of heaps (hotspot_code.h). */
struct hotspot_code_layout {
	uint64_t heaps; /* a variable: the array of heaps; 0 with no form */
	uint64_t stubs; /* a variable: the first of the stubs; 0: not known */
	struct hotspot_call_stubs call_stubs;
	uint16_t form;			      /* enum hotspot_code_form */
	uint16_t heaps_count, heaps_data;     /* of that array */
	uint16_t memory, segments, shift;     /* of a heap */
	uint16_t space_low, space_high;	      /* of a stretch of memory, as a heap has two */
	uint16_t block_length, block_used;    /* of the head of a block: segments; not free */
	uint16_t block_size;		      /* of the head */
	uint16_t blob_name, blob_size;	      /* of a blob */
	uint16_t code_start, code_end;	      /* of a blob: addresses or offsets */
	uint16_t compiled_method, compile_id; /* of a compiled method */
	uint16_t scopes_pcs;
	/* Of the form with addresses: in a compiled method. */
	uint16_t scopes_pcs_end, scopes_data, metadata;
	/* Of the form with offsets. */
	uint16_t blob_kind, kind_compiled, relocation_bytes, mutable, mutable_bytes;
	uint16_t immutable, immutable_bytes, scopes_data_offset;
};

/* The structures that frames and methods of the interpreter lead to. Offsets and sizes in bytes. */
struct hotspot_layout {
	uint16_t major, minor, security; /* version of the JDK */
	uint16_t has_zero_free_numbers;	 /* see hotspot_lines.h */
	uint16_t method_const;
	uint16_t const_constants, const_words, const_flags, const_code_bytes, const_name;
	uint16_t const_size;
	uint16_t line_flag; /* of const_flags: a table of lines is behind the code */
	uint16_t constants_holder, constants_size;
	/* The index of the name of the source file: in the constants, or (up to 14) the class. */
	uint16_t constants_source, class_source; /* 0: not there */
	uint16_t class_name, class_methods, class_constants;
	uint16_t symbol_length, symbol_bytes;
	uint16_t array_length, array_methods; /* of an array of methods */
	struct hotspot_code_layout code;
};

/* Addresses in the process. */
struct hotspot_globals {
	uint64_t object_class; /* a variable: the class java.lang.Object */
	uint64_t interpreter;  /* a variable: the queue of the interpreter's code */
	uint64_t call_stub;    /* a variable: an address in the stub of that name; 0: not known */
	/* Offsets in that queue. */
	uint16_t code_start, code_bytes;
};

/*
 * Read the tables. Returns 0; -ENOTSUP if the version is not a known one (ret has it);
 * -EBADMSG if the tables lack something or hold no offsets; or the error of the memory. If they
 * lack only something of the code, ret->code has no form.
 */
int hotspot_tables_read(const struct hotspot_file *file, uint64_t bias,
			const struct process_memory *memory, struct hotspot_layout *ret,
			struct hotspot_globals *ret_globals);

/* Versions whose frames of the interpreter are known. */
#define HOTSPOT_MAJOR_MIN 11
#define HOTSPOT_MAJOR_MAX 26

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads HotSpot's tables of its own structures in a live process (hotspot_file.h). */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_TABLES_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_TABLES_H

#include <stdint.h>

#include "runtimes/hotspot/hotspot_file.h"
#include "runtimes/process_memory.h"

/* Larger values are no offsets or sizes of a structure that is read. */
#define HOTSPOT_OFFSET_MAX 4096

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
	uint16_t class_name, class_methods;
	uint16_t symbol_length, symbol_bytes;
	uint16_t array_length, array_methods; /* of an array of methods */
};

/* Addresses in the process. */
struct hotspot_globals {
	uint64_t object_class; /* a variable: the class java.lang.Object */
	uint64_t interpreter;  /* a variable: the queue of the interpreter's code */
	/* Offsets in that queue. */
	uint16_t code_start, code_bytes;
};

/*
 * Read the tables. Returns 0; -ENOTSUP if the version is not a known one (ret has it);
 * -EBADMSG if the tables lack something or hold no offsets; or the error of the memory.
 */
int hotspot_tables_read(const struct hotspot_file *file, uint64_t bias,
			const struct process_memory *memory, struct hotspot_layout *ret,
			struct hotspot_globals *ret_globals);

/* Versions whose frames of the interpreter are known. */
#define HOTSPOT_MAJOR_MIN 11
#define HOTSPOT_MAJOR_MAX 26

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a file with V8 says: offsets and types of its objects, which V8 exports for debuggers as
 * variables v8dbg_*, its version, and where frames of the interpreter return to. It is the same
 * for all processes that map the file.
 */
#ifndef JITBPF_RUNTIMES_V8_V8_FILE_H
#define JITBPF_RUNTIMES_V8_V8_FILE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

#define V8_TRAMPOLINES_MAX 2

/*
 * Offsets of members are relative to the start of an object; those of a frame to its frame
 * pointer.
 */
struct v8_file {
	uint16_t major, minor;
	int16_t frame_function, frame_context, frame_position;
	int16_t function_shared; /* of JSFunction */
	int16_t shared_name, shared_script, shared_flags, shared_parameters;
	int16_t script_name, script_source, script_ends;
	int16_t code_data; /* of BytecodeArray: its bytecodes */
	int16_t map_type;
	int16_t text_length, text_chars, text_wide_chars;
	int16_t cons_first, cons_second, sliced_parent, sliced_offset, thin_actual;
	int16_t array_length, array_data; /* of FixedArray */
	int16_t scope_variables;	  /* number of words of ScopeInfo before the variables */
	uint16_t type_shared, type_script, type_code;
	uint16_t trampoline_count;
	/*
	 * InterpreterEntryTrampoline, and a copy of it for profilers: code in whose frames
	 * bytecode runs.
	 */
	struct v8_code {
		uint64_t address, file_offset; /* in the file */
		uint64_t size_bytes;
	} trampolines[V8_TRAMPOLINES_MAX];
	uint64_t release; /* address of the std::string with the version of Node.js; 0: not known */
	/* The handlers of bytecodes, which a trampoline calls; no bytes: they have no names. */
	struct v8_code handlers;
};

/*
 * Read a file. Returns 0; -ENOENT if it does not export the variables, or has no interpreter;
 * -EBADMSG, -E2BIG, -ENOMEM, or the blob's error. On failure *ret is unchanged.
 */
int v8_file_read(const struct elf_file *elf, struct v8_file *ret);

#endif

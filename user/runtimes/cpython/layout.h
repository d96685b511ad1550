/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where CPython keeps what a reader needs, by its version: x86-64, with a global lock. */
#ifndef JITBPF_RUNTIMES_CPYTHON_LAYOUT_H
#define JITBPF_RUNTIMES_CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engines.h"
#include "runtimes/process_memory.h"

/* Offsets of members, in bytes. */
struct cpython_layout {
	uint16_t minor; /* of the version 3.minor */

	/* _PyRuntimeState */
	uint16_t interpreters_head;
	uint16_t tss_key; /* of autoTSSkey: 4 bytes "is initialized", 4 bytes key */
	/* The state that has the lock, up to 3.11; 0: the TSS value is the current state. */
	uint16_t runtime_holder;

	/* PyInterpreterState */
	uint16_t interpreter_next, interpreter_threads;

	/* PyThreadState. has_cframe: the newest frame is in a _PyCFrame, on the native stack. */
	uint16_t thread_next, thread_interpreter, thread_id, thread_frame;
	uint16_t has_cframe, cframe_frame;

	/* PyFrameObject up to 3.10, else _PyInterpreterFrame */
	uint16_t frame_code, frame_previous, frame_position, frame_entry;

	/* PyCodeObject */
	uint16_t code_first_line, code_file, code_name, code_lines;
	uint16_t code_bytes; /* of the instructions; 0: positions are offsets */
	uint16_t code_identity, code_identity_end; /* words that never change */

	/* PyUnicodeObject: the sizes of its shorter kinds */
	uint16_t text_ascii_bytes, text_compact_bytes;
};

/* The same in all versions. */
#define CPYTHON_OBJECT_TYPE	8  /* PyObject.ob_type */
#define CPYTHON_OBJECT_SIZE	16 /* PyVarObject.ob_size */
#define CPYTHON_TYPE_NAME	24 /* PyTypeObject.tp_name */
#define CPYTHON_BYTES_DATA	32 /* PyBytesObject.ob_sval */
#define CPYTHON_TEXT_LENGTH	16 /* PyASCIIObject.length, in characters */
#define CPYTHON_TEXT_HASH	24
#define CPYTHON_TEXT_STATE	32
#define CPYTHON_TSS_INITIALIZED 0
#define CPYTHON_TSS_KEY		4

/* The first and the last known version. */
#define CPYTHON_MINOR_MIN 9
#define CPYTHON_MINOR_MAX 14

/* The first version whose _PyRuntime begins with _Py_DebugOffsets. */
#define CPYTHON_MINOR_PUBLISHED 13

/* Returns what is known of a version without its process, or NULL. */
const struct cpython_layout *cpython_layout_of(const struct engine_version *version);

/*
 * Set *ret to the layout of a version. From 3.13 on, offsets that _PyRuntime publishes replace
 * those of the table; *version is then what it says itself. Returns 0; -ENOTSUP (another version,
 * or no global lock); -EBADMSG (published offsets that make no sense); or an error of the memory.
 */
int cpython_layout_find(const struct process_memory *memory, uint64_t runtime,
			struct engine_version *version, struct cpython_layout *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the structures of CRuby have what is read, on x86-64. Offsets that all supported versions
 * share are constants; the others are in a table by version.
 */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_LAYOUT_H
#define JITBPF_RUNTIMES_RUBY_RUBY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engines.h"

/* rb_execution_context_t, and rb_thread_t */
#define RUBY_CONTEXT_FRAME  16
#define RUBY_CONTEXT_THREAD 48

/* rb_control_frame_t: a frame. Its environment, at ep, has flags, and words before these. */
#define RUBY_FRAME_PC	  0
#define RUBY_FRAME_ISEQ	  16
#define RUBY_FRAME_EP	  32
#define RUBY_ENV_METHOD	  (-16)
#define RUBY_ENV_PREVIOUS (-8)
#define RUBY_ENV_FLAGS	  0
#define RUBY_ENV_BYTES	  24

#define RUBY_FRAME_KIND_MASK  0x7fff0001u
#define RUBY_FRAME_KIND_CFUNC 0x55550001u
#define RUBY_FRAME_KIND_IFUNC 0x66660001u /* a block in C; higher ones are no methods or blocks */
#define RUBY_FRAME_KIND_DUMMY 0x79990001u
#define RUBY_FRAME_FINISH     0x20u /* the loop was called for the frame */
#define RUBY_ENV_LOCAL	      0x02u

/* RBasic: flags and class of an object */
#define RUBY_OBJECT_CLASS   8
#define RUBY_OBJECT_BYTES   16
#define RUBY_TYPE_MASK	    0x1fu
#define RUBY_TYPE_CLASS	    0x02u
#define RUBY_TYPE_MODULE    0x03u
#define RUBY_TYPE_STRING    0x05u
#define RUBY_TYPE_ARRAY	    0x07u
#define RUBY_TYPE_IMEMO	    0x1au
#define RUBY_FLAG_SHIFT	    12 /* of the flags that are a type's own */
#define RUBY_STRING_NOEMBED (1u << 13)
#define RUBY_ARRAY_EMBED    (1u << 13)

/* Objects of the runtime's own, "imemo": their kind is in the flags. */
#define RUBY_IMEMO_MASK	  (0xfu << RUBY_FLAG_SHIFT | RUBY_TYPE_MASK)
#define RUBY_IMEMO_SVAR	  (2u << RUBY_FLAG_SHIFT | RUBY_TYPE_IMEMO)
#define RUBY_IMEMO_METHOD (6u << RUBY_FLAG_SHIFT | RUBY_TYPE_IMEMO)
#define RUBY_SVAR_METHOD  8

/* rb_method_entry_t, rb_method_definition_t */
#define RUBY_METHOD_CLASS      8
#define RUBY_METHOD_DEFINITION 16
#define RUBY_METHOD_OWNER      32
#define RUBY_METHOD_BYTES      40
#define RUBY_DEFINITION_NAME   32

/* rb_iseq_t: code; rb_iseq_constant_body: what it consists of */
#define RUBY_ISEQ_BODY	     16
#define RUBY_BODY_TYPE	     0
#define RUBY_BODY_SIZE	     4 /* in words */
#define RUBY_BODY_CODE	     8
#define RUBY_BODY_PATH	     64 /* a string, or an array: path, absolute path */
#define RUBY_BODY_BASE_LABEL 72
#define RUBY_BODY_LABEL	     80
#define RUBY_BODY_LINE	     88

enum ruby_body_type {
	RUBY_BODY_METHOD = 1,
	RUBY_BODY_RESCUE = 4,
	RUBY_BODY_ENSURE = 5,
	RUBY_BODY_EVAL = 6,
};

/* struct iseq_insn_info_entry; and iseq_insn_info, where the body has it */
#define RUBY_LINE_BYTES	    12
#define RUBY_LINES_ENTRIES  0
#define RUBY_LINES_COUNT    16
#define RUBY_LINES_POSITION 24 /* a table, see ruby_lines.h */

#define RUBY_BODY_BYTES_MAX 192

struct ruby_layout {
	uint16_t version;	/* 100 * major + minor */
	int16_t frame_bytes;	/* rb_control_frame_t */
	int16_t thread_context; /* rb_thread_t.ec */
	/* rb_iseq_constant_body */
	int16_t lines, parent, local;
	bool line_is_object; /* first_lineno */
	/* RString: the length is in the flags if its bytes are in the object. */
	bool length_is_flag;
	/*
	 * RClass. The path of a class is a member, as the object that a singleton class belongs to;
	 * 0: both are among the variables of the class, a table that `extension` leads to.
	 */
	int16_t class_path, class_attached;
	uint32_t singleton; /* flag of RBasic */
	bool fills_newest;  /* YJIT sets the newest frame before it fills it */
};

/* Returns the layout of a version, or NULL. */
const struct ruby_layout *ruby_layout_of(const struct engine_version *version);

#endif

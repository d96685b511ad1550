/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where PHP's structures have what is read, on x86-64. Offsets that all supported versions share
 * are constants; the others are in a table by version.
 */
#ifndef JITBPF_RUNTIMES_PHP_PHP_LAYOUT_H
#define JITBPF_RUNTIMES_PHP_PHP_LAYOUT_H

#include <stdint.h>

#include "engines/engines.h"

/* zend_execute_data: a frame. */
#define PHP_FRAME_OPLINE   0
#define PHP_FRAME_FUNCTION 24
#define PHP_FRAME_THIS	   32
#define PHP_FRAME_CALL	   40 /* This.u1.type_info */
#define PHP_FRAME_PREVIOUS 48

#define PHP_CALL_TOP (1u << 17) /* ZEND_CALL_TOP: the VM was called for the frame */

/* zend_function, as far as functions of PHP and of C have it alike. */
#define PHP_FUNCTION_TYPE  0 /* one byte, enum php_function_type */
#define PHP_FUNCTION_NAME  8
#define PHP_FUNCTION_SCOPE 16

enum php_function_type {
	PHP_FUNCTION_INTERNAL = 1,
	PHP_FUNCTION_USER = 2,
	PHP_FUNCTION_EVAL = 4,
};

/* zend_op */
#define PHP_OP_BYTES 32
#define PHP_OP_LINE  24
#define PHP_OP_CODE  28
/* ZEND_CALLABLE_CONVERT, since 8.1: makes a closure of a function, as in $this->method(...) */
#define PHP_OP_CONVERT 202

/* zend_string and zend_class_entry */
#define PHP_STRING_HASH	  8
#define PHP_STRING_LENGTH 16
#define PHP_STRING_BYTES  24
#define PHP_CLASS_NAME	  8
#define PHP_CLASS_METHODS 64 /* a zend_array of functions by name */

#define PHP_OBJECT_CLASS 16 /* zend_object */

/* zend_array, and the Bucket of a table that is keyed by strings */
#define PHP_TABLE_BUCKETS 16
#define PHP_TABLE_USED	  24
#define PHP_BUCKET_BYTES  32
#define PHP_BUCKET_TYPE	  8 /* of the value, a byte; 0: there is none */
#define PHP_BUCKET_KEY	  24

struct php_layout {
	uint16_t version; /* 100 * major + minor */
	/* zend_executor_globals */
	int16_t function_table, current_frame;
	/* zend_op_array: a function of PHP */
	int16_t last, opcodes, filename, line_start; /* line_end is behind line_start */
	int16_t generator_frame, generator_parent;   /* zend_generator */
	/* Of zend_op_array, since 8.1: num_dynamic_func_defs; the pointer is behind another one. */
	int16_t closure_count;
};

/* Returns the layout of a version, or NULL. */
const struct php_layout *php_layout_of(const struct engine_version *version);

#endif

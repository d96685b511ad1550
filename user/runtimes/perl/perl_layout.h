/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the structures of Perl 5 have what is read, on x86-64. These are equal in all versions that
 * are supported. Offsets in the interpreter's own structure are in the machine code.
 */
#ifndef JITBPF_RUNTIMES_PERL_PERL_LAYOUT_H
#define JITBPF_RUNTIMES_PERL_PERL_LAYOUT_H

#include <stdint.h>

#include "engines/engines.h"

/*
 * The interpreter, or its variables if it was built without threads: PL_curstackinfo is two
 * pointers behind PL_curcop.
 */
#define PERL_CURCOP_FROM_STACKINFO (-16)

/* glibc's struct pthread: its values of the first 32 keys, of two words each. */
#define PERL_KEYS_AT	 0x310
#define PERL_KEY_BYTES	 16
#define PERL_KEY_VALUE	 8
#define PERL_KEYS_DIRECT 32

/* PERL_SI: a stack of contexts */
#define PERL_STACK_CONTEXTS 8
#define PERL_STACK_PREVIOUS 16
#define PERL_STACK_NEWEST   32 /* si_cxix */
#define PERL_STACK_MOST	    36
#define PERL_STACK_SUB	    40 /* si_cxsubix */
#define PERL_STACK_KIND	    44
#define PERL_STACK_BYTES    48

#define PERL_STACK_KIND_MAIN	  1
#define PERL_STACK_KIND_SORT	  3
#define PERL_STACK_KIND_MULTICALL 10

/* PERL_CONTEXT */
#define PERL_CONTEXT_TYPE   0
#define PERL_CONTEXT_COP    16 /* blk_oldcop */
#define PERL_CONTEXT_RETOP  48
#define PERL_CONTEXT_CALLER 56 /* old_cxsubix */
#define PERL_CONTEXT_CV	    72
#define PERL_CONTEXT_BYTES  104

#define PERL_CONTEXT_MASK     0x0fu
#define PERL_CONTEXT_BLOCK    2u
#define PERL_CONTEXT_FUNCTION 9u
#define PERL_CONTEXT_FORMAT   10u
#define PERL_CONTEXT_EVAL     11u
#define PERL_CONTEXT_FAKE     0x80u /* of a sub: code in a regular expression of one */
#define PERL_CONTEXT_TRY      0xc0u /* of an eval: a block */

/* SV: the head of each value */
#define PERL_VALUE_BODY	 0
#define PERL_VALUE_FLAGS 12
#define PERL_VALUE_BYTES 16
#define PERL_TYPE_MASK	 0xffu
#define PERL_TYPE_GLOB	 9u
#define PERL_TYPE_HASH	 12u

/* XPVCV: the body of a function */
#define PERL_SUB_STASH 32
#define PERL_SUB_START 40
#define PERL_SUB_ROOT  48
#define PERL_SUB_NAME  56 /* a glob; or a text, with PERL_SUB_NAMED */
#define PERL_SUB_FILE  64
#define PERL_SUB_FLAGS 92
#define PERL_SUB_BYTES 96

#define PERL_SUB_XS	 0x8u
#define PERL_SUB_NAMED	 0x8000u
#define PERL_SUB_LEXICAL 0x10000u

/* XPVGV, XPVHV with its further part */
#define PERL_GLOB_NAME	32
#define PERL_GLOB_STASH 40
#define PERL_HASH_NAME	32
#define PERL_HASH_NAMES 60 /* not 0: the name is the first of an array */

/* HEK: a text */
#define PERL_TEXT_LENGTH 4
#define PERL_TEXT_BYTES	 8
#define PERL_TEXT_UTF8	 1u /* the byte behind the text and its NUL */

/* OP, COP */
#define PERL_OP_NEXT	 0
#define PERL_OP_TYPE	 32
#define PERL_COP_LINE	 36
#define PERL_COP_FILE	 48 /* a text of C with threads, else a glob */
#define PERL_COP_BYTES	 56
#define PERL_OP_MASK	 0x1ffu
#define PERL_FILE_PREFIX 2 /* a glob of a file is called "_<FILE" */

struct perl_layout {
	uint16_t version; /* 100 * major + minor */
	/* Numbers of operations. dbstate follows nextstate. */
	uint16_t enter_sub, leave_sub, enter_try, next_state;
};

/* Returns the layout of a version, or NULL. */
const struct perl_layout *perl_layout_of(const struct engine_version *version);

#endif

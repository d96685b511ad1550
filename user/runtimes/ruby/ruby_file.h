/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the file of CRuby says: its program or libruby. It is the same for all processes that map
 * the file.
 */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_FILE_H
#define JITBPF_RUNTIMES_RUBY_RUBY_FILE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/* How the current execution context is found, a variable of the thread: ruby_current_ec. */
enum ruby_context {
	RUBY_CONTEXT_AT_OFFSET = 1, /* of the thread pointer: `context` */
	RUBY_CONTEXT_BY_OFFSET = 2, /* of the thread pointer: the word at the address `context` */
	/* The two words at the address `context`: number of the module, and offset in its block. */
	RUBY_CONTEXT_BY_MODULE = 3,
};

/* Addresses in the file. */
struct ruby_file {
	uint64_t version; /* ruby_version, a text */
	uint64_t context_kind;
	uint64_t context;
	uint64_t symbols;     /* rb_symbols_t */
	uint64_t array_class; /* rb_cArray, a variable */

	/* vm_exec_core() and its cold parts. */
	struct runtime_range loops[RUNTIME_LOOPS_MAX];
	uint32_t loop_count;

	/* Code that switches to the native stack of a fiber; each can be empty. */
	struct runtime_range switches[RUNTIME_SWITCHES_MAX];
};

/*
 * Read a file. Returns 0; -ENOENT if it has no symbols of CRuby, or other code than is known;
 * -EBADMSG, -E2BIG, -ENOMEM, or the blob's error. On failure *ret is unchanged.
 */
int ruby_file_read(const struct elf_file *elf, struct ruby_file *ret);

#endif

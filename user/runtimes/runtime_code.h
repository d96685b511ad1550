/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Found code: machine code that no publisher has reported, which the reader of a runtime has found
 * in the memory of a process (struct runtime_reader, code_at). Everything in it was chosen by that
 * process.
 */
#ifndef JITBPF_RUNTIMES_RUNTIME_CODE_H
#define JITBPF_RUNTIMES_RUNTIME_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "runtimes/process_memory.h"

#define RUNTIME_CODE_BYTES_MAX	(64u << 20)  /* of machine code */
#define RUNTIME_CODE_NAME_MAX	4096	     /* bytes, without the NUL */
#define RUNTIME_CODE_SCOPES_MAX (512u << 10) /* bytes of a scope table */

#define RUNTIME_IDENTITY_WORDS 2
#define RUNTIME_IDENTITY_SPAN  4096 /* bytes that the words of an identity are within */

/*
 * Words of memory that tell code from other code that takes its place: (8 bytes at `address` &
 * mask) == value, for each word. Mask 0: the word is not used. Code without any word is never
 * replaced, such as an interpreter. Words that are used are less than RUNTIME_IDENTITY_SPAN apart.
 */
struct runtime_identity {
	struct {
		uint64_t address, mask, value;
	} word[RUNTIME_IDENTITY_WORDS];
};

/*
 * Names are as the publisher of that runtime, such as the agent for Java, reports them: both then
 * describe one function. engine.frames() gets the use of stack frames from the name.
 */
struct runtime_code {
	uint64_t start, size_bytes; /* of the machine code, without constants and headers */
	char *name;		    /* of the function with its class, or of the stub; not "" */
	char *source;		    /* file; "": not known */
	void *scopes;		    /* a scope table (uapi/scope_table.h), or NULL */
	size_t scope_bytes;
	struct runtime_identity identity;
};

void runtime_code_deinit(struct runtime_code *code); /* zero-initialized is allowed */

/*
 * Returns true if code of a hostile process can be used: its range is not empty, is in user space
 * and holds `address`; its name and scope table are within their limits, and the table is valid;
 * the words of its identity are near enough to each other.
 */
bool runtime_code_is_valid(const struct runtime_code *code, uint64_t address);

/*
 * Compare the words of an identity with memory, by one read. Returns 0 with *ret_same, or the error
 * of the read.
 */
int runtime_identity_holds(const struct runtime_identity *identity,
			   const struct process_memory *memory, bool *ret_same);

#endif

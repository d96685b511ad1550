/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the file of Perl says: its program or libperl. */
#ifndef JITBPF_RUNTIMES_PERL_PERL_FILE_H
#define JITBPF_RUNTIMES_PERL_PERL_FILE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/* Addresses in the file. */
struct perl_file {
	uint16_t version[3];
	uint16_t has_threads;
	/* With threads: PL_thr_key, and the offset of the current stack in the interpreter. */
	uint64_t key;
	int64_t stack;
	/* Without: PL_curstackinfo and PL_curcop. */
	uint64_t stack_at, cop_at;

	struct runtime_range loops[RUNTIME_LOOPS_MAX];
	uint32_t loop_count;

	/* As in struct runtime_recipe; each can be empty. */
	struct runtime_range again, ending, unfilled;
};

/*
 * Read a file. Returns 0, also for a version that is not known, of which nothing else is read;
 * -ENOENT if it has no symbols of Perl, or other code than is known; -EBADMSG, -E2BIG, -ENOMEM, or
 * the blob's error. On failure *ret is unchanged.
 */
int perl_file_read(const struct elf_file *elf, struct perl_file *ret);

#endif

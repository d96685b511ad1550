/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that the structures of a running Perl are those that its version should have. */
#ifndef JITBPF_RUNTIMES_PERL_PERL_SELF_CHECK_H
#define JITBPF_RUNTIMES_PERL_PERL_SELF_CHECK_H

#include "runtimes/perl/perl_layout.h"
#include "runtimes/process_memory.h"
#include "uapi/runtime_recipe.h"

/*
 * Follow a recipe from a thread: all its stacks, and its outermost frame. Returns 0; -ENODATA if
 * the thread runs no Perl yet; -EBADMSG; or the error that ended the reading.
 */
int perl_check_frames(const struct process_memory *memory, const struct perl_layout *layout,
		      const struct runtime_recipe *recipe, uint64_t thread_pointer);

#endif

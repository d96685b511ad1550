/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of locations: of native code by a reader process, of the kernel's by
 * the kernel's own words, which no process makes.
 */
#ifndef JITBPF_AGENT_READERS_NAME_READER_H
#define JITBPF_AGENT_READERS_NAME_READER_H

#include "agent/readers/reader_client.h"
#include "agent/workers/symbol_worker.h"

struct name_reader; /* see name_reader.c */

/*
 * options and kernel are copied. *ret_namer borrows *ret and is for one thread. Returns 0 or
 * -ENOMEM.
 */
int name_reader_create(const struct reader_options *options, const struct kernel_source *kernel,
		       struct name_reader **ret, struct symbol_namer *ret_namer);
void name_reader_destroy(struct name_reader *names); /* NULL is allowed */

#endif

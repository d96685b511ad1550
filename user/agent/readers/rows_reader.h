/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows, made by a reader process (reader_client.h). If readers fail, there are none: -EIO.
 */
#ifndef JITBPF_AGENT_READERS_ROWS_READER_H
#define JITBPF_AGENT_READERS_ROWS_READER_H

#include "agent/readers/reader_client.h"
#include "agent/workers/unwind_files.h"

struct rows_reader; /* see rows_reader.c */

/*
 * options are copied. *ret_maker borrows *ret and is for one thread. Returns 0 or -ENOMEM.
 */
int rows_reader_create(const struct reader_options *options, struct rows_reader **ret,
		       struct unwind_maker *ret_maker);
void rows_reader_destroy(struct rows_reader *rows); /* NULL is allowed */

#endif

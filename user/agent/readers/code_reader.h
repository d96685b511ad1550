/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Annotations of functions, made by a reader process (reader_client.h). */
#ifndef JITBPF_AGENT_READERS_CODE_READER_H
#define JITBPF_AGENT_READERS_CODE_READER_H

#include "agent/readers/reader_client.h"
#include "sink/annotate/annotation.h"

struct code_reader; /* see code_reader.c */

/* What is annotated. Borrowed. */
struct code_task {
	const struct sampled_function *function; /* NATIVE, or JIT with its region */
	const struct place_samples *places;	 /* of the function; equal offsets are added up */
	const struct module *module;		 /* of a native function */
	const void *code;			 /* of JIT code; NULL: not known */
	uint32_t code_bytes;
};

/* options are copied. One thread uses it. Returns 0 or -ENOMEM. */
int code_reader_create(const struct reader_options *options, struct code_reader **ret);
void code_reader_destroy(struct code_reader *reader); /* NULL is allowed */

/*
 * Annotate a function. Of large ones, the first READER_ANNOTATE_CODE_MAX bytes have instructions.
 * Instructions of JIT code have no frames. Returns 0, -EIO (the readers failed) or -ENOMEM; the
 * caller calls annotation_deinit() in any case.
 */
int code_reader_annotate(struct code_reader *reader, const struct code_task *task,
			 struct annotation *ret);

#endif

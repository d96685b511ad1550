/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Intake turns a source's records into finished records (pipeline/finished_records.h): validates
 * each once, puts each round into order of time, and completes the stacks that the kernel could
 * not walk to their end.
 *
 * A complete sample passes directly. Others wait (pipeline/intake/waiting_samples.h): a sample with
 * a copy of its stack, while unwind rows are made; one of code that may be reported late, until the
 * report; one of code in doubt, until its check; one with runtime frames, until their functions are
 * read. They wait for at most INTAKE_DEFER_NS. Samples of virtual machines are held, since the end
 * of code may be reported late, too (unwind/code/code_successors.h). The unwinder reads the
 * consumer's state, which intake never changes: the consumer has applied every record emitted
 * before.
 *
 * Single-threaded.
 */
#ifndef JITBPF_PIPELINE_INTAKE_INTAKE_H
#define JITBPF_PIPELINE_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/finished_records.h"
#include "pipeline/intake/text_source.h"
#include "pipeline/source.h"
#include "state/process/process_table.h"
#include "unwind/tables/unwind_tables.h"
#include "unwind/unwind_service.h"

/* Half of the history that the state keeps, so that it still knows the sample's addresses. */
#define INTAKE_DEFER_NS 1000000000ull

struct intake; /* see intake_state.h */

struct intake_options {
	/* The consumer's state, and the modules that its mappings name. Borrowed. */
	const struct process_table *processes;
	const struct module_table *modules;
	/*
	 * Makes unwind rows, and publishes them to the kernel. Copied; both NULL: an incomplete
	 * stack stays cut. intake_destroy() uses neither. The service ends before modules do.
	 */
	const struct unwind_service *unwind_service;
	const struct unwind_tables *unwind_tables;
	const struct text_source *texts; /* copied; NULL: copies of text are not known */
	bool keep_code;	     /* emit JITBPF_KEPT_CODE records; needs an unwind service */
	uint64_t code_bytes; /* limit of their code, from one renewal to the next; 0: the default */
};

/* Copies *consumer. Returns 0 or -ENOMEM. */
int intake_create(const struct intake_options *options, const struct record_consumer *consumer,
		  struct intake **ret);
void intake_destroy(struct intake *intake); /* NULL is allowed */

/*
 * Drain the source once. If that ends a round, emit the records up to the time at which the drain
 * began, and end the consumer's round. Later records wait for the next round. At the source's end,
 * all records are emitted, and then the unwinder's counters as a COUNTERS record. An error of the
 * source is handled like its end.
 *
 * Returns an enum source_state, or negative errno of the source, the consumer or the unwinder.
 */
int intake_round(struct intake *intake, const struct source *source);

/*
 * Returns true while samples wait for rows or checks, and shortly after: the next round should come
 * soon.
 */
bool intake_waits(const struct intake *intake);

/* Returns true while a runtime starts, whose frames cannot be read yet: rounds should not pause. */
bool intake_is_urgent(const struct intake *intake);

/* Call it when a new recording begins: the code of sampled regions is emitted again. */
void intake_renew_code(struct intake *intake);

/* Returns the number of records of the source that failed record_check(). */
uint64_t intake_malformed(const struct intake *intake);

#endif

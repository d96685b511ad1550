/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of intake, for the files that implement it. */
#ifndef JITBPF_PIPELINE_INTAKE_INTAKE_STATE_H
#define JITBPF_PIPELINE_INTAKE_INTAKE_STATE_H

#include "base/round_buffer.h"
#include "base/vec.h"
#include "pipeline/intake/awaited_code.h"
#include "pipeline/intake/event_budget.h"
#include "pipeline/intake/held_samples.h"
#include "pipeline/intake/intake.h"
#include "pipeline/intake/kept_code.h"
#include "pipeline/intake/shim_records.h"
#include "unwind/unwinder.h"

/*
 * Limit of the deferred samples at the end of a round. During a round, samples from full rings can
 * exceed it.
 */
#define INTAKE_WAITING_BYTES_MAX (16u << 20)

struct intake {
	struct record_consumer consumer;
	const struct process_table *processes; /* the consumer's */
	const struct module_table *modules;    /* the same */
	struct text_source texts;	       /* equals NULL: nothing is compared */
	struct round_buffer round;
	struct shim_records shim;
	uint64_t refusals_ns; /* when the refusals of `shim` were last put into the round */
	struct event_budget budget;
	uint64_t round_ns; /* time of the last round */
	uint64_t malformed;

	struct unwinder *unwinder;	      /* NULL: incomplete stacks stay cut */
	VEC(struct intake_deferred) deferred; /* in order of time, each sample allocated */
	struct owner_budget waiting;	      /* bytes of the deferred samples */
	size_t awaiting;		      /* deferred samples that wait for code only */
	struct owner_budget awaits;	      /* bytes of samples that wait for code */
	struct held_samples held;
	uint64_t soon_until_ns; /* until then, rounds should come soon */
	uint64_t stacks_late;	/* samples whose rows did not come in time */
	bool keeps_code;	/* the recording gets the code of sampled regions */
	struct kept_code kept;
	bool ending; /* the last round: nothing is deferred */
};

/* intake.c: pass a finished record to the consumer, then report its changes to the unwinder. */
int intake_emit(struct intake *intake, const struct jitbpf_record *record);

/*
 * stacks.c: take a sample, in order of time, whose stack is incomplete, or whose code may have been
 * replaced or may be reported later. Defers it, or emits it as complete as possible. Returns 0 or
 * negative errno.
 */
int intake_take_unfinished(struct intake *intake, const struct jitbpf_sample *sample);

/*
 * stacks.c: at the end of a round, complete and emit deferred samples. All records up to time_ns
 * have been applied. last: the source has ended, and no sample stays deferred. Returns 0 or
 * negative errno.
 */
int intake_complete_stacks(struct intake *intake, uint64_t time_ns, bool last);

/*
 * read_again.c: take a record with a READ_AGAIN, DOUBTFUL or IDENTIFIED flag, in order of time.
 * Returns 0 or negative errno.
 */
int intake_take_read_again(struct intake *intake, const struct jitbpf_record *record);

/*
 * copied_text.c: take a MAPPING record, in order of time. If it is of anonymous memory to which the
 * process has copied the text of a file, emit it as a mapping of that file. Returns 0 or negative
 * errno.
 */
int intake_take_mapping(struct intake *intake, const struct jitbpf_mapping *mapping);

/*
 * unwind_changes.c: after a record was applied, invalidate the kernel's tables that it affects.
 * Returns 0 or -ENOMEM.
 */
int intake_unwind_changed(struct intake *intake, const struct jitbpf_record *record);

/*
 * unwind_changes.c: memory of a process was mapped, or may have been: its code is in doubt. Returns
 * 0 or -ENOMEM.
 */
int intake_mapped(struct intake *intake, const struct jitbpf_mapping *record);

/*
 * unwind_changes.c: before a record is applied, give up the pending checks of code that it may end.
 * Returns 0 or negative errno.
 */
int intake_code_changes(struct intake *intake, const struct jitbpf_record *record);

/* unwind_changes.c: emit the verdicts about replaced code. Returns 0 or negative errno. */
int intake_emit_verdicts(struct intake *intake);

/*
 * unwind_changes.c: returns true if the JIT code of a sample's process may have been replaced, or
 * may be reported later.
 */
bool intake_doubts(const struct intake *intake, const struct jitbpf_sample *sample);

/* unwind_changes.c: give the unwinder a copy of JIT code. */
void intake_unwind_code_copied(struct intake *intake, const struct jitbpf_code *code);

#endif

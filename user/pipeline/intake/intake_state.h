/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of intake, for the files that implement it. */
#ifndef JITBPF_PIPELINE_INTAKE_INTAKE_STATE_H
#define JITBPF_PIPELINE_INTAKE_INTAKE_STATE_H

#include "base/round_buffer.h"
#include "base/vec.h"
#include "pipeline/intake/code_room.h"
#include "pipeline/intake/event_budget.h"
#include "pipeline/intake/intake.h"
#include "pipeline/intake/kept_code.h"
#include "pipeline/intake/shim_records.h"
#include "pipeline/intake/waiting_samples.h"
#include "unwind/unwinder.h"

struct intake {
	struct record_consumer consumer;
	const struct process_table *processes; /* the consumer's */
	const struct module_table *modules;    /* the same */
	struct text_source texts;	       /* equals NULL: nothing is compared */
	struct round_buffer round;
	struct shim_records shim;
	uint64_t refusals_ns; /* when the refusals of `shim` were last put into the round */
	struct event_budget budget;
	struct code_room room;
	uint64_t round_ns; /* time of the last round */
	uint64_t malformed;

	struct unwinder *unwinder; /* NULL: incomplete stacks stay cut */
	struct waiting_samples waiting;
	uint64_t soon_until_ns; /* until then, rounds should come soon */
	uint64_t stacks_late;	/* samples whose rows did not come in time */
	bool keeps_code;	/* the recording gets the code of sampled regions */
	struct kept_code kept;
	bool ending; /* the last round: nothing waits */
};

/* Returns the process of a sample, or NULL if it is not known. */
static inline const struct process *intake_process_of(const struct intake *intake,
						      const struct jitbpf_sample *sample)
{
	return process_table_find(intake->processes, sample->pid, sample->start_ns,
				  sample->h.time_ns);
}

/* intake.c: pass a finished record to the consumer, then report its changes to the unwinder. */
int intake_emit(struct intake *intake, const struct jitbpf_record *record);

/*
 * intake.c: pass on an event about code if it is within the budget of its process. Returns 0 or
 * negative errno.
 */
int intake_take_code_event(struct intake *intake, const struct jitbpf_code_event *event);

/*
 * found_records.c: report the code that was found in memory, before samples with it go on. Returns
 * 0 or negative errno.
 */
int intake_emit_found(struct intake *intake);

/*
 * stacks.c: take a sample, in order of time, whose stack is incomplete, or whose code may have been
 * replaced or may be reported later. It waits, or is emitted as complete as possible. process is
 * that of the sample; NULL: not known. Returns 0 or negative errno.
 */
int intake_take_unfinished(struct intake *intake, const struct process *process,
			   const struct jitbpf_sample *sample);

/*
 * stacks.c: go on with a sample that was woken, or whose wait has ended otherwise. Returns 0 with
 * *one moved and in its next stage, or a negative errno.
 */
int intake_go_on(struct intake *intake, struct waiting_sample **one, enum wait_end end,
		 uint64_t now_ns);

/*
 * stacks.c: emit a sample that is done, and free it. If a frame may be in other code than is known,
 * the callers of that frame are cut off. Returns 0 or negative errno.
 */
int intake_emit_done(struct intake *intake, struct waiting_sample *one);

/*
 * waiting_rounds.c: at the begin of a round, take the answers that came since the last one. A
 * recipe need not wait for the drain. Returns 0 or a negative errno.
 */
int intake_take_answers(struct intake *intake);

/*
 * waiting_rounds.c: at the end of a round, go on with samples as answers come, and emit those that
 * are done. All records up to time_ns have been applied. last: the source has ended, and no sample
 * waits any more. Returns 0 or negative errno.
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

/*
 * runtime_records.c: emit what has become known of runtimes and their functions, before samples
 * with them. Returns 0 or negative errno.
 */
int intake_emit_runtimes(struct intake *intake, uint64_t time_ns);

/* unwind_changes.c: emit the verdicts about replaced code. Returns 0 or negative errno. */
int intake_emit_verdicts(struct intake *intake);

/*
 * unwind_changes.c: returns true if the JIT code of a process may have been replaced, or may be
 * reported later; false if process is NULL.
 */
bool intake_doubts(const struct intake *intake, const struct process *process);

/* unwind_changes.c: give the unwinder a copy of JIT code. */
void intake_unwind_code_copied(struct intake *intake, const struct jitbpf_code *code);

#endif

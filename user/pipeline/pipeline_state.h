/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the pipeline owns; shared by its files only. */
#ifndef JITBPF_PIPELINE_PIPELINE_STATE_H
#define JITBPF_PIPELINE_PIPELINE_STATE_H

#include "base/round_buffer.h"
#include "base/string_pool.h"
#include "locate/locate.h"
#include "unwind/unwinder.h"
#include "pipeline/jit_sequences.h"
#include "pipeline/pipeline.h"
#include "pipeline/sample_filter.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "sink/thread_counts.h"
#include "state/process/process_table.h"
#include "symbolize/frame_table.h"
#include "symbolize/recorded_frames.h"
#include "uapi/recording.h"

/* One output. */
struct pipeline_sink {
	const struct sink_ops *ops;
	struct sink *sink;
	FILE *out;
};

/* A stack that was located, good while nothing has changed in its process. */
struct stack_cache_slot {
	uint64_t hash;
	uint64_t generation;
	uint64_t time_ns;
	uint32_t process;
	uint32_t comm;
	uint32_t node;
	uint16_t raw_user_frames; /* of the stack; user_frames are left after locating */
	uint16_t kernel_frames;
	uint16_t user_frames;
	uint8_t user_end;
	bool code_unknown;
	bool used;
};

/* Samples whose stacks the kernel could not finish. */
struct unwind_intake {
	struct unwinder *unwinder;	  /* NULL: they stay as they are */
	VEC(struct jitbpf_sample *) held; /* in the order of their turns */
	size_t held_bytes;
	uint64_t soon_until_ns; /* there was one just now, and others may follow */
	bool ending;		/* nothing is held any more: there is no round to wait for */
};

#define STACK_CACHE_SLOTS 16384 /* a power of two */

struct pipeline {
	struct symbol_service symbols;
	bool has_symbols;
	struct sample_filter filter;
	struct run_info info;
	struct view view;

	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct space_map *kernel_code;
	uint64_t kernel_code_count;
	struct location_table locations;
	struct frame_table *frames;
	struct recorded_frames *recorded;
	bool has_recorded; /* the source brought names: nobody else is asked */
	struct profile profile;
	struct thread_counts threads; /* where the view wants them */
	struct ledger ledger;
	VEC(struct pipeline_sink) sinks;

	struct round_buffer round;
	struct unwind_intake unwind;
	struct recorder *recorder; /* during a round */
	int recorder_error;
	struct located_stack located;
	struct stack_cache_slot *stack_cache;
	uint64_t forget_ns;  /* history is gone through again from then on */
	uint64_t changed_ns; /* the latest time at which anything but a sample happened */
	VEC(struct jit_sequences) sequences; /* by process number */
	VEC(uint64_t) throttled_since;	     /* by CPU; 0: is not */
	uint32_t requested;		     /* locations below it have been asked for */
};

/*
 * A record comes in, from the source or from unwind_intake.c: it is recorded, and waits for its
 * turn. Returns 0 or -ENOMEM.
 */
int pipeline_enter(struct pipeline *p, const struct jitbpf_record *record);

/* Only the tee: a failure of the recorder stays its own. */
void pipeline_record(struct pipeline *p, const struct jitbpf_record *record);

/* The ledger's row of a process. NULL: no memory. */
struct ledger_process *pipeline_ledger_row(struct pipeline *p, const struct process *process);

/* sample_intake.c, jit_intake.c: apply one record. Return 0 or negative errno. */
int pipeline_take_sample(struct pipeline *p, const struct jitbpf_sample *sample);
int pipeline_take_jit(struct pipeline *p, const struct jitbpf_jit *jit);
int pipeline_take_journal(struct pipeline *p, const struct jitbpf_journal *journal);

/* When a JIT event happened, which is before its record was made. */
uint64_t pipeline_jit_time(const struct jitbpf_jit *jit);

/* code_feed.c: tell the sinks of a JIT event that was applied, and entered so many regions. */
int pipeline_feed_code(struct pipeline *p, const struct process *process,
		       const struct jitbpf_jit *jit, const struct jit_event *event, uint64_t loads);

/*
 * unwind_intake.c: a sample with a copy of its stack has come from the source; its turn has come;
 * at the end of a round (the last one: of all), finish what can be (all). Return 0 or negative
 * errno.
 */
int pipeline_enter_unfinished(struct pipeline *p, const struct jitbpf_sample *sample);
int pipeline_take_unfinished(struct pipeline *p, const struct jitbpf_sample *sample);
int pipeline_finish_stacks(struct pipeline *p, uint64_t time_ns, bool last);
void pipeline_count_unwinding(struct pipeline *p);
void pipeline_deinit_unwinding(struct pipeline *p);

/*
 * unwind_changes.c: what the kernel has of a process may be wrong: a record has been applied to it,
 * or a JIT event, or what is missing of those.
 */
void pipeline_unwind_process_changed(struct pipeline *p, const struct jitbpf_record *record);
void pipeline_unwind_code_changed(struct pipeline *p, const struct process *process,
				  const struct jit_event *event);
void pipeline_unwind_code_lost(struct pipeline *p, const struct process *process);

/* unwind_changes.c: what stood there, for the unwinder alone. */
void pipeline_unwind_code_copied(struct pipeline *p, const struct jitbpf_code *code);

/* event_intake.c: the rarer kinds of records. */
int pipeline_take_kernel_symbol(struct pipeline *p, const struct jitbpf_kernel_symbol *symbol);
int pipeline_take_throttle(struct pipeline *p, const struct jitbpf_throttle *throttle);
int pipeline_take_lost(struct pipeline *p, const struct jitbpf_lost_samples *lost);
void pipeline_take_counters(struct pipeline *p, const struct jitbpf_counters *counters);
int pipeline_take_info(struct pipeline *p, const struct jitbpf_info_chunk *chunk);

/* naming.c: ask for the names of new locations; see that all locations have theirs. */
int pipeline_request_names(struct pipeline *p);
int pipeline_complete_names(struct pipeline *p);

#endif

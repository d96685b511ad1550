/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the analysis owns; shared by its files only. */
#ifndef JITBPF_PIPELINE_ANALYSIS_ANALYSIS_STATE_H
#define JITBPF_PIPELINE_ANALYSIS_ANALYSIS_STATE_H

#include "base/string_pool.h"
#include "locate/locate.h"
#include "pipeline/analysis/jit_sequences.h"
#include "pipeline/analysis/analysis.h"
#include "pipeline/analysis/sample_filter.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "sink/thread_counts.h"
#include "state/process/process_table.h"
#include "symbolize/frame_table.h"
#include "symbolize/recorded_frames.h"
#include "uapi/recording.h"

/* One output. */
struct analysis_sink {
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

#define STACK_CACHE_SLOTS 16384 /* a power of two */

struct analysis {
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
	VEC(struct analysis_sink) sinks;

	struct located_stack located;
	struct stack_cache_slot *stack_cache;
	uint64_t forget_ns;  /* history is gone through again from then on */
	uint64_t changed_ns; /* the latest time at which anything but a sample happened */
	VEC(struct jit_sequences) sequences; /* by process number */
	VEC(uint64_t) throttled_since;	     /* by CPU; 0: is not */
	uint32_t requested;		     /* locations below it have been asked for */
};

/* The ledger's row of a process. NULL: no memory. */
struct ledger_process *analysis_ledger_row(struct analysis *a, const struct process *process);

/* samples.c, jit_events.c, rare_events.c: apply one record. Return 0 or negative errno. */
int analysis_take_sample(struct analysis *a, const struct jitbpf_sample *sample);
int analysis_take_jit(struct analysis *a, const struct jitbpf_jit *jit);
int analysis_take_journal(struct analysis *a, const struct jitbpf_journal *journal);
int analysis_take_kernel_symbol(struct analysis *a, const struct jitbpf_kernel_symbol *symbol);
int analysis_take_throttle(struct analysis *a, const struct jitbpf_throttle *throttle);
int analysis_take_lost(struct analysis *a, const struct jitbpf_lost_samples *lost);
void analysis_take_counters(struct analysis *a, const struct jitbpf_counters *counters);
int analysis_take_info(struct analysis *a, const struct jitbpf_info_chunk *chunk);

/*
 * code_changes.c: tell the sinks of a JIT event that has been applied and that entered `loads`
 * regions. Returns 0 or negative errno.
 */
int analysis_code_changed(struct analysis *a, const struct process *process,
			  const struct jitbpf_jit *jit, const struct jit_event *event,
			  uint64_t loads);

/* names.c: request the names of new locations; wait until every location has its names. */
int analysis_request_names(struct analysis *a);
int analysis_complete_names(struct analysis *a);

#endif

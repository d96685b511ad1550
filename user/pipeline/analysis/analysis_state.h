/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the analysis, for the files that implement it. */
#ifndef JITBPF_PIPELINE_ANALYSIS_ANALYSIS_STATE_H
#define JITBPF_PIPELINE_ANALYSIS_ANALYSIS_STATE_H

#include "base/string_pool.h"
#include "locate/locate.h"
#include "pipeline/analysis/analysis.h"
#include "pipeline/analysis/epoch/epoch.h"
#include "pipeline/analysis/event_sequences.h"
#include "pipeline/analysis/sample_filter.h"
#include "state/process/cgroup_table.h"
#include "state/process/process_table.h"
#include "state/process/runtime_functions.h"
#include "uapi/recording.h"

/* A located stack. It is valid until the mappings or the code of its process change. */
struct stack_cache_slot {
	uint64_t hash;
	uint64_t generation;
	uint64_t time_ns;
	uint32_t epoch;	  /* number */
	uint32_t process; /* number */
	uint32_t comm;	  /* number in the state's pool */
	uint32_t row;	  /* of the ledger */
	uint32_t node;
	uint16_t user_words; /* of the sample; user_frames: after locating */
	uint16_t kernel_frames;
	uint16_t user_frames;
	uint16_t kept_frames; /* with left_out: number of innermost frames in the profile */
	uint8_t user_end;
	uint8_t event;
	bool code_untold;   /* of the sample */
	bool has_addresses; /* its frames are addresses */
	bool code_unknown;
	bool code_unpublished; /* struct located_stack */
	bool has_function;     /* of a runtime */
	bool has_unknown_function;
	bool left_out; /* the profile had no room for the outermost frames */
	bool hides;    /* they are not even there without an order */
	bool used;
};

#define STACK_CACHE_SLOTS 16384 /* a power of two */

struct analysis {
	struct symbol_service symbols;
	bool has_symbols;
	bool keeps_code;
	bool only_sampled; /* see begun_processes.h */
	bool no_paths;	   /* as in struct analysis_options */
	struct sample_filter filter;

	/* The state. */
	struct string_pool *strings; /* names of processes, and of some freed processes */
	uint32_t names_max;	     /* above this number, names of freed processes are dropped */
	struct module_table modules;
	struct process_table processes;
	struct cgroup_table cgroups;
	struct owner_budget profile_memory; /* of all open epochs */
	struct space_map *kernel_code;
	uint64_t kernel_code_count;
	struct runtime_functions functions;
	VEC(struct event_sequences) sequences; /* by process slot */
	/* With only_sampled, by process slot: counts until the process begins; NULL: none */
	VEC(struct jit_counts *) unsampled;
	uint64_t snapshot_ids;	       /* number of methods that got new ids in snapshots */
	bool sharers_due;	       /* other processes may map the objects of a begun process */
	bool sharers_searched;	       /* such processes were searched in this round */
	VEC(uint64_t) throttled_since; /* by CPU: start of the throttling; 0: not throttled */
	uint64_t round_ns;	       /* time of the last round */

	struct epoch *epoch;			    /* the current one */
	uint64_t samples_before[JITBPF_EVENTS_MAX]; /* samples of dropped epochs, by event */
	struct epoch *closing; /* older epochs, newest first; samples and names may still come */

	struct sink_list live; /* live views, which see all epochs */

	/* For sinks that receive changes of regions: region_changes.c. */
	struct code_watch watch;
	struct sink_region change;    /* of the event that is being applied */
	const struct process *loader; /* process of that event; NULL: the filter refuses it */

	struct located_stack located; /* scratch space */
	struct stack_cache_slot *stack_cache;
	struct frame_cache frame_cache;
	struct thread_stack *stacks;		     /* THREAD_STACKS; NULL: none yet */
	uint64_t addresses[JITBPF_SAMPLE_WORDS_MAX]; /* of a sample's frames, for sinks */
	uint64_t changed_ns; /* time of the latest record that can change a stack */
};

#define THREAD_STACKS 4 /* threads share them by number */

/*
 * What is known of the outer frames of a thread's last stack. recorded: the recording of epoch
 * recorded_in - 1 has the functions of these words, which are at the end.
 */
struct thread_stack {
	struct located_words located;
	uint32_t recorded_in; /* 0: none */
	uint32_t recorded_count;
	uint64_t recorded[JITBPF_USER_WORDS_MAX];
};

/* Returns the stack of a thread, which another one may have used last; NULL: no memory. */
struct thread_stack *analysis_thread_stack(struct analysis *a, uint32_t tid);

/*
 * Returns the counts of a process's code: in its ledger row or, if it has not begun, in
 * analysis.unsampled. NULL: out of memory.
 */
struct jit_counts *analysis_jit_counts(struct analysis *a, const struct process *process);

/*
 * Find or add the ledger row of a process in an epoch, with the process's cgroup at time_ns
 * (UINT64_MAX: its present cgroup). From now on, additions to the epoch are charged to its owner.
 * Returns 0 with the row's number in *ret, or -ENOMEM.
 */
int analysis_row(struct analysis *a, struct epoch *e, const struct process *process,
		 uint64_t time_ns, uint32_t *ret);

/*
 * Returns the ledger row of a process in the current epoch, added if necessary; NULL: out of
 * memory.
 */
struct ledger_process *analysis_ledger_row(struct analysis *a, const struct process *process);

/* samples.c, code_events.c, rare_events.c: apply one record. Return 0 or negative errno. */
int analysis_take_sample(struct analysis *a, const struct jitbpf_sample *sample);
int analysis_take_code_event(struct analysis *a, const struct jitbpf_code_event *record);
int analysis_take_refused(struct analysis *a, const struct jitbpf_code_refused *refused);
int analysis_take_journal(struct analysis *a, const struct jitbpf_journal *journal);
int analysis_take_kept_code(struct analysis *a, const struct jitbpf_kept_code *code);
int analysis_take_kernel_symbol(struct analysis *a, const struct jitbpf_kernel_symbol *symbol);
int analysis_take_throttle(struct analysis *a, const struct jitbpf_throttle *throttle);
int analysis_take_lost(struct analysis *a, const struct jitbpf_lost_samples *lost);
void analysis_take_counters(struct analysis *a, const struct jitbpf_counters *counters);
void analysis_take_event_counts(struct analysis *a, const struct jitbpf_event_counts *counts);
int analysis_take_info(struct analysis *a, const struct jitbpf_info_chunk *chunk);

/* cgroups.c: apply a CGROUP record. Returns 0 or -ENOMEM. */
int analysis_take_cgroup(struct analysis *a, const struct jitbpf_cgroup *record);

/* Returns the cgroup that a process was in at a time, or NULL if no record has named it. */
const struct known_cgroup *analysis_cgroup_at(const struct analysis *a,
					      const struct process *process, uint64_t time_ns);

/*
 * Set the outputs to the names of the process's cgroup at time_ns, as numbers of the epoch's
 * strings. The strings are charged to epoch.payer. Returns 0, -ENOMEM or -EDQUOT (no room).
 */
int analysis_cgroup_names(const struct analysis *a, struct epoch *e, const struct process *process,
			  uint64_t time_ns, uint32_t *ret_container, uint32_t *ret_unit);

/* code_events.c: add the counts of a process's account since the last call to its row. */
void analysis_count_code(struct jit_counts *jit, struct code_account *account);

/*
 * code_changes.c: report a code event to the sinks, after it was applied and entered `regions`
 * regions. Returns 0 or a negative errno.
 */
int analysis_code_changed(struct analysis *a, const struct process *process,
			  const struct code_event *event, uint64_t regions);

/*
 * region_changes.c: report changes of regions to the sinks that receive them. watch() sets this up.
 * Between begin() and end(), changes belong to a code event of a process. exits() reports the end
 * of a process, and with it of its code.
 */
void analysis_watch_regions(struct analysis *a);
void analysis_begin_regions(struct analysis *a, const struct process *process,
			    const struct code_event *event);
void analysis_end_regions(struct analysis *a);
void analysis_process_exits(struct analysis *a, const struct process *process, uint64_t time_ns);

/*
 * live_code.c: add a change of a process's live code at a time to the lane: loads, unloads and live
 * bytes. At an EXIT, the live code of the process ends. Return 0 or a negative errno.
 */
int analysis_note_live(struct analysis *a, const struct process *process, uint64_t time_ns,
		       struct code_lane_change change);
int analysis_take_exit(struct analysis *a, const struct jitbpf_task *record);

/*
 * names.c: analysis_name_new() names the new locations of all open epochs whose names are known,
 * requests the other names, and takes the answers. analysis_complete_names() names every location
 * of an epoch; with `wait`, it waits for the symbol service.
 */
int analysis_name_new(struct analysis *a);
int analysis_name_locations(struct analysis *a, struct epoch *epoch); /* of one epoch */
int analysis_complete_names(struct analysis *a, struct epoch *epoch, bool wait);

/* names.c: cancel the requests for names of the oldest epoch, which has been dropped. */
void analysis_forget_names(struct analysis *a);

/*
 * ledgers.c: update the ledger of an epoch's view, in O(existing processes); complete that of the
 * event that its outputs show; update it for the last
 * time before the current epoch is closed; take over the counts of a process that is about to be
 * freed.
 */
void analysis_update_ledger(struct analysis *a, struct epoch *epoch);
int analysis_complete_events(struct analysis *a, struct epoch *epoch);
void analysis_close_ledger(struct analysis *a);
void analysis_process_ends(struct analysis *a, const struct process *process);

/*
 * analysis.c: show the open epochs to all live views; with `wait`, repeat that while one of them
 * requests another call. Returns true if none does.
 */
bool analysis_show_all(struct analysis *a, bool wait);

/* Returns the epoch of a sample at time_ns. */
struct epoch *analysis_epoch_of(const struct analysis *a, uint64_t time_ns);

/*
 * Drop the names that no process has any more. If memory is short, they are kept. A process can
 * rename itself at any rate, so call it when there are more than names_max names.
 */
void analysis_renew_names(struct analysis *a);

#define ANALYSIS_NAMES_MIN 8192

/* The open epoch that began first. */
struct epoch *analysis_oldest_epoch(const struct analysis *a);

/* Returns the open epoch with that number, or NULL. */
struct epoch *analysis_find_epoch(struct analysis *a, uint32_t number);

#endif

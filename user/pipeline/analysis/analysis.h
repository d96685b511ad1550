/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Analysis consumes finished records (pipeline/finished_records.h): it maintains the state, locates
 * and counts every sample, requests the names of locations, and feeds the sinks. A live run and its
 * replay pass it the same records, so their results are the same.
 *
 * Single-threaded.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_ANALYSIS_H
#define JITBPF_PIPELINE_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/analysis/sample_filter.h"
#include "pipeline/finished_records.h"
#include "profile/ledger.h"
#include "sink/sink.h"
#include "state/process/process_table.h"
#include "symbolize/symbol_service.h"

/*
 * Length of the state's history: a sample can come up to this much later than the end of its code.
 */
#define ANALYSIS_HISTORY_NS 2000000000ull

/*
 * With joint_memory, an owner has so many times the memory that is left for others. Code gives way
 * to that of others, and to their profiles (pipeline/intake/code_room.h), so an owner alone may
 * have nearly all; call paths do not.
 */
#define ANALYSIS_CODE_SHARE    15
#define ANALYSIS_PROFILE_SHARE 7

struct analysis; /* see analysis_state.h */

struct analysis_options {
	/* NULL: the default budget of a process. */
	const struct code_budget *budget;
	/*
	 * Memory that the owners of processes share, in bytes: for code and mappings, for the
	 * profiles of all open epochs, and for modules. 0: no limit; for modules, the default.
	 */
	uint64_t memory_bytes, profile_bytes, modules_bytes;
	bool joint_memory;	/* the first two are one amount for both */
	uint64_t samples_bytes; /* as in struct view */
	/* Forms of line tables of JIT code. Borrowed; NULL: detected for each table. */
	const struct code_line_rules *line_rules;
	/*
	 * Names native and kernel locations, unless the records contain their names. NULL: such
	 * locations have no names. Used until analysis_finish(). The service borrows modules of
	 * the analysis, so it is destroyed first.
	 */
	const struct symbol_service *symbols;
	/* NULL: all samples. Copied; its lists outlive the analysis. */
	const struct sample_filter *filter;
	/* NULL: show everything. Copied. */
	const struct view_options *view;
	/*
	 * Processes without samples are neither counted nor shown, and a recording lacks them
	 * (pipeline/analysis/begun_processes.h). For live runs of chosen processes.
	 */
	bool only_sampled;
	/*
	 * No output shows call paths or single samples: of a call path, the profile keeps the
	 * innermost frame of the kernel and that of user space only. All locations get names.
	 */
	bool no_paths;
	/* Keep the machine code of KEPT_CODE records for the view. */
	bool keep_code;
	/* Borrowed by the view of the first epoch; NULL: none. */
	const struct page_extra *extra;
};

/* Figures for a status line. */
struct analysis_progress {
	uint64_t samples;
	uint64_t jit_methods;
	uint64_t code_unknown; /* samples with FATE_CODE_UNKNOWN */
};

/* Returns 0 or -ENOMEM. */
int analysis_create(const struct analysis_options *options, struct analysis **ret);
void analysis_destroy(struct analysis *analysis); /* NULL is allowed */

/* Describe the recording; copied. An INFO chunk replaces it. Returns 0 or -ENOMEM. */
int analysis_set_info(struct analysis *analysis, const struct run_info *info);

/*
 * Add an output before the first record, one for each out. Borrows out until analysis_destroy().
 * Returns 0 or -ENOMEM.
 */
int analysis_add_sink(struct analysis *analysis, const struct sink_ops *ops, FILE *out);

/*
 * Leave memory of the profile's part for what is made of the profile, as a multiple of what the
 * profile takes. Outputs are made one after the other, so the largest multiple is used; that of
 * sinks is known. Call it before the first record.
 */
void analysis_leave_memory(struct analysis *analysis, uint32_t times);

/*
 * Add a live view, which sees the samples and the rounds of all epochs while it is subscribed to.
 * Takes over sink, also on failure. A sink that reads the view's slices must be added before the
 * first record. Returns 0 or -ENOMEM.
 */
int analysis_add_live(struct analysis *analysis, const struct sink_ops *ops, struct sink *sink);

/*
 * Subscribe to a live view: its round() is called after the next round, and then every period_ns.
 * Returns 0, or -ENOENT if the view has failed. analysis_unsubscribe() ends these calls.
 */
int analysis_subscribe(struct analysis *analysis, const struct sink *sink, uint64_t period_ns);
void analysis_unsubscribe(struct analysis *analysis, const struct sink *sink);

/* Implement struct record_consumer. */
int analysis_take(struct analysis *analysis, const struct jitbpf_record *record);
int analysis_end_round(struct analysis *analysis, uint64_t time_ns);

/* Returns the flags JITBPF_RECORD_REFUSED for the last record that analysis_take() has taken. */
uint16_t analysis_refused(const struct analysis *analysis);

/*
 * Close the current epoch as of the last round, and begin the next one, described by info, without
 * outputs. Samples with a time up to that round still go to the closing epoch. The closing epoch is
 * complete after ANALYSIS_CLOSE_NS at the latest. Returns 0 or -ENOMEM.
 */
int analysis_begin_epoch(struct analysis *analysis, const struct run_info *info);

/* Samples and names of a closing epoch come up to this much later. */
#define ANALYSIS_CLOSE_NS 5000000000ull

/* Returns the number of the current epoch. */
uint32_t analysis_epoch(const struct analysis *analysis);

/*
 * Complete the oldest closing epoch if no more samples and names can come for it or, with `now`, in
 * any case. Sets *ret to its view, valid until analysis_drop_epoch(), or to NULL if no epoch is
 * complete. Returns 0 or a negative errno.
 */
int analysis_complete_epoch(struct analysis *analysis, bool now, const struct view **ret);

/* Free the epoch that analysis_complete_epoch() completed. */
void analysis_drop_epoch(struct analysis *analysis);

/*
 * Names of native code are at the end of a recording. Without all call paths, functions are counted
 * by name when samples come (hidden_callers.h). analysis_wants_names() returns true if the profile
 * has used half of its memory. Then analysis_read_names() takes the FRAMES chunks of the whole
 * recording, and NULL at their end. Returns 0 or -ENOMEM.
 */
bool analysis_wants_names(const struct analysis *analysis);
int analysis_read_names(struct analysis *analysis, const struct jitbpf_record *record);

/* Count records that were refused before they reached the analysis. */
void analysis_count_malformed(struct analysis *analysis, uint64_t count);

/*
 * After the last record: name every location, and complete the ledger. Then analysis_view() is
 * complete, and analysis_write() may be called. Returns 0 or a negative errno.
 */
int analysis_finish(struct analysis *analysis);

/*
 * After analysis_finish(): free what only further records would use, so that outputs can use this
 * memory. Only the view can be read, and outputs written.
 */
void analysis_close(struct analysis *analysis);

/* Write the output that was added with out. Returns 0 or the sink's error. */
int analysis_write(struct analysis *analysis, FILE *out);

/* Returns how many samples that output left out, since they had no room (samples_bytes). */
uint64_t analysis_left_out(const struct analysis *analysis, FILE *out);

/* Fit outputs that are written from now on to a terminal: see view_options. */
void analysis_set_screen(struct analysis *analysis, uint32_t columns, bool colours);

/* Set the packages of unnamed files, for outputs that are written from now on. Borrowed. */
void analysis_set_packages(struct analysis *analysis, const struct file_packages *packages);

struct analysis_progress analysis_progress(const struct analysis *analysis);

/*
 * Return the view of CPU time, or of the event that the outputs show (view_options.event). The
 * latter is valid until the next call.
 */
const struct view *analysis_view(const struct analysis *analysis);
const struct view *analysis_shown_view(struct analysis *analysis);
const struct view *analysis_event_view(struct analysis *analysis, uint32_t event);

/* Returns true if the run samples an event with this name. */
bool analysis_has_event(const struct analysis *analysis, const char *name);

/* Return the state after all records so far. Borrowed. */
const struct process_table *analysis_processes(const struct analysis *analysis);
const struct module_table *analysis_modules(const struct analysis *analysis);

#endif

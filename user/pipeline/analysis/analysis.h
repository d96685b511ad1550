/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Analysis consumes finished records (pipeline/finished_records.h): keeps the state, locates and
 * counts every sample, has locations named, and feeds the sinks. A live run and a replay give it
 * the same records, so that both say the same.
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

/* History that the state keeps: how long a sample may come after its code was replaced. */
#define ANALYSIS_HISTORY_NS 2000000000ull

struct analysis; /* see analysis_state.h */

struct analysis_options {
	/* NULL: the default budget of a process. */
	const struct code_budget *budget;
	/* How to read line tables of JIT code. Borrowed; NULL: it is detected for each table. */
	const struct code_line_rules *line_rules;
	/*
	 * Names native and kernel locations, unless the records bring names along. NULL: such
	 * locations stay unnamed. Used until analysis_finish(). The service borrows modules from
	 * the analysis, so it ends first.
	 */
	const struct symbol_service *symbols;
	/* NULL: all samples. Copied; its lists outlive the analysis. */
	const struct sample_filter *filter;
	/* NULL: everything is shown. Copied. */
	const struct view_options *view;
};

/* Figures for a status line. */
struct analysis_progress {
	uint64_t samples;
	uint64_t jit_methods;
	uint64_t code_unknown; /* samples of that fate */
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
 * Add a live view, which sees the samples and the rounds of all epochs while it is subscribed to.
 * Takes sink over, also on failure. Returns 0 or -ENOMEM.
 */
int analysis_add_live(struct analysis *analysis, const struct sink_ops *ops, struct sink *sink);

/*
 * Have the live view's round() called after the next round and then every period_ns; no more.
 * Returns 0, or -ENOENT if it has failed.
 */
int analysis_subscribe(struct analysis *analysis, const struct sink *sink, uint64_t period_ns);
void analysis_unsubscribe(struct analysis *analysis, const struct sink *sink);

/* Implement struct record_consumer. */
int analysis_take(struct analysis *analysis, const struct jitbpf_record *record);
int analysis_end_round(struct analysis *analysis, uint64_t time_ns);

/*
 * Close the current epoch as of the last round, and begin the next one, described by info, with no
 * output. Samples up to then still go to the closing epoch, which is complete after
 * ANALYSIS_CLOSE_NS at the latest. Returns 0 or -ENOMEM.
 */
int analysis_begin_epoch(struct analysis *analysis, const struct run_info *info);

/* Samples of a closing epoch come up to that much later; so do its names. */
#define ANALYSIS_CLOSE_NS 5000000000ull

/* The number of the current epoch, and of the epoch that a sample of time_ns goes to. */
uint32_t analysis_epoch(const struct analysis *analysis);
uint32_t analysis_epoch_at(const struct analysis *analysis, uint64_t time_ns);

/*
 * Complete the oldest closing epoch if no sample and no name comes any more, or if `now`. Sets
 * *ret to its view, which is valid until analysis_drop_epoch(), or to NULL if there is none.
 * Returns 0 or negative errno.
 */
int analysis_complete_epoch(struct analysis *analysis, bool now, const struct view **ret);

/* Free the epoch that analysis_complete_epoch() gave. */
void analysis_drop_epoch(struct analysis *analysis);

/*
 * The ledger of the current epoch as of now, as complete as at the end. Returns 0 and sets *ret,
 * whose processes the caller releases, or -ENOMEM.
 */
int analysis_ledger(const struct analysis *analysis, struct ledger *ret);

/* Count records that were refused before the border. */
void analysis_count_malformed(struct analysis *analysis, uint64_t count);

/*
 * No more records: have every location named, and complete the ledger. Afterwards
 * analysis_view() is complete, and analysis_write() may be called. Returns 0 or negative errno.
 */
int analysis_finish(struct analysis *analysis);

/* Write the output that was added with out. Returns 0 or the sink's error. */
int analysis_write(struct analysis *analysis, FILE *out);

struct analysis_progress analysis_progress(const struct analysis *analysis);
const struct view *analysis_view(const struct analysis *analysis);

/* The state after all records so far. Borrowed. */
const struct process_table *analysis_processes(const struct analysis *analysis);
const struct module_table *analysis_modules(const struct analysis *analysis);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Set-up and release of the objects of a run. */
#ifndef JITBPF_RUN_RUN_SETUP_H
#define JITBPF_RUN_RUN_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/launch/stop_signals.h"
#include "agent/live/live_source.h"
#include "agent/readers/name_reader.h"
#include "agent/readers/rows_reader.h"
#include "agent/roles/broker.h"
#include "agent/workers/symbol_worker.h"
#include "agent/workers/unwind_workers.h"
#include "pipeline/pipeline.h"
#include "run/messages/jvm_reports.h"
#include "run/messages/status_line.h"
#include "run/outputs/disk_limits.h"
#include "run/outputs/outputs.h"
#include "run/outputs/page_recording.h"
#include "run/outputs/refresh.h"
#include "run/outputs/rotation.h"
#include "run/page/live_page.h"
#include "run/run_options.h"
#include "run/self_stats.h"
#include "run/target/target.h"
#include "run/top_screen.h"

/* The objects of a run. */
struct run {
	const struct run_options *options;
	struct broker broker;
	struct probe_site site;
	struct probe_site jvm_agent; /* path: empty if there is none */
	struct file_store *files;
	struct name_reader *names;
	struct rows_reader *rows, *runtimes;
	_Atomic uint64_t readers_failed;
	struct symbol_worker *worker;
	struct symbol_service symbols;
	struct unwind_workers unwind_workers;
	struct unwind_service unwind_service;
	struct unwind_tables unwind_tables;
	struct pipeline *pipeline;
	struct live_source *live;
	struct source source;
	string_list declared; /* all paths that are written to */
	struct output_access access;
	const char *default_output;
	struct outputs outputs;
	struct recorder *recorder; /* without rotation */
	struct page_recording page_recording;
	struct refresh *refresh;     /* NULL: outputs are written at the end */
	struct live_page *live_page; /* NULL: none; the next two are for it */
	struct code_reader *code;
	struct source_reader *sources;
	struct top_screen *top;	  /* NULL: none */
	bool screen_stays;	  /* the target has ended, and the screen stays open */
	struct rotation rotation; /* with it, `outputs` is empty */
	struct target target;
	bool unsupported; /* the machine or the user does not meet the requirements */
	bool misused;	  /* invalid options */
	bool broker_lost; /* it was killed, and the user was told */
	struct stop_signals signals;
	struct status_line status;
	struct jvm_reports_told jvms_told;
	uint64_t disk_ns; /* when the limits of the disk are next checked */
	struct self_stats stats;
	struct file_packages packages; /* of the outputs at the end */
};

/* Returns true if standard output is an output. */
bool run_writes_standard(const struct run_options *options);

/* Print an error message. Returns err. */
int run_complain(int err, const char *what);

/*
 * Create all objects. The command is forked and waits; no samples are taken
 * yet. Prints a message on errors. Returns 0 or a negative errno. The caller
 * calls run_release() in any case.
 */
int run_set_up(struct run *run);
void run_release(struct run *run);

#endif

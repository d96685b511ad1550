/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Set-up and release of the objects of a recording run. */
#ifndef JITBPF_CLI_RECORD_SETUP_H
#define JITBPF_CLI_RECORD_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "agent/files/file_store.h"
#include "agent/live/live_source.h"
#include "agent/readers/name_reader.h"
#include "agent/readers/rows_reader.h"
#include "agent/roles/broker.h"
#include "agent/launch/stop_signals.h"
#include "agent/workers/symbol_worker.h"
#include "agent/workers/unwind_worker.h"
#include "cli/disk_limits.h"
#include "cli/live_page.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/page_recording.h"
#include "cli/refresh.h"
#include "cli/rotation.h"
#include "cli/self_stats.h"
#include "cli/jvm_reports.h"
#include "cli/status_line.h"
#include "cli/target.h"
#include "cli/top_screen.h"
#include "pipeline/pipeline.h"

struct record_options {
	const char *name; /* of the command, for messages */
	uint32_t freq_hz;
	uint64_t duration_ns; /* 0: until stopped */
	struct target_options target;
	string_list outputs;
	const char *format; /* of the only output, or of standard output; NULL: by extension */
	struct rotation_options rotation;
	struct disk_limits disk;
	uint64_t refresh_ns; /* 0: outputs are written at the end */
	bool live;	     /* serve the page */
	string_list folders; /* of source files, for the page */
	bool once;	     /* of `jitbpf top` */
	uint64_t window_ns;  /* of `jitbpf top` */
	bool top;	     /* show the screen of `jitbpf top` */
	bool only_live;	     /* no default output, only those of -o */
	uint32_t port;	     /* 0: the first free port from the default on */
	bool user_regs;
	bool code; /* keep machine code in the recording */
	bool quiet;
	const char *stats; /* NULL: none */
	uint64_t code_ring_bytes;
	uint64_t sample_ring_bytes;
	uint64_t memory_bytes;
	const char *shim;
	bool no_debuginfod;
	bool no_env;
	struct engine_env_choice env;
	bool attach_jvms, no_attach_jvms;
	struct view_options view;
	string_list line_offsets;
	struct code_line_rules line_rules;
	struct rlimit open_files; /* the limit before it was raised */
};

/* The objects of a running recording. */
struct recording {
	const struct record_options *options;
	struct broker broker;
	struct probe_site site;
	struct probe_site jvm_agent; /* path: empty if there is none */
	struct file_store *files;
	struct name_reader *names;
	struct rows_reader *rows;
	_Atomic uint64_t readers_failed;
	struct symbol_worker *worker;
	struct symbol_service symbols;
	struct unwind_worker *unwind_worker;
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
bool record_writes_standard(const struct record_options *options);

/* Print an error message. Returns err. */
int record_complain(int err, const char *what);

/*
 * Create all objects. The command is forked and waits; no samples are taken
 * yet. Prints a message on errors. Returns 0 or a negative errno. The caller
 * calls record_release() in any case.
 */
int record_set_up(struct recording *run);
void record_release(struct recording *run);

#endif

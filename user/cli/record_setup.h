/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording is made of, while it runs: built, and taken down again. */
#ifndef JITBPF_CLI_RECORD_SETUP_H
#define JITBPF_CLI_RECORD_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "agent/files/file_store.h"
#include "agent/kernel/live_source.h"
#include "agent/launch/stop_signals.h"
#include "agent/workers/symbol_worker.h"
#include "agent/workers/unwind_worker.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/status_line.h"
#include "cli/target.h"
#include "pipeline/pipeline.h"

struct record_options {
	uint32_t freq_hz;
	uint64_t duration_ns; /* 0: until it is stopped */
	struct target_options target;
	string_list outputs;
	bool user_regs;
	bool quiet;
	uint64_t code_ring_bytes;
	uint64_t sample_ring_bytes;
	const char *shim;
	bool no_debuginfod;
	bool no_env;
	struct view_options view;
	string_list line_offsets;
	struct code_line_rules line_rules;
	struct rlimit open_files; /* the limit before we raised it */
};

/* All that a recording holds while it runs. */
struct recording {
	const struct record_options *options;
	struct probe_site site;
	struct file_store *files;
	struct symbolizer *symbolizer;
	struct symbol_worker *worker;
	struct symbol_service symbols;
	struct unwind_worker *unwind_worker;
	struct unwind_service unwind_service;
	struct unwind_tables unwind_tables;
	struct pipeline *pipeline;
	struct live_source *live;
	struct source source;
	struct outputs outputs;
	struct recorder *recorder;
	struct target target;
	bool unsupported; /* by this machine, or for this user */
	bool misused;	  /* it was called wrongly */
	struct stop_signals signals;
	struct status_line status;
};

/* Say what failed, and hand err on. */
int record_complain(int err, const char *what);

/*
 * Build all of it; the command waits to be let go, and no samples are taken yet. Returns 0, or
 * negative errno, which has been said. record_release() is due in any case.
 */
int record_set_up(struct recording *run);
void record_release(struct recording *run);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run of jitbpf annotate: chooses a function of a recording, and writes its pieces of code. */
#ifndef JITBPF_CLI_ANNOTATE_RUN_H
#define JITBPF_CLI_ANNOTATE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options/filter_options.h"
#include "cli/options/line_rules.h"
#include "cli/options/options.h"
#include "cli/options/view_options.h"
#include "cli/replay.h"
#include "sink/annotate/function_samples.h"
#include "sink/write/json.h"

struct source_reader;

enum annotate_format { FORMAT_TEXT, FORMAT_JSON };

struct annotate_options {
	uint32_t format; /* enum annotate_format */
	const char *output;
	const char *module;
	uint32_t generation; /* 0: all */
	bool lines, assembly, all;
	uint32_t style; /* enum disassembly_style */
	string_list folders;
	struct filter_options filter;
	struct view_options view;
	bool no_debuginfod;
	uint64_t memory_bytes;
	string_list line_offsets;
	struct code_line_rules line_rules;
};

/* The caller sets the members up to `out`, and the run the others. */
struct annotate_run {
	const struct annotate_options *options;
	const char *name;     /* of the function */
	struct replay replay; /* opened by the caller, who closes it */
	struct source_reader
		*reader; /* of source files, owned by the caller; NULL: none are read */
	FILE *out;
	struct function_samples samples;
	function_list list;   /* the functions of that name */
	struct sink *history; /* owned by the pipeline */
	struct json json;     /* of `out`, from the first piece on */
};

/* Replay the recording and write the function. Returns 0, or a negative errno after a message. */
int annotate_run(struct annotate_run *run);

/* Free what the run has made. */
void annotate_run_deinit(struct annotate_run *run);

#endif

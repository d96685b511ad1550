/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that select samples. Shared by all commands that show a recording. */
#ifndef JITBPF_CLI_OPTIONS_FILTER_OPTIONS_H
#define JITBPF_CLI_OPTIONS_FILTER_OPTIONS_H

#include "cli/options/options.h"
#include "pipeline/analysis/sample_filter.h"

struct filter_options {
	uint64_t from_ns, to_ns;
	pid_list pids, tids;
	string_list comms, containers;
};

/* The values of these options are a struct filter_options. */
extern const struct option_table filter_option_table;

/* Returns false, and prints a message, if --from and --to select no time. */
bool filter_options_check(const struct filter_options *values);

/* Returns the filter that the options describe. It borrows from options. */
static inline struct sample_filter filter_options_filter(const struct filter_options *options)
{
	return (struct sample_filter){
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
		.pids = options->pids.data,
		.pid_count = options->pids.size,
		.tids = options->tids.data,
		.tid_count = options->tids.size,
		.comms = options->comms.data,
		.comm_count = options->comms.size,
		.containers = options->containers.data,
		.container_count = options->containers.size,
	};
}

#endif

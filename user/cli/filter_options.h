/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that say which samples are shown, for every command that shows a recording. */
#ifndef JITBPF_CLI_FILTER_OPTIONS_H
#define JITBPF_CLI_FILTER_OPTIONS_H

#include "cli/options.h"
#include "pipeline/sample_filter.h"

struct filter_options {
	uint64_t from_ns, to_ns;
	pid_list pids, tids;
	string_list comms;
};

/* Their rows in a command's table, whose values are a `type` with these as `member`. */
#define FILTER_OPTIONS(type, member)                                                               \
	{0,                                                                                        \
	 "from",                                                                                   \
	 OPTION_SECONDS,                                                                           \
	 offsetof(type, member.from_ns),                                                           \
	 "SEC",                                                                                    \
	 "only samples from so long after the start",                                              \
	 0,                                                                                        \
	 UINT64_MAX},                                                                              \
		{0,                                                                                \
		 "to",                                                                             \
		 OPTION_SECONDS,                                                                   \
		 offsetof(type, member.to_ns),                                                     \
		 "SEC",                                                                            \
		 "only samples before that",                                                       \
		 1,                                                                                \
		 UINT64_MAX},                                                                      \
		{0,                                                                                \
		 "pid",                                                                            \
		 OPTION_PIDS,                                                                      \
		 offsetof(type, member.pids),                                                      \
		 "PID[,PID...]",                                                                   \
		 "only samples of these processes",                                                \
		 0,                                                                                \
		 0},                                                                               \
		{0,                                                                                \
		 "thread",                                                                         \
		 OPTION_PIDS,                                                                      \
		 offsetof(type, member.tids),                                                      \
		 "TID[,TID...]",                                                                   \
		 "only samples of these threads",                                                  \
		 0,                                                                                \
		 0},                                                                               \
	{                                                                                          \
		0, "comm", OPTION_STRINGS, offsetof(type, member.comms), "NAME",                   \
			"only processes and threads of this name (may be given several times)", 0, \
			0                                                                          \
	}

/* What they ask for; borrows from options. */
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
	};
}

static inline void filter_options_deinit(struct filter_options *options)
{
	vec_deinit(&options->pids);
	vec_deinit(&options->tids);
	vec_deinit(&options->comms);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/filter_options.h"

#include <stdio.h>

#include "base/scope.h"
#include "run/messages/say.h"

#define FIELD(name) offsetof(struct filter_options, name)

static const struct option_spec options[] = {
	{0, "from", OPTION_SECONDS, FIELD(from_ns), "TIME",
	 "only samples from TIME after the start", 0, UINT64_MAX},
	{0, "to", OPTION_SECONDS, FIELD(to_ns), "TIME", "only samples before TIME after the start",
	 1, UINT64_MAX},
	{0, "pid", OPTION_PIDS, FIELD(pids), "PID[,PID...]", "only samples of these processes"},
	{0, "thread", OPTION_PIDS, FIELD(tids), "TID[,TID...]", "only samples of these threads"},
	{0, "comm", OPTION_STRINGS, FIELD(comms), "NAME",
	 "only processes and threads of this name (may be repeated)"},
	{0, "container", OPTION_STRINGS, FIELD(containers), "NAME",
	 "only this container (ID or name) or systemd unit; \"host\": neither (may be repeated)", 0,
	 0, .candidates = CANDIDATES_CONTAINERS},
};

bool filter_options_check(const struct filter_options *values)
{
	if (!values->to_ns || values->from_ns < values->to_ns)
		return true;
	say("jitbpf: --from must be less than --to\n");
	return false;
}

const struct option_table filter_option_table = {options, ARRAY_SIZE(options)};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/list_ways.h"

static const struct list_way ways[ENGINE_PUBLISHES_COUNT] = {
	[ENGINE_JOURNAL] = {"journal", "shim, with a journal"},
	[ENGINE_UNREADABLE] = {"unreadable_journal", "shim, journal unreadable",
			       "the process is ending, hangs, or has damaged it: a recording "
			       "knows code from its own start on only"},
	[ENGINE_OTHER_VERSION] =
		{"other_version", "shim of another version",
		 "this jitbpf cannot read its code: start the process anew, with the "
		 "libjitbpf.so of this version"},
	[ENGINE_SHIM] = {"shim", "shim, no journal",
			 "the process has no code yet, or no journal (JITBPF_JOURNAL_MB=0): a "
			 "recording knows code from its own start on only"},
	[ENGINE_AGENT_JOURNAL] = {"agent_journal", "agent for Java"},
	[ENGINE_AGENT_UNREADABLE] = {"unreadable_agent_journal", "agent, journal unreadable",
				     "the JVM is ending, hangs, or has damaged it: a recording "
				     "knows code from its own start on only"},
	[ENGINE_AGENT_OTHER_VERSION] =
		{"other_agent_version", "agent of another version",
		 "this jitbpf cannot read its code: start the JVM anew, with the agent of this version"},
	[ENGINE_AGENT] = {"agent", "agent, no journal",
			  "the JVM has no code yet, or no journal (JITBPF_JOURNAL_MB=0): a "
			  "recording knows code from its own start on only"},
	[ENGINE_JITDUMP] = {"jitdump", "jitdump"},
	[ENGINE_PERF_MAP] = {"perf_map", "perf map, not read"},
	[ENGINE_NOTHING] = {"nothing", "nothing"},
	[ENGINE_FUNCTIONS] = {"functions", "-"}, /* not needed */
};

const struct list_way *list_way_of(const struct engine_row *row)
{
	return &ways[row->publishes];
}

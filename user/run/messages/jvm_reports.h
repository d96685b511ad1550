/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the results of loading the agent for Java into JVMs. */
#ifndef JITBPF_RUN_MESSAGES_JVM_REPORTS_H
#define JITBPF_RUN_MESSAGES_JVM_REPORTS_H

#include "agent/live/live_source.h"
#include "run/messages/status_line.h"

/* The messages that were printed, which are not repeated. Zero-initialized: none. */
struct jvm_reports_told {
	bool inlined, warning;
};

/* Print the reports that have come, one line each, to standard error. */
void jvm_reports_tell(struct live_source *live, struct status_line *status,
		      struct jvm_reports_told *told);

#endif

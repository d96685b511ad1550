/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/messages/jvm_reports.h"

#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/text.h"

#define AGE_MAX_NS	300000000000ull /* of a process whose age says how much it has compiled */
#define WARNING_RELEASE 21 /* from this release of Java on, a JVM prints a warning (JEP 451) */

static const char *const reasons[] = {
	[JVM_IS_STARTING] = "it lacks the threads by which jitbpf recognizes a HotSpot JVM, or "
			    "does not catch SIGQUIT (-Xrs)",
	[JVM_IS_STOPPED] = "it is stopped by a signal or a debugger, or its cgroup is frozen",
	[JVM_IS_ANOTHER] = "it is OpenJ9, which jitbpf does not support",
	[JVM_IS_CLOSED] = "it runs with -XX:+DisableAttachMechanism: start it with "
			  "-agentpath:/PATH/OF/libjitbpf-jvmti.so",
	[JVM_IS_NOT_KNOWN] = "it has too many mappings to be examined (16 MB of "
			     "/proc/PID/maps)",
	[JVM_IS_SILENT] = "it did not answer in time",
	[JVM_IS_FOREIGN] = "its socket or its file in /tmp belongs to another user or process",
	[JVM_ANSWER_INVALID] = "its answer cannot be parsed",
	[JVM_HAS_NO_PLACE] = "it cannot reach libjitbpf-jvmti.so, and its /tmp takes no copy that "
			     "can be executed",
	[JVM_HAS_TWO_USERS] = "its real and effective user or group differ",
	[JVM_LACKS_EVENTS] = "it does not report its compiled methods",
	[JVM_IS_BEYOND_LIMIT] = "too many JVMs wait for the agent or have it; further JVMs are "
				"left out without a message",
	[JVM_AGENT_IS_MISSING] = "libjitbpf-jvmti.so is not beside libjitbpf.so, or of another "
				 "version: 'make' builds it if there is a JDK",
	[JVM_ARCHIVES] = "it writes an archive of its classes, and an agent would be in the way",
	[JVM_NOT_ANSWERED] = "jitbpf ended before it answered",
	[JVM_REFUSED] = "it refused",
	[JVM_LOAD_FAILED] = "loading failed",
};

static void put_failure(struct text *text, const struct jvm_load_reply *reply)
{
	const char *reason = reply->result < ARRAY_SIZE(reasons) ? reasons[reply->result] : NULL;

	text_printf(text, "the agent is not loaded: %s", reason ?: reasons[JVM_LOAD_FAILED]);
	if (reply->err)
		text_printf(text, ": %s", strerror(-reply->err));
	if (*reply->words) {
		text_put_string(text, ": ");
		text_put_name(text, reply->words, 0, 0);
	}
	text_put_string(text, reply->result == JVM_IS_ANOTHER
				      ? "; its JIT code is [unknown]"
				      : "; its code is looked for in its memory");
}

/* Facts that apply to many JVMs are printed for the first one only. */
static void put_success(struct text *text, const struct jvm_report *report,
			struct jvm_reports_told *told)
{
	text_put_string(text, "the agent is loaded");
	if (report->age_ns < AGE_MAX_NS)
		text_printf(text, ", %.1f s after the start of the process",
			    (double)report->age_ns / 1e9);
	if (!report->reply.has_all_lines && !told->inlined)
		text_put_string(text,
				"; code compiled before that shows few of its inlined methods "
				"(to see all: start the JVM with jitbpf, or with "
				"--java-debug-nonsafepoints)");
	told->inlined |= !report->reply.has_all_lines;
	if (report->reply.release < WARNING_RELEASE)
		return;
	if (!told->warning)
		text_printf(text,
			    "; Java %u prints a warning about it (none with "
			    "-XX:+EnableDynamicAgentLoading)",
			    report->reply.release);
	told->warning = true;
}

void jvm_reports_tell(struct live_source *live, struct status_line *status,
		      struct jvm_reports_told *told)
{
	struct jvm_report report;

	while (live_source_take_jvm(live, &report)) {
		CLEANUP(text_deinit) struct text text = {0};

		if (report.reply.result == JVM_HAS_AGENT)
			continue;
		text_printf(&text, "jitbpf: JVM %u (", report.pid);
		text_put_name(&text, report.comm, 0, 0);
		text_put_string(&text, "): ");
		if (report.reply.result == JVM_LOADED)
			put_success(&text, &report, told);
		else
			put_failure(&text, &report.reply);
		text_put_string(&text, "\n");
		status_line_clear(status);
		text_write(&text, stderr);
	}
}

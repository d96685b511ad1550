/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf doctor: what this machine offers to a recording, and what to do where it does not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/file_store.h"
#include "agent/files/helper/file_service.h"
#include "agent/kernel/probes/attach_service.h"
#include "agent/live/live_source.h"
#include "agent/machine/machine_check.h"
#include "agent/publisher/probe_site.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "run/messages/say.h"
#include "sink/write/json.h"
#include "sink/write/out.h"

#define TITLE_COLUMNS 17

struct doctor_options {
	bool json;
};

static const struct option_spec options[] = {
	{0, "json", OPTION_FLAG, offsetof(struct doctor_options, json), NULL, "write JSON", 0, 0},
};

static const struct {
	const char *key, *word;
} states[] = {
	[MACHINE_FINE] = {"fine", "ok"},
	[MACHINE_LIMITED] = {"limited", "limit"},
	[MACHINE_MISSING] = {"missing", "MISSING"},
	[MACHINE_HIDDEN] = {"hidden", "?"},
};

struct report {
	struct json json;
	bool as_json;
	bool missing, hidden; /* some finding is */
};

static void add(struct report *report, const struct machine_check *check,
		const struct machine_finding *finding)
{
	report->missing |= finding->state == MACHINE_MISSING;
	report->hidden |= finding->state == MACHINE_HIDDEN;
	if (report->as_json) {
		json_begin(&report->json, '{');
		json_member_string(&report->json, "check", check->key);
		json_member_string(&report->json, "state", states[finding->state].key);
		json_member_string(&report->json, "what", finding->what);
		if (*finding->advice)
			json_member_string(&report->json, "advice", finding->advice);
		json_end(&report->json, '}');
		return;
	}
	printf("%-*s%-9s%s\n", TITLE_COLUMNS, check->title, states[finding->state].word,
	       finding->what);
	if (*finding->advice)
		printf("%*s%s\n", TITLE_COLUMNS + 9, "", finding->advice);
}

static void look_at_all(struct report *report, const struct machine_check *checks)
{
	for (; checks->key; checks++) {
		struct machine_finding finding = {0};

		checks->look(&finding);
		add(report, checks, &finding);
	}
}

/* Returns true if everybody can open the file: programs of all users load the shim. */
static bool is_for_everybody(const char *path)
{
	AUTO_FREE char *part = strdup(path);
	struct stat st;

	if (!part || stat(part, &st) || !(st.st_mode & S_IROTH))
		return false;
	while (path_folder_bytes(part)) {
		part[path_folder_bytes(part)] = 0;
		if (stat(part, &st) || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

static int look_at_shim(struct report *report, struct probe_site *site)
{
	static const struct machine_check check = {.key = "shim", .title = "shim"};
	struct machine_finding finding = {0};
	int err = probe_site_find(NULL, site);

	if (err) {
		machine_found(&finding, MACHINE_MISSING, "libjitbpf.so is %s",
			      err == -ENOEXEC ? "not a jitbpf shim"
					      : "missing beside this program");
		machine_advise(&finding, "build or install it");
	} else if (!is_for_everybody(site->path)) {
		machine_found(&finding, MACHINE_LIMITED, "other users cannot read %s", site->path);
		machine_advise(&finding, "install it where everybody can, or their programs do not "
					 "publish their JIT code");
	} else {
		machine_found(&finding, MACHINE_FINE, "%s", site->path);
	}
	add(report, &check, &finding);
	return err;
}

/* The agent for Java is loaded from a copy where a JVM cannot reach it. */
static void look_at_agent(struct report *report, const struct probe_site *shim)
{
	static const struct machine_check check = {.key = "jvm_agent", .title = "Java agent"};
	struct machine_finding finding = {0};
	struct probe_site agent;

	if (probe_site_find_jvm_agent(shim, &agent)) {
		machine_found(&finding, MACHINE_LIMITED,
			      "libjitbpf-jvmti.so is not beside libjitbpf.so: JIT code of JVMs is "
			      "[unknown]");
		machine_advise(&finding, "'make' builds it if there is a JDK (JAVA_HOME)");
	} else {
		machine_found(&finding, MACHINE_FINE, "%s", agent.path);
	}
	add(report, &check, &finding);
}

/* Do what `record` does at its start. */
static void try_recording(struct probe_site *site, struct machine_finding *ret)
{
	static const role_fn roles[ROLE_COUNT] = {
		[ROLE_OPENER] = file_service_run,
		[ROLE_ATTACHER] = attach_service_run,
	};
	struct broker broker = {.socket = -1};
	const struct file_store_options file_options = {.live = true, .broker = &broker};
	const struct live_options live_options = {
		.broker = &broker,
		.freq_hz = 99,
		.code_ring_bytes = 8u << 20,
		.sample_ring_bytes = 2u << 20,
	};
	struct live_source *live = NULL;
	struct file_store *files = NULL;
	struct live_failure failure = {.what = "starting"};
	int err = broker_start(roles, &broker);

	err = err ?: file_store_create(&file_options, &files);
	err = err ?: live_source_create(&live_options, site, files, &live, &failure);
	if (err)
		machine_found(ret, MACHINE_MISSING, "%s", failure.what);
	else
		machine_found(ret, MACHINE_FINE, "%s on %u CPU%s, probe at +%u",
			      live_source_event(live), live_source_cpus(live),
			      live_source_cpus(live) == 1 ? "" : "s", site->place);
	live_source_destroy(live);
	file_store_destroy(files);
	broker_stop(&broker);
}

static void look_at_recording(struct report *report, struct probe_site *site)
{
	static const struct machine_check check = {.key = "recording", .title = "recording"};
	struct machine_finding finding = {0};

	if (geteuid())
		machine_found(&finding, MACHINE_HIDDEN, "not tried without root");
	else
		try_recording(site, &finding);
	add(report, &check, &finding);
}

static int examine(bool as_json)
{
	struct report report = {.json = json_of(stdout, true), .as_json = as_json};
	struct probe_site site;
	int err;

	machine_silence_libbpf();
	if (as_json) {
		json_begin(&report.json, '{');
		json_member_number(&report.json, "version", 1);
		json_key(&report.json, "checks");
		json_begin(&report.json, '[');
	}
	look_at_all(&report, machine_needs);
	look_at_all(&report, machine_offers);
	if (!look_at_shim(&report, &site)) {
		look_at_agent(&report, &site);
		if (!report.missing)
			look_at_recording(&report, &site);
	}
	if (as_json) {
		json_end(&report.json, ']');
		json_end(&report.json, '}');
	}
	err = out_flush(stdout);
	if (err)
		say("jitbpf doctor: %s\n", strerror(-err));
	else if (report.hidden && geteuid())
		say("jitbpf: run it with sudo to see everything\n");
	return err ? 1 : report.missing ? EXIT_UNSUPPORTED : 0;
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct doctor_options values = {0};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc) {
		say("jitbpf doctor: unexpected operand '%s'\n", argv[operand]);
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK)
		status = examine(values.json);
	options_release(spec, &values);
	return status;
}

const struct command_spec command_doctor = {
	.name = "doctor",
	.usage = "[options]",
	.summary = "show what this machine offers to a recording, and what to do where it does not",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

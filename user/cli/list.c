/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf list: the processes with JIT code, and how they publish it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/publisher/engine_list.h"
#include "agent/kernel/process_scan.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "engines/engines.h"
#include "sink/write/json.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define COMM_COLUMNS   16
#define ENGINE_COLUMNS 24

struct list_options {
	pid_list pids;
	bool json;
};

#define FIELD(name) offsetof(struct list_options, name)

static const struct option_spec options[] = {
	{'p', "pid", OPTION_PIDS, FIELD(pids), "PID[,PID...]", "only these processes", 0, 0,
	 .candidates = CANDIDATES_PROCESSES},
	{0, "json", OPTION_FLAG, FIELD(json), NULL, "write JSON", 0, 0},
};

static const struct {
	const char *key, *words;
} ways[ENGINE_PUBLISHES_COUNT] = {
	[ENGINE_JOURNAL] = {"journal", "shim, with a journal"},
	[ENGINE_UNREADABLE] = {"unreadable_journal", "shim, but its journal cannot be read"},
	[ENGINE_OTHER_VERSION] = {"other_version",
				  "shim of another version of jitbpf: start the process anew"},
	[ENGINE_SHIM] = {"shim", "shim, no journal or no events yet"},
	[ENGINE_AGENT_JOURNAL] = {"agent_journal", "agent for Java"},
	[ENGINE_AGENT_UNREADABLE] = {"unreadable_agent_journal",
				     "agent for Java, but its journal cannot be read"},
	[ENGINE_AGENT_OTHER_VERSION] = {"other_agent_version",
					"agent for Java of another version of jitbpf: start the "
					"process anew"},
	[ENGINE_AGENT] = {"agent", "agent for Java, no journal or no events yet"},
	[ENGINE_JITDUMP] = {"jitdump", "jitdump"},
	[ENGINE_PERF_MAP] = {"perf_map", "perf map (not supported yet)"},
	[ENGINE_NOTHING] = {"nothing", "nothing"},
};

static void write_row(struct json *json, const struct engine_list *list,
		      const struct engine_row *row)
{
	json_begin(json, '{');
	json_member_number(json, "pid", row->pid);
	if (row->inner_pid != row->pid)
		json_member_number(json, "pid_inside", row->inner_pid);
	json_member_string(json, "comm", string_pool_get(list->strings, row->comm));
	json_member_string(json, "publishes", ways[row->publishes].key);
	if (row->engine)
		json_member_string(json, "engine", string_pool_get(list->strings, row->engine));
	if (row->counted) {
		json_member_number(json, "methods", row->methods);
		json_member_number(json, "code_bytes", row->bytes);
	}
	if (row->publishes == ENGINE_NOTHING)
		json_member_number(json, "executable_bytes", row->bytes);
	json_end(json, '}');
}

static int write_json(const struct engine_list *list)
{
	struct json json = json_of(stdout, true);

	json_begin(&json, '{');
	json_member_number(&json, "version", 1);
	json_key(&json, "engines");
	json_begin(&json, '[');
	vec_for_each (row, &list->rows)
		write_row(&json, list, row);
	json_end(&json, ']');
	json_member_number(&json, "processes_hidden", list->hidden);
	json_end(&json, '}');
	return out_flush(stdout);
}

static const struct engine *engine_of_row(const struct engine_list *list,
					  const struct engine_row *row)
{
	return engine_of_process(string_pool_get(list->strings, row->comm));
}

/* Perf maps are not read. */
static bool needs_advice(const struct engine_row *row)
{
	return row->publishes == ENGINE_NOTHING || row->publishes == ENGINE_PERF_MAP;
}

static void put_column(struct text *text, const char *name, uint32_t columns)
{
	uint32_t taken = text_put_name_cut(text, *name ? name : "-", columns);

	text_printf(text, "%*s", (int)(columns - taken), "");
}

static void put_row(struct text *text, const struct engine_list *list, const struct engine_row *row)
{
	const struct engine *engine = engine_of_row(list, row);
	char inside[16] = "";

	if (row->inner_pid != row->pid)
		snprintf(inside, sizeof(inside), " (%u)", row->inner_pid);
	text_printf(text, "%10u%-11s  ", row->pid, inside);
	put_column(text, string_pool_get(list->strings, row->comm), COMM_COLUMNS);
	text_put_string(text, "  ");
	put_column(text,
		   row->engine || !engine ? string_pool_get(list->strings, row->engine)
					  : engine->name,
		   ENGINE_COLUMNS);
	if (row->counted)
		text_put_number(text, row->methods, 10);
	else
		text_printf(text, "%10s", "-");
	if (row->counted || row->publishes == ENGINE_NOTHING)
		text_put_bytes(text, row->bytes, 11);
	else
		text_printf(text, "%11s", "-");
	text_printf(text, "  %s\n", ways[row->publishes].words);
}

/* Returns true if an earlier row of an unpublished process has the same engine. */
static bool was_advised(const struct engine_list *list, const struct engine_row *before,
			const struct engine *engine)
{
	for (const struct engine_row *row = list->rows.data; row < before; row++) {
		if (needs_advice(row) && engine_of_row(list, row) == engine)
			return true;
	}
	return false;
}

/* Say once for each engine how its code is published. */
static void advise(const struct engine_list *list)
{
	fprintf(stderr, "jitbpf: code that is not published is shown as [unknown]\n");
	vec_for_each (row, &list->rows) {
		const struct engine *engine = engine_of_row(list, row);

		if (!needs_advice(row) || was_advised(list, row, engine))
			continue;
		if (!engine)
			fprintf(stderr, "jitbpf: " ENGINE_ADVICE_OTHERS "\n");
		else
			fprintf(stderr, "jitbpf: %s: %s\n", engine->name, engine->advice(""));
	}
}

static int write_table(const struct engine_list *list)
{
	CLEANUP(text_deinit) struct text text = {0};
	size_t silent = 0;
	int err;

	if (list->rows.size)
		text_printf(&text, "%10s%-11s  %-*s  %-*s%10s%11s  %s\n", "PID", " (INSIDE)",
			    COMM_COLUMNS, "PROCESS", ENGINE_COLUMNS, "ENGINE", "METHODS", "CODE",
			    "PUBLISHES");
	vec_for_each (row, &list->rows) {
		put_row(&text, list, row);
		silent += needs_advice(row);
	}
	err = text_write(&text, stdout);
	err = err ?: out_flush(stdout);
	if (silent)
		advise(list);
	if (list->hidden)
		fprintf(stderr, "jitbpf: %llu process%s could not be inspected\n",
			(unsigned long long)list->hidden, list->hidden == 1 ? "" : "es");
	if (!list->rows.size)
		fprintf(stderr, "jitbpf: no JIT code found\n");
	return err;
}

static int add_given(struct engine_list *list, const pid_list *pids)
{
	int err = 0;

	vec_for_each (pid, pids) {
		uint32_t leader = process_scan_leader(*pid);

		if (leader != *pid) {
			fprintf(stderr,
				leader ? "jitbpf: %u is a thread of process %u: use that pid\n"
				       : "jitbpf: process %u does not exist\n",
				*pid, leader);
			return -ESRCH;
		}
		err = err ?: engine_list_add(list, *pid);
	}
	return err;
}

static int list(const struct list_options *values)
{
	CLEANUP(engine_list_deinit) struct engine_list found = {0};
	int err = engine_list_init(&found);

	if (!err && values->pids.size)
		err = add_given(&found, &values->pids);
	else if (!err)
		err = engine_list_add_all(&found);
	if (err == -ESRCH)
		return 1; /* a message was printed */
	err = err ?: values->json ? write_json(&found) : write_table(&found);
	if (err)
		fprintf(stderr, "jitbpf list: %s\n", strerror(-err));
	return err ? 1 : 0;
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct list_options values = {0};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc) {
		fprintf(stderr, "jitbpf list: unexpected operand '%s': select processes with -p\n",
			argv[operand]);
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK)
		status = list(&values);
	options_release(spec, &values);
	return status;
}

const struct command_spec command_list = {
	.name = "list",
	.usage = "[options]",
	.summary = "list the processes with JIT code, and how they publish it",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

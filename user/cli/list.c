/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitbpf list: the processes with JIT code, and how they publish it, and those with a runtime whose
 * functions are shown.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_service.h"
#include "agent/kernel/proc/process_scan.h"
#include "agent/publisher/engine_list.h"
#include "agent/readers/reader_service.h"
#include "agent/readers/functions_check.h"
#include "base/scope.h"
#include "cli/choose.h"
#include "cli/commands.h"
#include "cli/list_cgroup.h"
#include "cli/list_functions.h"
#include "cli/list_ways.h"
#include "engines/engines.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "sink/engine_advice.h"
#include "sink/write/json.h"
#include "sink/write/out.h"
#include "sink/write/text_table.h"

struct list_options {
	string_list processes;
	bool json;
};

#define FIELD(name) offsetof(struct list_options, name)

static const struct option_spec options[] = {
	{'p', "pid", OPTION_STRINGS, FIELD(processes), "PID|NAME[,...]",
	 "only these processes, or those of these names (a name is that of the process or of its "
	 "program file)",
	 0, 0, .candidates = CANDIDATES_NAMES},
	{0, "json", OPTION_FLAG, FIELD(json), NULL, "write JSON", 0, 0},
};

static void write_name(struct json *json, const char *key, const char *name)
{
	if (*name)
		json_member_string(json, key, name);
}

static void write_cgroup(struct json *json, uint32_t pid)
{
	struct list_cgroup cgroup;

	list_cgroup_read(pid, &cgroup);
	write_name(json, "container", cgroup.container);
	write_name(json, "unit", cgroup.unit);
	write_name(json, "cgroup", cgroup.path);
}

static void write_row(struct json *json, const struct engine_list *list,
		      const struct engine_row *row)
{
	json_begin(json, '{');
	json_member_number(json, "pid", row->pid);
	if (row->inner_pid != row->pid)
		json_member_number(json, "pid_inside", row->inner_pid);
	json_member_string(json, "comm", string_pool_get(list->strings, row->comm));
	list_functions_write(json, &row->runtimes);
	write_cgroup(json, row->pid);
	json_member_string(json, "publishes", list_way_of(row)->key);
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

static bool is_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

static const char *why_hidden(int err)
{
	return is_denied(err)	   ? "not permitted"
	       : err == -ETIMEDOUT ? "no answer in time"
				   : strerror(-err);
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
	json_member_number(&json, "processes_hidden", list->hidden.size);
	json_key(&json, "hidden");
	json_begin(&json, '[');
	vec_for_each (hidden, &list->hidden) {
		json_begin(&json, '{');
		json_member_number(&json, "pid", hidden->pid);
		json_member_string(&json, "why", why_hidden(hidden->err));
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	return out_flush(stdout);
}

/* Returns the first runtime of a process that has advice about its code; or its first; or none. */
static struct engine_file runtime_of_row(const struct engine_row *row)
{
	struct engine_file first = {0};

	for (uint32_t i = 0; i < row->runtimes.count; i++) {
		struct engine_file runtime =
			engine_of_runtime_number(row->runtimes.runtimes[i].number);

		if (runtime.engine->advice)
			return runtime;
		if (!i)
			first = runtime;
	}
	return first;
}

/* Perf maps are not read. */
static bool needs_advice(const struct engine_row *row)
{
	return row->publishes == ENGINE_NOTHING || row->publishes == ENGINE_PERF_MAP;
}

static void add_row(struct text_table *table, const struct engine_list *list,
		    const struct engine_row *row)
{
	const struct engine *engine = runtime_of_row(row).engine;
	const char *name =
		row->engine || !engine ? string_pool_get(list->strings, row->engine) : engine->name;
	struct list_cgroup cgroup;

	text_table_printf(table, "%u", row->pid);
	if (row->inner_pid != row->pid)
		text_table_printf(table, "(%u)", row->inner_pid);
	else
		text_table_add(table, "");
	text_table_add(table, string_pool_get(list->strings, row->comm));
	text_table_add(table, *name ? name : "-");
	text_table_add_number(table, row->counted ? row->methods : 0);
	text_table_add_bytes(table,
			     row->counted || row->publishes == ENGINE_NOTHING ? row->bytes : 0);
	list_cgroup_read(row->pid, &cgroup);
	text_table_add(table, list_cgroup_text(&cgroup));
	list_functions_add(table, row);
	text_table_add(table, list_way_of(row)->words);
}

/* Returns the engine whose advice a row gets; NULL: the general advice. */
static const struct engine *adviser_of_row(const struct engine_row *row)
{
	const struct engine *engine = runtime_of_row(row).engine;

	return engine && engine->advice ? engine : NULL;
}

/* Returns true if an earlier row of an unpublished process got that advice. */
static bool was_advised(const struct engine_list *list, const struct engine_row *before,
			const struct engine *engine)
{
	for (const struct engine_row *row = list->rows.data; row < before; row++) {
		if (needs_advice(row) && adviser_of_row(row) == engine)
			return true;
	}
	return false;
}

/* Say once for each engine how its code is published. */
static void advise(const struct engine_list *list)
{
	say("jitbpf: code that is not published is shown as [unknown]\n");
	vec_for_each (row, &list->rows) {
		const struct engine *engine = adviser_of_row(row);
		struct engine_version version = runtime_of_row(row).version;

		if (!needs_advice(row) || was_advised(list, row, engine))
			continue;
		if (!engine)
			say("jitbpf: " ENGINE_ADVICE_OTHERS "\n");
		else
			say("jitbpf: %s: %s\n", engine->name, engine->advice("", &version));
	}
}

/* Print the consequence of each way of publishing, once. */
static void say_ways(const struct engine_list *list)
{
	bool said[ENGINE_PUBLISHES_COUNT] = {false};

	vec_for_each (row, &list->rows) {
		const struct list_way *way = list_way_of(row);

		if (way->next && !said[row->publishes])
			say("jitbpf: %s: %s\n", way->words, way->next);
		said[row->publishes] = true;
	}
}

static void say_hidden(const struct engine_list *list, bool given)
{
	size_t denied = 0, silent = 0;
	uint32_t example = 0;

	vec_for_each (hidden, &list->hidden) {
		denied += is_denied(hidden->err);
		example = example ?: is_denied(hidden->err) ? hidden->pid : 0;
		silent += !is_denied(hidden->err);
		if (given || !is_denied(hidden->err))
			say("jitbpf: process %u could not be inspected: %s\n", hidden->pid,
			    why_hidden(hidden->err));
	}
	if (denied && !geteuid())
		say("jitbpf: %zu process%s could not be inspected, such as %u: a container or "
		    "a security module does not permit it even to root\n",
		    denied, denied == 1 ? "" : "es", example);
	else if (denied)
		say("jitbpf: %zu process%s of other users, or with more rights, could not be "
		    "inspected: use sudo to see %s\n",
		    denied, denied == 1 ? "" : "es", denied == 1 ? "it" : "them");
	if (silent)
		say("jitbpf: check whether %s, and try again\n",
		    silent == 1 ? "it hangs" : "they hang");
}

static int write_table(const struct engine_list *list, bool given)
{
	static const struct text_column columns[] = {
		{"PID", false},
		{"INSIDE", false},
		{"PROCESS", true},
		{"ENGINE", true},
		{"METHODS", false},
		{"CODE", false},
		{"CONTAINER OR UNIT", true},
		{"FUNCTIONS", true},
		{"PUBLISHES", true},
	};
	CLEANUP(text_table_deinit)
	struct text_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};
	CLEANUP(text_deinit) struct text text = {0};
	size_t silent = 0;
	int err;

	vec_for_each (row, &list->rows) {
		add_row(&table, list, row);
		silent += needs_advice(row);
	}
	if (list->rows.size)
		text_table_put(&table, &text, terminal_columns(STDOUT_FILENO),
			       terminal_has_colours(STDOUT_FILENO, VIEW_COLOR_AUTO));
	err = text_write(&text, stdout);
	err = err ?: out_flush(stdout);
	say_ways(list);
	list_functions_advise(list);
	if (silent)
		advise(list);
	if (!list->rows.size && (!given || !list->hidden.size))
		say("jitbpf: no JIT code found, and no runtime whose functions are shown%s\n",
		    list->hidden.size ? " in the processes that could be inspected" : "");
	say_hidden(list, given);
	return err;
}

/*
 * Returns the exit status: 1 if processes could not be read, and EXIT_UNSUPPORTED if more rights
 * are needed for that.
 */
static int status_of(const struct engine_list *list)
{
	int status = 0;

	vec_for_each (hidden, &list->hidden) {
		if (!is_denied(hidden->err))
			status = 1;
		else if (geteuid())
			return EXIT_UNSUPPORTED;
	}
	return status;
}

static int add_given(struct engine_list *list, const pid_list *pids)
{
	int err = 0;

	vec_for_each (pid, pids) {
		uint32_t leader = process_scan_leader(*pid);

		if (leader != *pid) {
			say(leader ? "jitbpf: %u is a thread of process %u: use that pid\n"
				   : "jitbpf: process %u does not exist\n",
			    *pid, leader);
			return -ESRCH;
		}
		err = err ?: engine_list_add(list, *pid);
	}
	return err;
}

static int check_runtime(void *check, uint32_t pid, uint64_t *ret_number)
{
	return functions_check_process(check, pid, ret_number);
}

static void end_broker(struct broker *broker)
{
	(void)broker_stop(broker);
}

static int list(const struct list_options *values, const pid_list *pids)
{
	static const role_fn roles[ROLE_COUNT] = {
		[ROLE_OPENER] = file_service_run,
		[ROLE_USER_OPENER] = file_service_run,
		[ROLE_READER] = reader_service_run,
	};
	CLEANUP(end_broker) struct broker broker = {.socket = -1};
	CLEANUP(functions_check_end) struct functions_check check = functions_check_of(&broker);
	CLEANUP(engine_list_deinit) struct engine_list found = {0};
	const struct engine_checker checker = {check_runtime, &check};
	int err = broker_start(roles, &broker);

	err = err ?: engine_list_init(&broker, &checker, &found);

	if (!err && values->processes.size)
		err = add_given(&found, pids);
	else if (!err)
		err = engine_list_add_all(&found);
	if (err == -ESRCH)
		return 1; /* a message was printed */
	err = err
		      ?: values->json ? write_json(&found)
				      : write_table(&found, values->processes.size != 0);
	if (err)
		say("jitbpf list: %s\n", strerror(-err));
	return err ? 1 : status_of(&found);
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct list_options values = {0};
	pid_list pids = {0};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc) {
		say("jitbpf list: unexpected operand '%s': select processes with -p\n",
		    argv[operand]);
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK)
		status = choice_find_running(&values.processes, &pids);
	if (status == OPTIONS_OK && values.processes.size && !pids.size)
		status = EXIT_FAILURE; /* a message was printed */
	if (status == OPTIONS_OK)
		status = list(&values, &pids);
	vec_deinit(&pids);
	options_release(spec, &values);
	return status;
}

const struct command_spec command_list = {
	.name = "list",
	.usage = "[options]",
	.summary =
		"list the processes with JIT code, and how they publish it, or with functions of runtimes",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_ledger.h"

#include "base/scope.h"
#include "sink/ledger_rows.h"
#include "tests/unit/cases.h"

CASE(every_sample_is_accounted_for)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_full_ledger(&m);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(
		text, "2.5 s of cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0\n"
		      "engine --fast\n"
		      "\n"
		      "samples taken                        1,238\n"
		      "  resolved                           1,203   97.2 %\n"
		      "  [unknown] code                         3    0.2 %\n"
		      "  stack cut                             31    2.5 %\n"
		      "                                        21  bad frame pointer\n"
		      "                                        10  deeper than 1,024 frames\n"
		      "  lost                                   1    0.1 %\n"
		      "                                         1  sample ring full\n"
		      "frame pointers assumed                 124   10.0 %\n"
		      "throttled                          0.500 s  in 3 intervals\n"
		      "JIT methods                          9,000  1.2 MB of code, 1 unload\n"
		      "to look into\n"
		      "             7  JIT: events missing: gaps in the sequence numbers\n"
		      "                next: use a larger --code-ring\n"
		      "             2  records that could not be read\n"
		      "                next: use the version of jitbpf that made the recording; "
		      "report it if it is this one\n"
		      "             1  samples lost: sample ring full\n"
		      "                next: use a larger --sample-ring, or fewer samples with "
		      "-F\n"
		      "         1,240  samples counted by the BPF program\n"
		      "'jitbpf explain TERM' says what each of these means\n"
		      "\n"
		      "SHARE  SAMPLES  RESOLVED  METHODS  JIT CODE  PROCESSES  COMMAND\n"
		      "99.7%    1,234     97.2%    9,000    1.2 MB          1  engine\n"
		      " 0.2%        2     50.0%                             1  small\n"
		      " 0.2%        2    100.0%                             1  tiny\n");
}

CASE(a_clean_run_is_short)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.command = "";
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(text, "2.5 s of cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0\n"
				  "the whole system\n"
				  "\n"
				  "samples taken                            0\n");
}

/* A compilation: the samples of 250 processes are in one row, which is the first one. */
CASE(processes_of_a_command_are_one_row)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 7, "make", 100, 0, 0, 0);
	for (uint32_t i = 0; i < 250; i++)
		made_process(&m, 100 + i, "cc1", 2, 0, 2, 0);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(strstr(text, "SHARE"), "SHARE  SAMPLES  RESOLVED  PROCESSES  COMMAND\n"
						   "90.9%    1,000     50.0%        250  cc1\n"
						   " 9.1%      100    100.0%          1  make\n");
}

CASE(twenty_rows_and_how_many_more)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.view.options.by = VIEW_BY_PID;
	for (uint32_t i = 0; i < 25; i++)
		made_process(&m, 100 + i, "worker", 2, 0, 0, 0);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, " 4.0%        2    100.0%  119  worker\n"
				     "and 5 more, with 10 samples\n"));
	assert_null(strstr(text, " 120  worker"));
}

CASE(a_process_with_code_and_no_samples_is_shown)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 77, "quiet", 0, 0, 0, 0);
	m.ledger.processes.data[0].jit.methods = 5;
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(strstr(text, "METHODS"), "METHODS  PROCESSES  COMMAND\n"
						     "      5          1  quiet\n");
}

static uint32_t add_thread(struct made_view *m, uint32_t process, uint32_t tid, uint32_t location)
{
	uint32_t node = made_stack(m, process, "web", 3, STACK(location));

	for (int i = 0; i < 3; i++)
		made_count(m, &(struct sink_sample){.pid = 50,
						    .tid = tid,
						    .comm = made_string(m, "web"),
						    .node = node});
	return node;
}

/* Two of three stacks end in a function with a name; one ends in a file. */
CASE(samples_with_names_are_counted)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t jit, file, kernel;

	made_init(&m);
	jit = made_named(&m, LOCATION_JIT, 1, "f", "[jit]");
	kernel = made_named(&m, LOCATION_KERNEL, 1, "read", "[kernel.kallsyms]");
	file = made_named(&m, LOCATION_NATIVE, 1, "", "/lib/libx.so");
	made_process(&m, 50, "web", 9, 0, 0, 1);
	add_thread(&m, 0, 50, jit);
	add_thread(&m, 0, 51, file);
	made_stack(&m, 0, "web", 3, STACK(kernel, file));
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, "named                                    6   66.7 %\n"));
	assert_non_null(strstr(text, "\n100.0%       10  66.7%     90.0%          1  web\n"));
	AUTO_FREE char *json = made_output(&m, &sink_summary_json);
	assert_non_null(strstr(json, "\"named\": 6\n\t},\n\t\"jit\""));
	m.view.options.kernel = VIEW_KERNEL_HIDDEN;
	AUTO_FREE char *user = made_output(&m, &sink_summary);
	assert_non_null(strstr(user, "named                                    3   33.3 %\n"));
	m.view.options.by = VIEW_BY_TID;
	AUTO_FREE char *threads = made_output(&m, &sink_summary);
	assert_string_equal(strstr(threads, "SHARE"), "SHARE  SAMPLES   NAMED  PID  TID  THREAD\n"
						      "50.0%        3  100.0%   50   50  web\n"
						      "50.0%        3    0.0%   50   51  web\n");
}

/* A command in two containers is two rows; a command outside of containers has an empty cell. */
CASE(containers_have_rows)
{
	CLEANUP(made_deinit) struct made_view m;
	struct ledger_process *rows;

	made_init(&m);
	for (uint32_t i = 0; i < 5; i++)
		made_process(&m, 60 + i, i == 4 ? "cron" : "php", 10 - i, 0, 0, 0);
	rows = m.ledger.processes.data;
	rows[0].container = rows[1].container = made_string(&m, "web-1");
	rows[2].container = made_string(&m, "web-2");
	rows[3].unit = made_string(&m, "/");
	rows[4].unit = made_string(&m, "cron\x1b.service");
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(strstr(text, "SHARE"),
			    "SHARE  SAMPLES  RESOLVED  PROCESSES  COMMAND  CONTAINER OR UNIT\n"
			    "47.5%       19    100.0%          2  php      web-1\n"
			    "20.0%        8    100.0%          1  php      web-2\n"
			    "17.5%        7    100.0%          1  php      \n"
			    "15.0%        6    100.0%          1  cron     cron?.service\n");
	m.view.options.by = VIEW_BY_CONTAINER;
	AUTO_FREE char *containers = made_output(&m, &sink_summary);
	assert_string_equal(strstr(containers, "SHARE"),
			    "SHARE  SAMPLES  RESOLVED  PROCESSES  CONTAINER OR UNIT\n"
			    "47.5%       19    100.0%          2  web-1\n"
			    "20.0%        8    100.0%          1  web-2\n"
			    "17.5%        7    100.0%          1  host\n"
			    "15.0%        6    100.0%          1  cron?.service\n");
	AUTO_FREE char *json = made_output(&m, &sink_summary_json);
	assert_non_null(strstr(json, "\"comm\": \"php\",\n\t\t\t\"container\": \"web-2\""));
	assert_non_null(strstr(json, "\"cgroup\": \"/\""));
	assert_non_null(strstr(json, "\"unit\": \"cron\\u001b.service\""));
}

/* The longest texts and numbers. */
static void check_fits(uint32_t limit)
{
	CLEANUP(made_deinit) struct made_view m;
	size_t widest = 0;

	made_init(&m);
	made_full_ledger(&m);
	m.view.options.columns = limit;
	m.view.options.by = VIEW_BY_PID;
	m.info.command =
		"a command with a lot of words in it, more than a terminal has columns for";
	made_process(&m, 4194303, "fifteen letters", 5, 12345678, 0, 0);
	m.ledger.processes.data[4].inner_pid = 4194302;
	m.ledger.processes.data[2].jit.methods = 12345678;
	for (int i = 0; i < JITBPF_COUNTER_MAX; i++)
		m.ledger.counters[i] = 1;
	for (int i = 0; i < LEDGER_JIT_COUNT; i++)
		*(uint64_t *)((char *)&m.ledger.jit + ledger_jit[i].offset) = 123456789;
	for (int i = 0; i < LEDGER_MEMORY_COUNT; i++)
		m.ledger.owners[i][0] = (struct ledger_owner){4294967294, 123456789, 12};
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t columns = strcspn(line, "\n");

		widest = columns > widest ? columns : widest;
	}
	assert_in_range(widest, limit - 20, limit);
	assert_non_null(strstr(text, limit < 60 ? "\n           "
						: "\n                ")); /* behind the numbers */
	assert_non_null(strstr(text, "SHARE"));
	assert_non_null(strstr(text, "  PID"));
}

CASE(all_fits_80_columns)
{
	check_fits(80);
}

CASE(all_fits_40_columns)
{
	check_fits(40);
}

CASE(colours_only_where_they_are_allowed)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_full_ledger(&m);
	AUTO_FREE char *plain = made_output(&m, &sink_summary);
	assert_null(strchr(plain, '\x1b'));
	m.view.options.colours = true;
	AUTO_FREE char *coloured = made_output(&m, &sink_summary);
	assert_non_null(strstr(coloured, "\x1b[31m  lost "));
	assert_non_null(strstr(coloured, "\x1b[1mto look into\n\x1b[m"));
	assert_non_null(strstr(coloured, "\x1b[1mSHARE "));
}

CASE(unpublished_code_is_worth_a_word_where_it_is_much)
{
	CLEANUP(made_deinit) struct made_view m;
	const char *words = "            10  samples in [unknown] code that no engine published: "
			    "some need an option, see 'jitbpf env'\n";

	made_init(&m);
	made_process(&m, 1, "silent", 90, 10, 0, 0);
	AUTO_FREE char *much = made_output(&m, &sink_summary);
	assert_non_null(strstr(much, words));
	made_process(&m, 2, "other", 10, 0, 0, 0);
	AUTO_FREE char *little = made_output(&m, &sink_summary);
	assert_null(strstr(little, "no engine published"));
	made_process(&m, 3, "speaks", 0, 100, 0, 0);
	m.ledger.processes.data[2].jit.methods = 1;
	AUTO_FREE char *spoken = made_output(&m, &sink_summary);
	assert_null(strstr(spoken, "no engine published"));
}

CASE(stacks_that_are_cut_in_unpublished_code_are_as_well)
{
	const struct sample_outcome cut = {
		.fate = FATE_STACK_CUT, .cut = JITBPF_END_NO_RULE, .code_unpublished = true};
	const struct sample_outcome whole = {.fate = FATE_RESOLVED, .code_unpublished = true};
	CLEANUP(made_deinit) struct made_view m;
	struct ledger_process *process;

	made_init(&m);
	made_process(&m, 1, "silent", 10, 0, 0, 0);
	process = &m.ledger.processes.data[0];
	for (int i = 0; i < 30; i++) {
		sample_fates_count(&process->samples, i % 3 ? &cut : &whole);
		sample_fates_count(&m.ledger.samples, i % 3 ? &cut : &whole);
	}
	assert_int_equal(process->samples.cut_unpublished, 20);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, "20  samples in [unknown] code that no engine published: "));
}

CASE(totals_that_lack_samples_are_worth_a_word)
{
	struct hidden_totals hidden = {.unknown = 12};
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 1, "many", 100, 0, 0, 0);
	m.view.hidden = &hidden;
	AUTO_FREE char *some = made_output(&m, &sink_summary);
	assert_non_null(strstr(some, "12  missing in the TOTAL of some of their functions"));
	hidden.unknown = 0;
	AUTO_FREE char *none = made_output(&m, &sink_summary);
	assert_null(strstr(none, "TOTAL"));
}

/* The advice names the engine, and does not repeat what the command has tried. */
CASE(unpublished_code_of_a_known_engine)
{
	static const struct {
		const char *path, *command, *words;
	} cases[] = {
		{"/bin/node", "node x.js",
		 "published: V8: functions of Node.js 18 to 24 need no option; --perf-prof"},
		{"/bin/node", "node --perf-basic-prof x.js",
		 "V8: --perf-basic-prof writes a perf map"},
		{"/bin/php8.2", "php8.2 -n x.php", "PHP: with -n, PHP does not read"},
		{"/bin/php8.2", "",
		 "PHP: start it with the variables of 'jitbpf env'; PCRE's own JIT publishes"},
		{"/bin/php8.2", "process 1, 2", "PHP: start it with the variables of 'jitbpf env'"},
		{"/bin/php8.2", "", "-d pcre.jit=0"},
		{"/bin/php8.4", "", "PHP: start it with -d opcache.jit_debug=32; PCRE"},
		{"/bin/php", "", "PHP 8.4 or newer: with -d opcache.jit_debug=32; PCRE"},
		{"/x/libjvm.so", "java X",
		 "Java: a JVM publishes its code with our agent: 'record' loads it"},
		{"/x/libjvm.so", "java -agentpath:/x/libjitbpf-jvmti.so X",
		 "although it has the agent\n"},
		{"/bin/python3.11", "",
		 "published: start it with the variables or options of 'jitbpf env'\n"},
		{"/bin/dash", "x", "published: some need an option, see 'jitbpf env'\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(made_deinit) struct made_view m;

		made_init(&m);
		m.info.command = cases[i].command;
		/* The name of a process says nothing. */
		made_process(&m, 1, "node", 0, 3, 0, 0);
		made_process(&m, 2, "java", 0, 50, 0, 0);
		made_runs(&m, "/bin/python3.11", 0);
		made_runs(&m, cases[i].path, 1);
		AUTO_FREE char *text = made_output(&m, &sink_summary);
		if (!strstr(text, cases[i].words))
			fail_msg("%s\nis not in\n%s", cases[i].words, text);
	}
}

CASE(a_command_without_its_jit)
{
	CLEANUP(made_deinit) struct made_view m;
	const char *words = "(PHP's JIT is off: -d opcache.enable_cli=1";

	made_init(&m);
	m.info.command = "php x.php";
	made_process(&m, 1, "x.php", 90, 0, 0, 0);
	AUTO_FREE char *other = made_output(&m, &sink_summary);
	assert_null(strstr(other, words));
	made_runs(&m, "/usr/bin/php8.2", 0);
	AUTO_FREE char *off = made_output(&m, &sink_summary);
	assert_non_null(strstr(off, words));
	m.info.command = "";
	AUTO_FREE char *attached = made_output(&m, &sink_summary);
	assert_null(strstr(attached, words));
	m.info.command = "php x.php";
	m.ledger.jit.methods = 1;
	AUTO_FREE char *on = made_output(&m, &sink_summary);
	assert_null(strstr(on, words));
}

/* The column exists only if some process has another pid inside a container. */
CASE(the_pid_inside_a_container_stands_beside)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 4711, "outside", 2, 0, 0, 0);
	made_process(&m, 4712, "inside", 1, 0, 0, 0);
	m.ledger.processes.data[1].inner_pid = 7;
	m.view.options.by = VIEW_BY_PID;
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(strstr(text, "SHARE"),
			    "SHARE  SAMPLES  RESOLVED   PID  INSIDE  PROCESS\n"
			    "66.7%        2    100.0%  4711          outside\n"
			    "33.3%        1    100.0%  4712     (7)  inside\n");
	AUTO_FREE char *json = made_output(&m, &sink_summary_json);
	assert_non_null(strstr(json, "\"pid\": 4712,\n\t\t\t\"pid_inside\": 7,"));
	assert_non_null(strstr(json, "\"pid\": 4711,\n\t\t\t\"comm\""));
}

CASE(no_name_reaches_the_terminal_raw)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.command = m.info.host = m.info.kernel = m.info.event = "e\x1b[2J\xc2\x9b\r\n";
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++)
		made_process(&m, i, made_nasty_names[i], 1, 0, 0, 0);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	int lines = 0;

	for (char *c = text; *c; c++) {
		assert_true((uint8_t)*c >= 0x20 || *c == '\n');
		assert_true((uint8_t)*c != 0x7f && (uint8_t)*c != 0xff);
		lines += *c == '\n';
	}
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_int_equal(lines, 5 + 2 + MADE_NASTY_COUNT);
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_check_full_disk(&m, &sink_summary);
	made_check_full_disk(&m, &sink_summary_json);
	made_check_full_disk(&m, &sink_html);
}

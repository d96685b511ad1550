/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_ledger.h"

#include "base/scope.h"

static void every_sample_is_accounted_for(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_full_ledger(&m);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(
		text,
		"2.5 s of cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0\n"
		"engine --fast\n"
		"\n"
		"samples taken                        1,238\n"
		"  resolved                           1,203   97.2 %\n"
		"  [unknown] code                         3    0.2 %\n"
		"  stack cut                             31    2.5 %  (21 bad frame pointer, 10 deeper than 1,024 frames)\n"
		"  lost                                   1    0.1 %  (1 sample ring full)\n"
		"frame pointers assumed                 124   10.0 %\n"
		"throttled                          0.500 s  in 3 intervals\n"
		"JIT methods                          9,000  1.2 MB of code, 1 unload\n"
		"to look into\n"
		"             7  JIT: events missing: gaps in the sequence numbers\n"
		"             2  records that could not be read\n"
		"             1  samples lost: sample ring full\n"
		"         1,240  samples counted by the BPF program\n"
		"\n"
		"       PID  PROCESS             SAMPLES   RESOLVED    UNKNOWN        CUT       LOST  JIT METH.   JIT CODE\n"
		"        20  engine                1,234      1,200          3         30          1      9,000     1.2 MB\n"
		"        10  tiny                      2          2          0          0          0          0        0 B\n"
		"        30  small                     2          1          0          1          0          0        0 B\n");
}

static void a_clean_run_is_short(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.command = "";
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_string_equal(text, "2.5 s of cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0\n"
				  "the whole system\n"
				  "\n"
				  "samples taken                            0\n"
				  "  resolved                               0    0.0 %\n"
				  "  [unknown] code                         0    0.0 %\n"
				  "  stack cut                              0    0.0 %\n"
				  "  lost                                   0    0.0 %\n"
				  "JIT methods                              0\n");
}

static void twenty_processes_and_how_many_more(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	for (uint32_t i = 0; i < 25; i++)
		made_process(&m, 100 + i, "worker", 1, 0, 0, 0);
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, "\n       119  worker"));
	assert_null(strstr(text, "\n       120  worker"));
	assert_non_null(strstr(text, "  and 5 more\n"));
}

static void a_process_with_code_and_no_samples_is_shown(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 77, "quiet", 0, 0, 0, 0);
	m.ledger.processes.data[0].jit.methods = 5;
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, "        77  quiet"));
}

static void unpublished_code_is_worth_a_word_where_it_is_much(void **state)
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

/* The advice names the engine, and does not repeat what the command has tried. */
static void unpublished_code_of_a_known_engine(void **state)
{
	static const struct {
		const char *comm, *command, *words;
	} cases[] = {
		{"node", "node x.js", "published: V8: start Node.js with --perf-prof\n"},
		{"node", "node --perf-basic-prof x.js", "V8: --perf-basic-prof writes a perf map"},
		{"php8.2", "php8.2 -n x.php", "PHP: with -n, PHP does not read"},
		{"php8.2", "", "PHP: start it with the variables of 'jitbpf env'"},
		{"php8.2", "process 1, 2", "PHP: start it with the variables of 'jitbpf env'"},
		{"java", "java X",
		 "Java: a JVM publishes its code with our agent, which 'record -p PID'"},
		{"java", "java -agentpath:/x/libjitbpf-jvmti.so X", "although it has the agent\n"},
		{"python", "", "start it with the variables or options of 'jitbpf env'\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(made_deinit) struct made_view m;

		made_init(&m);
		m.info.command = cases[i].command;
		made_process(&m, 1, "quiet", 0, 3, 0, 0);
		made_process(&m, 2, cases[i].comm, 0, 50, 0, 0);
		AUTO_FREE char *text = made_output(&m, &sink_summary);
		if (!strstr(text, cases[i].words))
			fail_msg("%s\nis not in\n%s", cases[i].words, text);
	}
}

static void a_command_without_its_jit(void **state)
{
	CLEANUP(made_deinit) struct made_view m;
	const char *words = "(PHP's JIT is off: -d opcache.enable_cli=1";

	made_init(&m);
	m.info.command = "php x.php";
	made_process(&m, 1, "php", 90, 0, 0, 0);
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
static void the_pid_inside_a_container_stands_beside(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_process(&m, 4711, "outside", 2, 0, 0, 0);
	made_process(&m, 4712, "inside", 1, 0, 0, 0);
	m.ledger.processes.data[1].inner_pid = 7;
	AUTO_FREE char *text = made_output(&m, &sink_summary);
	assert_non_null(strstr(text, "\n       PID (INSIDE)    PROCESS "));
	assert_non_null(strstr(text, "\n      4711             outside "));
	assert_non_null(strstr(text, "\n      4712 (7)         inside "));
	AUTO_FREE char *json = made_output(&m, &sink_summary_json);
	assert_non_null(strstr(json, "\"pid\": 4712,\n\t\t\t\"pid_inside\": 7,"));
	assert_non_null(strstr(json, "\"pid\": 4711,\n\t\t\t\"comm\""));
}

static void no_name_reaches_the_terminal_raw(void **state)
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
	assert_int_equal(lines, 9 + 2 + MADE_NASTY_COUNT);
}

static void a_full_disk_is_an_error(void **state)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_check_full_disk(&m, &sink_summary);
	made_check_full_disk(&m, &sink_summary_json);
	made_check_full_disk(&m, &sink_html);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_is_accounted_for),
		cmocka_unit_test(a_clean_run_is_short),
		cmocka_unit_test(twenty_processes_and_how_many_more),
		cmocka_unit_test(a_process_with_code_and_no_samples_is_shown),
		cmocka_unit_test(unpublished_code_is_worth_a_word_where_it_is_much),
		cmocka_unit_test(unpublished_code_of_a_known_engine),
		cmocka_unit_test(a_command_without_its_jit),
		cmocka_unit_test(the_pid_inside_a_container_stands_beside),
		cmocka_unit_test(no_name_reaches_the_terminal_raw),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

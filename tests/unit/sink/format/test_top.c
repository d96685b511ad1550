/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "tests/unit/cases.h"

/* A program: main calls work, which calls itself, JIT code and the kernel. */
static void made_program(struct made_view *m)
{
	uint32_t start, main_, run, work, jit, kernel;

	made_init(m);
	start = made_named(m, LOCATION_NATIVE, 1, "_start", "/bin/app");
	run = made_named(m, LOCATION_NATIVE, 5, "run", "/bin/app");
	main_ = made_named(m, LOCATION_NATIVE, 2, "main", "/bin/app");
	work = made_named(m, LOCATION_NATIVE, 3, "work", "/bin/app");
	jit = made_named(m, LOCATION_JIT, 4, "Shop::total", "");
	kernel =
		made_named(m, LOCATION_KERNEL, 0xffffffff81000000, "sys_read", "[kernel.kallsyms]");
	made_stack(m, 0, "app", 60, STACK(jit, work, main_, run, start));
	made_stack(m, 0, "app", 30, STACK(work, work, main_, run, start));
	made_stack(m, 0, "app", 10, STACK(kernel, main_, run, start));
	assert_int_equal(vec_push(&m->ledger.processes, (struct ledger_process){.pid = 7}), 0);
	m->ledger.processes.data[0].comm = made_string(m, "app");
	m->ledger.processes.data[0].samples.fate[FATE_RESOLVED] = 100;
	m->ledger.samples.fate[FATE_RESOLVED] = 100;
}

CASE(recursion_counts_once_and_straight_paths_are_short)
{
	CLEANUP(made_deinit) struct made_view m;

	made_program(&m);
	AUTO_FREE char *text = made_output(&m, &sink_top);
	assert_string_equal(
		text, "2.5 s of cpu-clock at 99 Hz, 2 CPUs, box, Linux 6.18.0\n"
		      "engine --fast\n"
		      "100 samples: 100.0 % resolved; 0 JIT methods\n"
		      "\n"
		      " SHARE  SAMPLES   NAMED  RESOLVED  PROCESSES  COMMAND\n"
		      "100.0%      100  100.0%    100.0%          1  app\n"
		      "\n"
		      "   SELF SAMPLES    TOTAL SAMPLES  KIND    MODULE             FUNCTION\n"
		      " 60.00%      60   60.00%      60  jit     [jit]              Shop::total\n"
		      " 30.00%      30   90.00%      90  native  app                work\n"
		      " 10.00%      10   10.00%      10  kernel  [kernel.kallsyms]  sys_read\n"
		      "  0.00%       0  100.00%     100  native  app                _start\n"
		      "  0.00%       0  100.00%     100  native  app                main\n"
		      "  0.00%       0  100.00%     100  native  app                run\n"
		      "\n"
		      "  TOTAL SAMPLES  KIND    TREE\n"
		      "100.00%     100          app\n"
		      "100.00%     100            ... 2 frames\n"
		      "100.00%     100  native      main\n"
		      " 90.00%      90  native        work\n"
		      " 60.00%      60  jit             Shop::total\n"
		      " 30.00%      30  native          work\n"
		      " 10.00%      10  kernel        sys_read\n");
}

CASE(tables_have_the_rows_that_were_asked_for)
{
	CLEANUP(made_deinit) struct made_view m;

	made_program(&m);
	m.view.options.rows = 2;
	m.view.options.sort = VIEW_SORT_TOTAL;
	m.view.options.kernel = VIEW_KERNEL_HIDDEN;
	AUTO_FREE char *text = made_output(&m, &sink_top);
	assert_non_null(strstr(text, "FUNCTION\n"
				     " 10.00%      10  100.00%     100  native  app     main\n"
				     "  0.00%       0  100.00%     100  native  app     _start\n"
				     "and 3 more\n"));
	assert_null(strstr(text, "sys_read"));
	assert_non_null(strstr(text, "native      main\n"));
	assert_null(strstr(text, "Shop::total\n"));
}

/* Rows fit any width, whatever the names are. */
CASE(rows_fit_the_terminal)
{
	static char name[10001], part[10001];

	memset(name, 'n', sizeof(name) - 1);
	strcpy(part, name);
	strcpy(part + sizeof(part) - sizeof(".part.0"), ".part.0");
	for (uint32_t width = 60; width < 250; width += 13) {
		CLEANUP(made_deinit) struct made_view m;
		uint32_t location;

		made_program(&m);
		made_stack(&m, 0, name, 9, STACK(made_named(&m, LOCATION_NATIVE, 7, part, name)));
		part[sizeof(part) - 2] ^= 1; /* another name of the function */
		made_stack(&m, 0, name, 9, STACK(made_named(&m, LOCATION_NATIVE, 8, part, name)));
		location = made_named(&m, LOCATION_JIT, 9, name, name);
		for (int i = 0; i < 40; i++) { /* as deep as indentation goes */
			uint32_t stack[41];

			for (int k = 0; k <= i; k++)
				stack[k] = location;
			made_stack(&m, 0, name, 50, (uint32_t)i + 1, stack);
		}
		m.view.options.columns = width;
		AUTO_FREE char *text = made_output(&m, &sink_top);
		char *rows = strstr(text, "\n\n"), *line, *rest = rows;

		assert_non_null(rows);
		while ((line = strsep(&rest, "\n")))
			assert_true(strlen(line) <= width);
	}
}

CASE(colours_are_for_terminals)
{
	CLEANUP(made_deinit) struct made_view m;

	made_program(&m);
	AUTO_FREE char *plain = made_output(&m, &sink_top);
	assert_null(strchr(plain, '\033'));
	m.view.options.colours = true;
	AUTO_FREE char *coloured = made_output(&m, &sink_top);
	assert_non_null(strstr(coloured, "\033[36mShop::total\033[m"));
	assert_non_null(strstr(coloured, "\033[31m 60.00%\033[m"));
}

CASE(nothing_was_sampled)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	AUTO_FREE char *text = made_output(&m, &sink_top);
	assert_non_null(strstr(text, "\n0 samples:"));
	assert_null(strstr(text, "FUNCTION"));
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_program(&m);
	made_check_full_disk(&m, &sink_top);
}

/* Samples of f() in three pieces of code, one of them inlined, and of another f(). */
static void made_pieces(struct made_view *m)
{
	struct frame frames[2];
	uint32_t both;

	made_init(m);
	frames[0] = made_frame(m, FRAME_KIND_NATIVE, "f", "/bin/app");
	frames[0].flags = FRAME_INLINED;
	frames[1] = made_frame(m, FRAME_KIND_NATIVE, "main", "/bin/app");
	both = made_location(m, LOCATION_NATIVE, 0, 9);
	assert_int_equal(frame_table_set(m->frames, both, frames, 2), 0);
	made_stack(m, 0, "app", 40, STACK(both));
	made_stack(m, 0, "app", 30,
		   STACK(made_named(m, LOCATION_NATIVE, 1, "f.constprop.0", "/bin/app"),
			 made_named(m, LOCATION_NATIVE, 2, "f.cold", "/bin/app")));
	made_stack(m, 0, "app", 20, STACK(made_named(m, LOCATION_NATIVE, 3, "g.cold", "/bin/app")));
	made_stack(m, 0, "app", 10, STACK(made_named(m, LOCATION_NATIVE, 4, "f", "/opt/app")));
	m->ledger.samples.fate[FATE_RESOLVED] = 100;
}

CASE(code_of_a_function_is_one_row)
{
	CLEANUP(made_deinit) struct made_view m;

	made_pieces(&m);
	AUTO_FREE char *text = made_output(&m, &sink_top);
	assert_non_null(strstr(
		text,
		"FUNCTION\n"
		" 70.00%      70   70.00%      70  native  app     f {f, f.cold, f.constprop.0: clone, cold, inlined}\n"
		" 20.00%      20   20.00%      20  native  app     g.cold {cold}\n"
		" 10.00%      10   10.00%      10  native  app     f\n"
		"  0.00%       0   40.00%      40  native  app     main\n"));
	assert_non_null(strstr(text, " 30.00%      30  native    f\n"
				     " 30.00%      30  native      f\n"));
	m.view.options.columns = 62;
	AUTO_FREE char *narrow = made_output(&m, &sink_top);
	assert_non_null(strstr(narrow, "native  f {f, f."));
	assert_non_null(strstr(narrow, "ined}\n"));
	assert_null(strstr(narrow, "f.cold, "));
}

CASE(an_exact_view_has_a_row_for_each_name)
{
	CLEANUP(made_deinit) struct made_view m;

	made_pieces(&m);
	m.view.options.merge = VIEW_MERGE_NONE;
	AUTO_FREE char *text = made_output(&m, &sink_top);
	assert_non_null(strstr(
		text, "FUNCTION\n"
		      " 40.00%      40   40.00%      40  native  app     f {inlined}\n"
		      " 30.00%      30   30.00%      30  native  app     f.constprop.0 {clone}\n"
		      " 20.00%      20   20.00%      20  native  app     g.cold {cold}\n"
		      " 10.00%      10   10.00%      10  native  app     f\n"
		      "  0.00%       0   40.00%      40  native  app     main\n"
		      "  0.00%       0   30.00%      30  native  app     f.cold {cold}\n"));
}

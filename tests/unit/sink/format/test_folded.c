/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "tests/unit/cases.h"

CASE(frames_stand_root_first_with_their_suffixes)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t main_, method, sys;

	made_init(&m);
	main_ = made_named(&m, LOCATION_NATIVE, 1, "main", "/bin/engine");
	method = made_named(&m, LOCATION_JIT, 2, "App.run", "");
	sys = made_named(&m, LOCATION_KERNEL, 3, "do_syscall_64", "[kernel.kallsyms]");
	made_stack(&m, 0, "engine", 3, STACK(sys, method, main_));
	made_stack(&m, 0, "engine", 2, STACK(method, main_));
	made_stack(&m, 0, "engine", 1, 0, NULL);
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	assert_string_equal(text, "engine 1\n"
				  "engine;main;App.run_[j] 2\n"
				  "engine;main;App.run_[j];do_syscall_64_[k] 3\n");
}

/* stackcollapse-perf.pl --all marks inlined frames with _[i], whatever their kind. */
CASE(inlined_frames_are_frames_of_their_own)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[3];
	uint32_t method;

	made_init(&m);
	method = made_location(&m, LOCATION_JIT, 9, 0x20);
	frames[0] = made_frame(&m, FRAME_KIND_JIT, "innermost", "");
	frames[1] = made_frame(&m, FRAME_KIND_JIT, "middle", "");
	frames[2] = made_frame(&m, FRAME_KIND_JIT, "compiled", "");
	frames[0].flags = frames[1].flags = FRAME_INLINED;
	assert_int_equal(frame_table_set(m.frames, method, frames, 3), 0);
	made_stack(&m, 0, "e", 4, STACK(method));
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	assert_string_equal(text, "e;compiled_[j];middle_[j];innermost_[j] 4\n");
	m.view.options.merge = VIEW_MERGE_TABLES;
	AUTO_FREE char *exact = made_output(&m, &sink_folded);
	assert_string_equal(exact, "e;compiled_[j];middle_[i];innermost_[i] 4\n");
}

CASE(what_has_no_name_has_a_stand_in)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_stack(&m, 0, "", 1,
		   STACK(made_named(&m, LOCATION_JIT, 1, "", ""),
			 made_named(&m, LOCATION_NATIVE, 1, "", "/lib/x.so"),
			 made_location(&m, LOCATION_ANON, 0, 0x7f0000),
			 made_location(&m, LOCATION_UNKNOWN, 0, 0x10)));
	made_stack(&m, 0, "", 2, STACK(0xffff /* unknown location */));
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	assert_string_equal(text, "[unknown];[unknown] 2\n"
				  "[unknown];[unknown];[unknown];[x.so];[unknown]_[j] 1\n");
}

CASE(the_same_text_is_one_line)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t f, g1, g2, other;

	made_init(&m);
	f = made_named(&m, LOCATION_NATIVE, 1, "f", "/a");
	g1 = made_named(&m, LOCATION_NATIVE, 2, "g", "/a");
	g2 = made_named(&m, LOCATION_NATIVE, 3, "g", "/b");
	other = made_named(&m, LOCATION_NATIVE, 4, "f", "/b");
	made_stack(&m, 0, "p", 1, STACK(g1, f));
	made_stack(&m, 0, "p", 2, STACK(g2, f));
	made_stack(&m, 1, "p", 4, STACK(g1, other)); /* another process with the same name */
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	assert_string_equal(text, "p;f;g 7\n");
}

/* In the order of `LC_ALL=C sort`, also if one name is a prefix of another. */
CASE(lines_are_in_the_order_of_their_bytes)
{
	CLEANUP(made_deinit) struct made_view m;
	static const char *const names[] = {"f", "f 5", "f5", "f x", "f$", "f(int)", "g", "F"};
	uint32_t leaf;

	made_init(&m);
	leaf = made_named(&m, LOCATION_NATIVE, 1000, "leaf", "/a");
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t f = made_named(&m, LOCATION_NATIVE, i, names[i], "/a");

		made_stack(&m, 0, "p", 57 - i, STACK(f));
		made_stack(&m, 0, "p", 1, STACK(leaf, f));
	}
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	char *previous = NULL, *rest = text, *line;
	int lines = 0;

	while ((line = strsep(&rest, "\n")) && rest) {
		if (previous)
			assert_true(strcmp(previous, line) < 0);
		previous = line;
		lines++;
	}
	assert_int_equal(lines, 2 * ARRAY_SIZE(names));
}

CASE(no_name_breaks_the_format)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++)
		made_stack(&m, 0, made_nasty_names[i], i + 1,
			   STACK(made_named(&m, LOCATION_NATIVE, i, made_nasty_names[i], "")));
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	char *rest = text, *line;
	uint32_t lines = 0;

	assert_non_null(strstr(text, "semi:colon;semi:colon 1\n"));
	assert_non_null(strstr(text, "two words;two words 2\n"));
	assert_non_null(strstr(text, "line?break;line?break 3\n"));
	assert_non_null(strstr(text, "bad? utf8?????;"));
	assert_non_null(strstr(text, "right? to left;"));
	assert_non_null(strstr(text, "emoji \xf0\x9f\x94\xa5;"));
	while ((line = strsep(&rest, "\n")) && rest) {
		char *count = strrchr(line, ' ');

		assert_non_null(count);
		assert_true(strspn(count + 1, "0123456789") == strlen(count + 1));
		*count = 0;
		assert_non_null(strchr(line, ';'));
		assert_ptr_equal(strchr(line, ';'), strrchr(line, ';'));
		for (char *c = line; *c; c++)
			assert_true((uint8_t)*c >= 0x20 && *c != 0x7f);
		lines++;
	}
	assert_int_equal(lines, MADE_NASTY_COUNT);
}

CASE(a_stack_as_deep_as_they_come)
{
	CLEANUP(made_deinit) struct made_view m;
	AUTO_FREE uint32_t *stack = calloc(20000, sizeof(*stack));
	char *text, *c;
	size_t frames = 0;

	made_init(&m);
	assert_non_null(stack);
	for (uint32_t i = 0; i < 20000; i++)
		stack[i] = i < 100 ? made_named(&m, LOCATION_NATIVE, i, "f", "") : stack[i % 100];
	made_stack(&m, 0, "p", 1, 20000, stack);
	text = made_output(&m, &sink_folded);
	for (c = text; *c; c++)
		frames += *c == ';';
	assert_int_equal(frames, 20000);
	free(text);
}

CASE(nothing_sampled_is_nothing_written)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_stack(&m, 0, "p", 0, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "")));
	AUTO_FREE char *text = made_output(&m, &sink_folded);
	assert_string_equal(text, "");
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_stack(&m, 0, "p", 1, 0, NULL);
	made_check_full_disk(&m, &sink_folded);
}

/* Two parts of f() below main(), an inlined call of it, and another f(). */
CASE(stacks_have_functions)
{
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t main_, both;

	made_init(&m);
	main_ = made_named(&m, LOCATION_NATIVE, 1, "main", "/a");
	frames[0] = made_frame(&m, FRAME_KIND_NATIVE, "f", "/a");
	frames[0].flags = FRAME_INLINED;
	frames[1] = made_frame(&m, FRAME_KIND_NATIVE, "main.cold", "/a");
	both = made_location(&m, LOCATION_NATIVE, 0, 9);
	assert_int_equal(frame_table_set(m.frames, both, frames, 2), 0);
	made_stack(&m, 0, "p", 1,
		   STACK(made_named(&m, LOCATION_NATIVE, 2, "f.part.0", "/a"), main_));
	made_stack(&m, 0, "p", 2, STACK(made_named(&m, LOCATION_NATIVE, 3, "f.cold", "/a"), main_));
	made_stack(&m, 0, "p", 4, STACK(both));
	made_stack(&m, 0, "p", 8, STACK(made_named(&m, LOCATION_NATIVE, 4, "g.0", "/a"), main_));
	AUTO_FREE char *merged = made_output(&m, &sink_folded);
	assert_string_equal(merged, "p;main;f 7\n"
				    "p;main;g.0 8\n");
	m.view.options.merge = VIEW_MERGE_TABLES;
	AUTO_FREE char *whole = made_output(&m, &sink_folded);
	assert_string_equal(whole, "p;main.cold;f_[i] 4\n"
				   "p;main;f.cold 2\n"
				   "p;main;f.part.0 1\n"
				   "p;main;g.0 8\n");
}

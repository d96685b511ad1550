/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/diff/frame_diff.h"
#include "tests/unit/cases.h"

/* Two views and their difference. */
struct made_diff {
	struct made_view sides[DIFF_SIDES];
	struct frame_diff *diff;
};

static void diff_init(struct made_diff *d)
{
	made_init(&d->sides[DIFF_BEFORE]);
	made_init(&d->sides[DIFF_AFTER]);
	d->diff = NULL;
}

static void diff_deinit(struct made_diff *d)
{
	frame_diff_destroy(d->diff);
	made_deinit(&d->sides[DIFF_BEFORE]);
	made_deinit(&d->sides[DIFF_AFTER]);
}

static void diff_make(struct made_diff *d, bool strip_hex)
{
	assert_int_equal(frame_diff_create(&d->sides[DIFF_BEFORE].view, &d->sides[DIFF_AFTER].view,
					   strip_hex, &d->diff),
			 0);
}

static char *folded_of(struct made_diff *d, bool normalize)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(frame_diff_write_folded(out, d->diff, normalize), 0);
	fclose(out);
	return text;
}

static char *table_of(struct made_diff *d, uint32_t rows)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(frame_diff_write_table(out, d->diff, &d->sides[DIFF_BEFORE].view,
						&d->sides[DIFF_AFTER].view, rows),
			 0);
	fclose(out);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s\nis not in\n%s", part, text);
}

/*
 * main calls f and g. After the change g is gone, h is new, and all else has
 * other numbers, another directory and another line.
 */
static void make_change(struct made_diff *d)
{
	struct made_view *before = &d->sides[DIFF_BEFORE], *after = &d->sides[DIFF_AFTER];
	uint32_t main_, f, g, h;
	struct frame frame;

	main_ = made_named(before, LOCATION_NATIVE, 1, "main", "/old/bin/p");
	f = made_named(before, LOCATION_NATIVE, 2, "f", "/old/bin/p");
	g = made_named(before, LOCATION_JIT, 3, "g", "[jit]");
	made_stack(before, 4, "p", 60, STACK(f, main_));
	made_stack(before, 4, "p", 30, STACK(g, main_));
	made_stack(before, 4, "p", 10, STACK(main_));

	made_string(after, "something else");
	h = made_named(after, LOCATION_KERNEL, 9, "h", "[kernel.kallsyms]");
	f = made_location(after, LOCATION_NATIVE, 0, 8);
	frame = made_frame(after, FRAME_KIND_NATIVE, "f", "/new/bin/p");
	frame.file = made_string(after, "f.c");
	frame.line = 77;
	assert_int_equal(frame_table_set(after->frames, f, &frame, 1), 0);
	main_ = made_named(after, LOCATION_NATIVE, 7, "main", "/new/bin/p");
	made_stack(after, 0, "p", 20, STACK(h, f, main_));
	made_stack(after, 0, "p", 180, STACK(f, main_));
}

CASE(what_is_shown_alike_is_one_node)
{
	static const struct {
		const char *name;
		uint32_t parent;
		uint64_t before, after, total_before, total_after;
	} expected[] = {
		{"all", FRAME_TREE_NONE, 0, 0, 100, 200},
		{"p", 0, 0, 0, 100, 200},
		{"main", 1, 10, 0, 100, 200},
		{"f", 2, 60, 180, 60, 200},
		{"h", 3, 0, 20, 0, 20},
		{"g", 2, 30, 0, 30, 0},
	};
	CLEANUP(diff_deinit) struct made_diff d;
	const struct frame_diff_label *labels;
	const struct frame_diff_node *nodes;
	uint32_t count, label_count;

	diff_init(&d);
	make_change(&d);
	diff_make(&d, false);
	nodes = frame_diff_nodes(d.diff, &count);
	labels = frame_diff_labels(d.diff, &label_count);
	assert_int_equal(count, ARRAY_SIZE(expected));
	assert_int_equal(label_count, ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < count; i++) {
		assert_true(nodes[i].label < label_count);
		assert_string_equal(labels[nodes[i].label].name, expected[i].name);
		assert_int_equal(nodes[i].parent, expected[i].parent);
		assert_int_equal(nodes[i].self[DIFF_BEFORE], expected[i].before);
		assert_int_equal(nodes[i].self[DIFF_AFTER], expected[i].after);
		assert_int_equal(nodes[i].total[DIFF_BEFORE], expected[i].total_before);
		assert_int_equal(nodes[i].total[DIFF_AFTER], expected[i].total_after);
	}
	/* A frame on both sides is shown with its place after the change. */
	assert_string_equal(labels[nodes[3].label].module, "/new/bin/p");
	assert_string_equal(labels[nodes[3].label].file, "f.c");
	assert_int_equal(labels[nodes[3].label].line, 77);
	assert_int_equal(labels[nodes[5].label].kind, FRAME_KIND_JIT);
	assert_string_equal(labels[nodes[1].label].module, "");
}

CASE(folded_has_a_line_for_each_stack_of_either)
{
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	make_change(&d);
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, false);
	assert_string_equal(text, "p;main 10 0\n"
				  "p;main;f 60 180\n"
				  "p;main;f;h_[k] 0 20\n"
				  "p;main;g_[j] 30 0\n");
	AUTO_FREE char *normalized = folded_of(&d, true);
	assert_string_equal(normalized, "p;main 20 0\n"
					"p;main;f 120 180\n"
					"p;main;f;h_[k] 0 20\n"
					"p;main;g_[j] 60 0\n");
}

/* Frames with equal text but different modules or kinds: their stacks are merged. */
CASE(folded_has_no_line_twice)
{
	CLEANUP(diff_deinit) struct made_diff d;
	struct made_view *m;
	uint32_t leaf;

	diff_init(&d);
	m = &d.sides[DIFF_BEFORE];
	leaf = made_named(m, LOCATION_NATIVE, 9, "leaf", "/a");
	made_stack(m, 0, "p", 1, STACK(made_named(m, LOCATION_NATIVE, 1, "f", "/a")));
	made_stack(m, 0, "p", 2, STACK(made_named(m, LOCATION_NATIVE, 2, "f", "/b")));
	made_stack(m, 0, "p", 3, STACK(leaf, made_named(m, LOCATION_NATIVE, 3, "f", "/c")));
	made_stack(m, 0, "p", 4, STACK(leaf, made_named(m, LOCATION_UNKNOWN, 4, "f", "/d")));
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, true);
	assert_string_equal(text, "p;f 3 0\np;f;leaf 7 0\n");
}

CASE(table_shows_what_changed_most_first)
{
	CLEANUP(diff_deinit) struct made_diff d;
	const char *at;

	diff_init(&d);
	make_change(&d);
	d.sides[DIFF_AFTER].info.freq_hz = 999;
	d.sides[DIFF_AFTER].ledger.samples.fate[FATE_LOST] = 5;
	diff_make(&d, false);
	AUTO_FREE char *text = table_of(&d, 0);
	assert_has(text, "before  100 samples in 2.5 s of cpu-clock at 99 Hz: engine --fast\n");
	assert_has(text, "after   200 samples in 2.5 s of cpu-clock at 999 Hz, 5 more lost: ");
	assert_has(text, "sampled differently");
	at = strstr(text, "FUNCTION\n");
	assert_non_null(at);
	assert_string_equal(
		at,
		"FUNCTION\n"
		"  60.00%   90.00%   +30.00     60.00%  100.00%   +40.00   f (p)\n"
		"  30.00%    0.00%   -30.00     30.00%    0.00%   -30.00   g ([jit])\n"
		"   0.00%   10.00%   +10.00      0.00%   10.00%   +10.00   h ([kernel.kallsyms])\n"
		"  10.00%    0.00%   -10.00    100.00%  100.00%    +0.00~  main (p)\n");
	AUTO_FREE char *two = table_of(&d, 2);
	assert_has(two, "g ([jit])\nand 2 more\n");
	assert_null(strstr(two, "h (["));
}

/* f calls itself: its stacks count once. Small differences may be chance. */
CASE(recursion_counts_once)
{
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct made_view *m = &d.sides[side];
		uint32_t f = made_named(m, LOCATION_NATIVE, 1, "f", "/p");
		uint32_t g = made_named(m, LOCATION_NATIVE, 2, "g", "/p");

		made_stack(m, 0, "p", 5, STACK(f, g, f, f));
		made_stack(m, 0, "p", 4 + side, STACK(f));
		made_stack(m, 0, "p", 1 - side, 0, NULL);
	}
	diff_make(&d, false);
	AUTO_FREE char *text = table_of(&d, 0);
	assert_has(text, "  90.00%  100.00%   +10.00~    90.00%  100.00%   +10.00~  f (p)\n");
	assert_has(text, "   0.00%    0.00%    +0.00~    50.00%   50.00%    +0.00~  g (p)\n");
	assert_has(text,
		   "  10.00%    0.00%   -10.00~   100.00%  100.00%    +0.00~  p (no stack)\n");
	assert_null(strstr(text, "sampled differently"));
}

CASE(addresses_in_names_can_be_left_out)
{
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct made_view *m = &d.sides[side];
		const char *name = side ? "stub_0xbeef_0x1(0x)" : "stub_0xDEAD9_0x2f(0x)";

		made_stack(m, 0, "p", 1, STACK(made_named(m, LOCATION_JIT, 1, name, "[jit]")));
	}
	diff_make(&d, true);
	AUTO_FREE char *text = folded_of(&d, false);
	assert_string_equal(text, "p;stub_0x..._0x...(0x)_[j] 1 1\n");
	frame_diff_destroy(d.diff);
	diff_make(&d, false);
	AUTO_FREE char *whole = folded_of(&d, false);
	assert_string_equal(whole, "p;stub_0xDEAD9_0x2f(0x)_[j] 1 0\n"
				   "p;stub_0xbeef_0x1(0x)_[j] 0 1\n");
}

CASE(nothing_can_be_compared_with_something)
{
	CLEANUP(diff_deinit) struct made_diff d;
	struct made_view *after;

	diff_init(&d);
	diff_make(&d, false);
	AUTO_FREE char *none = folded_of(&d, true);
	assert_string_equal(none, "");
	AUTO_FREE char *empty = table_of(&d, 10);
	assert_has(empty, "before  0 samples in");

	frame_diff_destroy(d.diff);
	after = &d.sides[DIFF_AFTER];
	made_stack(after, 0, "p", 3, STACK(made_named(after, LOCATION_NATIVE, 1, "f", "/p")));
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, true);
	assert_string_equal(text, "p;f 0 3\n");
	AUTO_FREE char *table = table_of(&d, 10);
	assert_has(table, "   0.00%  100.00%  +100.00      0.00%  100.00%  +100.00   f (p)\n");
}

/* A stack of maximum depth, with one name in all frames. */
CASE(a_deep_stack_is_no_trouble)
{
	CLEANUP(diff_deinit) struct made_diff d;
	AUTO_FREE uint32_t *stack = calloc(20000, sizeof(*stack));
	size_t frames = 0;

	assert_non_null(stack);
	diff_init(&d);
	for (uint32_t i = 0; i < 20000; i++)
		stack[i] = made_named(&d.sides[DIFF_AFTER], LOCATION_NATIVE, i, "f", "/p");
	made_stack(&d.sides[DIFF_AFTER], 0, "p", 1, 20000, stack);
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, false);
	for (char *c = text; *c; c++)
		frames += *c == ';';
	assert_int_equal(frames, 20000);
	AUTO_FREE char *table = table_of(&d, 10);
	assert_has(table, "100.00%  +100.00   f (p)\n");
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(diff_deinit) struct made_diff d;
	FILE *out;
	int err;

	diff_init(&d);
	make_change(&d);
	diff_make(&d, false);
	out = fopen("/dev/full", "w");
	assert_non_null(out);
	err = frame_diff_write_folded(out, d.diff, false);
	assert_true(err == -ENOSPC || err == -EIO);
	err = frame_diff_write_table(out, d.diff, &d.sides[0].view, &d.sides[1].view, 0);
	assert_true(err == -ENOSPC || err == -EIO);
	fclose(out);
}

/* JIT code of each side: names with their samples, ended by NULL. */
struct numbered {
	const char *name;
	uint32_t samples;
	const char *file;
};

static void make_numbered(struct made_view *m, enum location_kind kind, const struct numbered *code)
{
	for (uint32_t i = 0; code[i].name; i++) {
		struct frame frame =
			made_frame(m, kind == LOCATION_JIT ? FRAME_KIND_JIT : FRAME_KIND_NATIVE,
				   code[i].name, kind == LOCATION_JIT ? "[jit]" : "/bin/p");
		uint32_t location = made_location(m, kind, 0, i + 1);

		frame.file = made_string(m, code[i].file ?: "");
		assert_int_equal(frame_table_set(m->frames, location, &frame, 1), 0);
		made_stack(m, 4, "p", code[i].samples, STACK(location));
	}
}

struct numbered_row {
	enum location_kind kind;
	struct numbered before[4], after[4];
	const char *folded;
};

static void check_numbered(const struct numbered_row *row, bool exact)
{
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	for (int side = 0; side < DIFF_SIDES; side++)
		d.sides[side].view.options.merge = exact ? VIEW_MERGE_NONE : VIEW_MERGE_GRAPHS;
	make_numbered(&d.sides[DIFF_BEFORE], row->kind, row->before);
	make_numbered(&d.sides[DIFF_AFTER], row->kind, row->after);
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, false);
	assert_string_equal(text, row->folded);
}

CASE(numbers_that_tell_functions_apart_are_folded_with_care)
{
	static const struct numbered_row rows[] = {
		/* One on each side: it was renumbered. */
		{LOCATION_JIT, {{"julia_f_1", 5}}, {{"julia_f_9", 6}}, "p;julia_f_[j] 5 6\n"},
		/* The same numbers: they are other functions. */
		{LOCATION_JIT,
		 {{"julia_f_1", 5}, {"julia_f_2", 1}},
		 {{"julia_f_2", 2}, {"julia_f_1", 6}},
		 "p;julia_f_1_[j] 5 6\np;julia_f_2_[j] 1 2\n"},
		/* Which is which is not known. */
		{LOCATION_JIT,
		 {{"julia_f_1", 5}, {"julia_f_2", 1}},
		 {{"julia_f_2", 6}, {"julia_f_3", 2}},
		 "p;julia_f [several]_[j] 6 8\n"},
		{LOCATION_JIT,
		 {{"julia_f_1", 5}, {"julia_f_2", 1}},
		 {{"julia_f_1", 6}},
		 "p;julia_f [several]_[j] 6 6\n"},
		/* Other functions, and names that are nothing but a number. */
		{LOCATION_JIT,
		 {{"julia_f_1", 5}, {"julia_g_2", 1}},
		 {{"julia_h_2", 6}, {"julia_g_1", 2}},
		 "p;julia_f_1_[j] 5 0\np;julia_g_[j] 1 2\np;julia_h_2_[j] 0 6\n"},
		{LOCATION_JIT,
		 {{"TRACE-1", 5}, {"TRACE-2", 1}},
		 {{"TRACE-2", 6}, {"TRACE-3", 2}},
		 "p;TRACE-1_[j] 5 0\np;TRACE-2_[j] 1 6\np;TRACE-3_[j] 0 2\n"},
		/* Native code, and JIT code with such a name. */
		{LOCATION_NATIVE,
		 {{"init.llvm.12", 5}, {"main", 1}},
		 {{"init.llvm.34", 6}, {"main", 2}},
		 "p;init.llvm 5 6\np;main 1 2\n"},
		{LOCATION_NATIVE,
		 {{"init.llvm.12", 5}, {"init.llvm.13", 1}},
		 {{"init.llvm.13", 6}, {"init.llvm.12", 2}},
		 "p;init.llvm.12 5 2\np;init.llvm.13 1 6\n"},
		{LOCATION_JIT,
		 {{"init.llvm.12", 5}},
		 {{"init.llvm.34", 6}},
		 "p;init.llvm.12_[j] 5 0\np;init.llvm.34_[j] 0 6\n"},
		/* Source files: one is not known, or all are. */
		{LOCATION_JIT, {{"f", 5}}, {{"f", 6, "/a.py"}}, "p;f_[j] 5 6\n"},
		{LOCATION_JIT, {{"f", 5, "/old/a.py"}}, {{"f", 6, "/new/a.py"}}, "p;f_[j] 5 6\n"},
		{LOCATION_JIT,
		 {{"f", 5}},
		 {{"f", 6, "/a.py"}, {"f", 1, "/b.py"}},
		 "p;f [several]_[j] 5 7\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_numbered(&rows[i], false);
}

/* The same source files: two functions. Folded stacks do not show the file, the table does not. */
CASE(functions_of_two_files_have_two_rows)
{
	static const struct numbered sides[DIFF_SIDES][3] = {
		{{"f", 5, "/a.py"}, {"f", 1, "/b.py"}}, {{"f", 2, "/a.py"}, {"f", 6, "/b.py"}}};
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	for (int side = 0; side < DIFF_SIDES; side++)
		make_numbered(&d.sides[side], LOCATION_JIT, sides[side]);
	diff_make(&d, false);
	AUTO_FREE char *text = table_of(&d, 0);
	assert_has(text,
		   "  83.33%   25.00%   -58.33     83.33%   25.00%   -58.33   f of a.py ([jit])\n");
	assert_has(text,
		   "  16.67%   75.00%   +58.33     16.67%   75.00%   +58.33   f of b.py ([jit])\n");
}

/* Two builds, or two runs, have other code of the same functions. */
CASE(code_is_compared_by_function)
{
	static const struct numbered_row rows[] = {
		{LOCATION_NATIVE,
		 {{"f", 5}, {"g.part.0", 1}, {"h.cold", 2}},
		 {{"f.constprop.0", 6}, {"g", 2}, {"h.cold", 3}},
		 "p;f 5 6\np;g 1 2\np;h.cold 2 3\n"},
		{LOCATION_JIT,
		 {{"Main$$Lambda/0x00007f1234.run", 5}},
		 {{"Main$$Lambda/0x00007f9876.run", 6}},
		 "p;Main$$Lambda.run_[j] 5 6\n"},
		{LOCATION_JIT,
		 {{"JS:*f /a.js:1:2", 5, "/a.js"}, {"JS:^f /a.js:1:2", 1}},
		 {{"JS:~f /a.js:1:2", 6}},
		 "p;f /a.js:1:2_[j] 6 6\n"},
		{LOCATION_JIT,
		 {{"TRACE-1$f$7", 5}, {"TRACE-2$f$7", 1}},
		 {{"TRACE-2$f$7", 6}, {"TRACE-3$f$8", 2}},
		 "p;TRACE$f$7_[j] 6 6\np;TRACE-3$f$8_[j] 0 2\n"},
	};
	static const struct numbered_row exact[] = {
		{LOCATION_NATIVE,
		 {{"f", 5}, {"init.llvm.12", 1}},
		 {{"f.constprop.0", 6}, {"init.llvm.13", 2}},
		 "p;f 5 0\np;f.constprop.0 0 6\np;init.llvm.12 1 0\np;init.llvm.13 0 2\n"},
		{LOCATION_JIT,
		 {{"TRACE-1$f$7", 5}},
		 {{"TRACE-2$f$7", 6}},
		 "p;TRACE-1$f$7_[j] 5 0\np;TRACE-2$f$7_[j] 0 6\n"},
		{LOCATION_JIT, {{"f", 5}}, {{"f", 6, "/a.py"}}, "p;f_[j] 5 6\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_numbered(&rows[i], false);
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		check_numbered(&exact[i], true);
}

/* g() is inlined into f() on one side only. */
CASE(inlined_code_is_its_function)
{
	CLEANUP(diff_deinit) struct made_diff d;

	diff_init(&d);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct made_view *m = &d.sides[side];
		struct frame frames[2] = {made_frame(m, FRAME_KIND_NATIVE, "g", "/p"),
					  made_frame(m, FRAME_KIND_NATIVE, "f", "/p")};
		uint32_t both = made_location(m, LOCATION_NATIVE, 0, 7);

		frames[0].flags = FRAME_INLINED;
		assert_int_equal(frame_table_set(m->frames, both, frames, 2), 0);
		made_stack(m, 0, "p", 3, STACK(both));
		if (side == DIFF_AFTER)
			made_stack(m, 0, "p", 4,
				   STACK(made_named(m, LOCATION_NATIVE, 1, "g", "/p"),
					 made_named(m, LOCATION_NATIVE, 2, "f", "/p")));
	}
	diff_make(&d, false);
	AUTO_FREE char *text = folded_of(&d, false);
	assert_string_equal(text, "p;f;g 3 7\n");
	frame_diff_destroy(d.diff);
	d.sides[DIFF_AFTER].view.options.merge = VIEW_MERGE_NONE;
	diff_make(&d, false);
	AUTO_FREE char *exact = folded_of(&d, false);
	assert_string_equal(exact, "p;f;g 0 4\np;f;g_[i] 3 3\n");
}

/* Adds a static function with samples. */
static void put_static(struct made_view *view, uint64_t number, const char *name,
		       const char *decl_file, uint64_t samples)
{
	uint32_t location = made_location(view, LOCATION_NATIVE, 0, number);
	struct frame frame = made_frame(view, FRAME_KIND_NATIVE, name, "/bin/p");

	frame.decl_file = made_string(view, decl_file);
	assert_int_equal(frame_table_set(view->frames, location, &frame, 1), 0);
	made_stack(view, 0, "p", samples, STACK(location));
}

CASE(static_functions_are_compared_by_their_files)
{
	static const struct {
		const char *before[2], *after[2];
		const char *rows[4];
	} cases[] = {
		/* nothing moved */
		{{"/s/a.c", "/s/b.c"}, {"/s/a.c", "/s/b.c"}, {"p;f of a.c 1 4", "p;f of b.c 2 8"}},
		{{"/s/x/i.c", "/s/y/i.c"},
		 {"/s/x/i.c", "/s/y/i.c"},
		 {"p;f of x/i.c 1 4", "p;f of y/i.c 2 8"}},
		/* another folder, or only symbols on one side */
		{{"/s/a.c", "/s/b.c"}, {"/t/a.c", "/t/b.c"}, {"p;f of a.c 1 4", "p;f of b.c 2 8"}},
		{{"/s/a.c", "/s/b.c"}, {"a.c", "b.c"}, {"p;f of a.c 1 4", "p;f of b.c 2 8"}},
		/* no files on one side */
		{{"/s/a.c", "/s/b.c"}, {"", ""}, {"p;f [several] 3 12"}},
		{{"", ""}, {"/s/a.c", "/s/a.c"}, {"p;f 3 12"}},
		/* one that is static, and one that is not */
		{{"/s/a.c", ""}, {"/t/a.c", ""}, {"p;f 2 8", "p;f of a.c 1 4"}},
		/* one that went away */
		{{"/s/a.c", "/s/b.c"}, {"/s/a.c", "/s/a.c"}, {"p;f of a.c 1 12", "p;f of b.c 2 0"}},
		/* which one is which is not known */
		{{"/s/x/i.c", "/s/y/i.c"}, {"/t/x/i.c", "/t/y/i.c"}, {"p;f [several] 3 12"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(diff_deinit) struct made_diff d;
		AUTO_FREE char *folded = NULL;
		char expected[256] = "";

		diff_init(&d);
		for (uint32_t k = 0; k < 2; k++) {
			put_static(&d.sides[DIFF_BEFORE], k + 1, "f", cases[i].before[k], k + 1);
			put_static(&d.sides[DIFF_AFTER], k + 1, "f", cases[i].after[k],
				   4 * (k + 1));
		}
		diff_make(&d, false);
		folded = folded_of(&d, false);
		for (uint32_t k = 0; k < 4 && cases[i].rows[k]; k++) {
			strcat(expected, cases[i].rows[k]);
			strcat(expected, "\n");
		}
		assert_string_equal(folded, expected);
	}
}

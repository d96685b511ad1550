/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cases of a unit program, and its main(). The one file of the program includes this header,
 * and defines a case by
 *
 *	CASE(name_of_the_case)
 *	{
 *		assert_true(...);
 *	}
 *
 * All cases run, in the order of the file. `state` is what a fixture has set: a case
 * CASE_WITH(name, set_up, tear_down) runs between these two functions, and CASES_GROUP(set_up,
 * tear_down) is for all cases of the program together. Either function can be NULL; both return 0,
 * or else the case fails.
 */
#ifndef JITBPF_TESTS_UNIT_CASES_H
#define JITBPF_TESTS_UNIT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define CASES_MAX 256

static struct {
	struct CMUnitTest test;
	int line;
} cases_made[CASES_MAX];

static size_t cases_count;
static CMFixtureFunction cases_set_up, cases_tear_down;

static inline void cases_add(int line, struct CMUnitTest test)
{
	if (cases_count == CASES_MAX)
		abort();
	cases_made[cases_count].test = test;
	cases_made[cases_count++].line = line;
}

/* Constructors of a file run in any order, so cases are sorted by their lines. */
#define CASE_WITH(name, set_up, tear_down)                                                         \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		cases_add(__LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});    \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)

/* End a case that cannot run here. It counts as not applicable, not as passed (run_tests.py). */
#define NOT_APPLICABLE(reason)                                                                     \
	do {                                                                                       \
		print_message("not applicable: %s\n", reason);                                     \
		skip();                                                                            \
	} while (0)

#define CASE(name) CASE_WITH(name, NULL, NULL)

#define CASES_GROUP(set_up, tear_down)                                                             \
	__attribute__((constructor)) static void cases_group(void)                                 \
	{                                                                                          \
		cases_set_up = set_up;                                                             \
		cases_tear_down = tear_down;                                                       \
	}

static int cases_compare(const void *a_, const void *b_)
{
	const __typeof__(cases_made[0]) *a = a_, *b = b_;

	return a->line - b->line;
}

int main(void)
{
	static struct CMUnitTest tests[CASES_MAX];

	qsort(cases_made, cases_count, sizeof(*cases_made), cases_compare);
	for (size_t i = 0; i < cases_count; i++)
		tests[i] = cases_made[i].test;
	return _cmocka_run_group_tests("tests", tests, cases_count, cases_set_up, cases_tear_down);
}

#endif

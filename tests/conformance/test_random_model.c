/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random events through live, late and lossy paths, compared with a model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/shim_run.h"

#define KB    1024ull
#define ROOMY (64 * KB * KB)
#define SEEDS 300 /* per path and journal size */

/* Run in a child process, which loads the shim. */
static void run_in_child(const struct shim_run_options *options, struct shim_run_counts *sum)
{
	struct shim_run_counts counts = {0};
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* The handlers of the test program would continue with the next test. */
		for (int i = 1; i < NSIG; i++)
			signal(i, SIG_DFL);
		status = shim_run(options, &counts);
		if (write(fds[1], &counts, sizeof(counts)) != sizeof(counts))
			status = -1;
		_exit(status ? 1 : 0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &counts, sizeof(counts)), sizeof(counts));
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x, path %d, seed %llu, journal %llu", (unsigned int)status,
			 options->path, (unsigned long long)options->seed,
			 (unsigned long long)options->journal_bytes);
	for (size_t i = 0; i < sizeof(counts) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)&counts)[i];
}

static struct shim_run_counts run_seeds(enum shim_path path, uint64_t journal_bytes)
{
	const char *text = getenv("SEEDS");
	struct shim_run_counts sum = {0};
	uint64_t count = text ? strtoull(text, NULL, 10) : SEEDS;

	for (uint64_t seed = 0; seed < count; seed++)
		run_in_child(&(struct shim_run_options){.path = path,
							.seed = seed,
							.journal_bytes = journal_bytes,
							.reads_at_once = journal_bytes < ROOMY},
			     &sum);
	print_message(
		"journal %llu: right %llu, named %llu, unknown %llu, in part %llu; lost %llu, late %llu, "
		"recovered %llu, gaps %llu, unreadable %llu; compactions %llu, left out "
		"%llu\n",
		(unsigned long long)journal_bytes, (unsigned long long)sum.right,
		(unsigned long long)sum.named, (unsigned long long)sum.unknown,
		(unsigned long long)sum.partial, (unsigned long long)sum.lost,
		(unsigned long long)sum.late, (unsigned long long)sum.recovered,
		(unsigned long long)sum.gaps, (unsigned long long)sum.unreadable,
		(unsigned long long)sum.compactions, (unsigned long long)sum.left_out);
	return sum;
}

static void test_live(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LIVE, ROOMY);

	assert_true(sum.named > 0);
	assert_int_equal(sum.unknown, 0);
	assert_int_equal(sum.lost + sum.late + sum.recovered + sum.gaps, 0);
}

static void test_late(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LATE, ROOMY);

	assert_true(sum.named > 0 && sum.late > 0);
	assert_int_equal(sum.unknown, 0);
}

/* The journal has dropped dead code. */
static void test_late_compacted(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LATE, 48 * KB);

	assert_true(sum.named > 0 && sum.late > 0 && sum.compactions > 0);
	assert_true(sum.unknown < sum.named / 10);
}

/* The journal is too small for the live code. */
static void test_late_small(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LATE, 12 * KB);

	assert_true(sum.named > 0 && sum.left_out > 0);
}

static void test_lossy(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LOSSY, ROOMY);

	assert_true(sum.named > 0 && sum.lost > 0 && sum.recovered > 0);
	assert_int_equal(sum.unknown, 0);
	assert_int_equal(sum.gaps, 0);
}

static void test_lossy_compacted(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LOSSY, 48 * KB);

	assert_true(sum.named > 0 && sum.recovered > 0 && sum.compactions > 0 && sum.gaps > 0);
	assert_true(sum.unknown < sum.named);
}

static void test_lossy_small(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LOSSY, 12 * KB);

	assert_true(sum.named > 0 && sum.left_out > 0 && sum.gaps > 0);
}

static void test_lossy_without(void **state)
{
	struct shim_run_counts sum = run_seeds(SHIM_LOSSY, 0);

	assert_true(sum.named > 0 && sum.unreadable > 0);
	assert_int_equal(sum.recovered, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),	       cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_compacted), cmocka_unit_test(test_late_small),
		cmocka_unit_test(test_lossy),	       cmocka_unit_test(test_lossy_compacted),
		cmocka_unit_test(test_lossy_small),    cmocka_unit_test(test_lossy_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "agent/files/unverified_files.h"
#include "tests/unit/cases.h"

CASE(only_files_of_sampled_processes_count)
{
	struct unverified_files files = {0};

	unverified_files_add(&files, 7, false);
	unverified_files_add(&files, 8, true);
	unverified_files_add(&files, 7, false);
	assert_int_equal(files.count.replaced, 0);
	unverified_files_sample(&files, 7);
	assert_int_equal(files.count.replaced, 2);
	unverified_files_add(&files, 7, false);
	assert_int_equal(files.count.replaced, 3);
	assert_int_equal(files.count.gone, 0);
	unverified_files_sample(&files, 8);
	assert_int_equal(files.count.replaced, 3);
	assert_int_equal(files.count.gone, 1);
	unverified_files_deinit(&files);
}

/* Pids are reused: in a run of days, each pid has been that of a process with samples. */
CASE(a_new_process_has_no_samples_yet)
{
	struct unverified_files files = {0};

	unverified_files_begin(&files, 7);
	unverified_files_sample(&files, 7);
	unverified_files_begin(&files, 7);
	unverified_files_add(&files, 7, false);
	assert_int_equal(files.count.replaced, 0);
	unverified_files_sample(&files, 7);
	assert_int_equal(files.count.replaced, 1);
	unverified_files_deinit(&files);
}

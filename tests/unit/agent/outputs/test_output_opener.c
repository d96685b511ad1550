/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/outputs/output_opener.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

static char folder[] = "/tmp/jitbpf-unit-XXXXXX";

static int setup(void **state)
{
	return !mkdtemp(folder) || chdir(folder);
}

static int teardown(void **state)
{
	return chdir("/") || rmdir(folder);
}

static int next_descriptor(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	close(fd);
	return fd;
}

/* The reply has lost its descriptor: there is no output to write to. */
CASE(an_output_needs_a_descriptor)
{
	static const char *const paths[] = {"out.txt"};
	const struct output_paths declared = {.paths = paths, .count = 1};
	const struct invoking_user user = {.uid = geteuid(), .gid = getegid()};
	struct output_opener *opener;
	struct opened_output opened = {.fd = -7};
	struct rlimit before, few;

	assert_int_equal(output_opener_create(&user, &declared, &opener), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){(rlim_t)next_descriptor(), before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(output_opener_open(opener, "out.txt", &opened), -EMFILE);
	assert_int_equal(opened.fd, -7);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

	assert_int_equal(output_opener_open(opener, "out.txt", &opened), 0);
	assert_true(opened.fd >= 0);
	assert_int_equal(output_opener_publish(opener, &opened), 0);
	close(opened.fd);
	output_opener_forget(opener, &opened);
	output_opener_destroy(opener);
	assert_int_equal(unlink("out.txt"), 0);
}

CASES_GROUP(setup, teardown)

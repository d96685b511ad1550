/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to an opener while this process may open no more files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/files/helper/file_service.h"
#include "agent/files/reading/file_reader.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

static const struct file_patience patience = {
	.answer_ms = 10000, .place_ms = 20000, .refill_percent = 5};
static struct broker broker;
static struct rlimit limit;

static int setup(void **state)
{
	static const role_fn functions[ROLE_COUNT] = {[ROLE_OPENER] = file_service_run};

	return getrlimit(RLIMIT_NOFILE, &limit) || broker_start(functions, &broker) ||
	       file_reader_create(&broker, patience, (void *)state);
}

static int teardown(void **state)
{
	file_reader_destroy(*state);
	broker_stop(&broker);
	return setrlimit(RLIMIT_NOFILE, &limit);
}

/* Let this process open no more files. */
static void use_up_descriptors(void)
{
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit now = {(rlim_t)next, limit.rlim_max};

	assert_true(next >= 0);
	close(next);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
}

static int find(struct file_reader *reader)
{
	struct file_request request = {.kind = FILE_FIND_PATH};
	struct found_file found = {.fd = -1};
	int err;

	strcpy(request.path, "/proc/self/exe");
	err = file_reader_find(reader, file_place_of_debug(0, "/proc/self", FILE_OWNER_UNKNOWN),
			       &request, -1, &found);
	if (!err)
		close(found.fd);
	return err;
}

/* Requests fail with -EMFILE, give no place up, and succeed when descriptors are free again. */
static void check_requests(struct file_reader *reader)
{
	use_up_descriptors();
	for (int i = 0; i < 5; i++)
		assert_int_equal(find(reader), -EMFILE);
	assert_null(file_reader_given_up(reader, 0));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(find(reader), 0);
}

CASE_WITH(test_no_descriptor_for_a_helper, setup, teardown)
{
	check_requests(*state);
}

CASE_WITH(test_no_descriptor_for_an_answer, setup, teardown)
{
	assert_int_equal(find(*state), 0); /* there is a helper */
	check_requests(*state);
}

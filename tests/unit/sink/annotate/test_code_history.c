/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sink/annotate/code_history.h"
#include "state/code/code_region.h"

#define CODE 0x5000

static struct code_record records[8];

static int setup(void **state)
{
	for (uint64_t i = 0; i < 8; i++)
		records[i] = (struct code_record){.identity = i + 1};
	return code_history_create(CODE_HISTORY_MAX, (struct sink **)state);
}

static int teardown(void **state)
{
	sink_code_history.destroy(*state);
	return 0;
}

static void load(struct sink *history, uint64_t time_ns, uint32_t process, uint64_t identity,
		 uint64_t address)
{
	const struct sink_code code = {
		.time_ns = time_ns,
		.process = process,
		.address = address,
		.size_bytes = 0x100,
		.method_id = identity + 100,
		.region = &records[identity - 1].region,
	};

	assert_int_equal(sink_code_history.code(history, NULL, &code), 0);
}

static void unload(struct sink *history, uint64_t time_ns, uint64_t method_id, uint64_t address)
{
	const struct sink_code code = {.time_ns = time_ns,
				       .process = 1,
				       .address = address,
				       .method_id = method_id,
				       .gone = true};

	assert_int_equal(sink_code_history.code(history, NULL, &code), 0);
}

/* Code ends with the first load that overlaps it in the same process. */
static void test_replaced(void **state)
{
	load(*state, 10, 1, 1, CODE);
	load(*state, 11, 1, 2, CODE + 0x100);
	load(*state, 12, 2, 3, CODE); /* another process */
	load(*state, 13, 1, 1, CODE); /* another publisher of the same code */
	load(*state, 20, 1, 4, CODE + 0xff);
	assert_int_equal(code_history_end(*state, 1), 20);
	assert_int_equal(code_history_end(*state, 2), 20);
	assert_int_equal(code_history_end(*state, 3), UINT64_MAX);
	assert_int_equal(code_history_end(*state, 4), UINT64_MAX);
	assert_int_equal(code_history_end(*state, 5), 0);
}

static void test_unloaded(void **state)
{
	load(*state, 10, 1, 1, CODE);
	load(*state, 11, 1, 2, CODE + 0x100);
	unload(*state, 15, 102, 0);
	unload(*state, 16, 0, CODE);
	assert_int_equal(code_history_end(*state, 1), 16);
	assert_int_equal(code_history_end(*state, 2), 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unloaded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

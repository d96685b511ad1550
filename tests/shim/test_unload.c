/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only event whose payload may be as short as its first four bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/scope.h"
#include "tests/shim/record_expect.h"
#include "tests/shim/shim_fixture.h"

static struct shim shim;

static void test_unload_by_id_reads_the_id_alone(void **state)
{
	uint8_t *payload = at_edge_of_memory(4);
	struct bytes fields = {0};

	put_u32(payload, 0, 77);
	expect_record(&shim, 14, payload, method_header(77, 0, 0), &fields);
}

static void test_unload_by_id_takes_nothing_from_behind_it(void **state)
{
	uint8_t payload[64] __attribute__((aligned(64)));
	struct bytes fields = {0};

	put_prefix(payload, sizeof(payload), NULL);
	expect_record(&shim, 14, payload, method_header(4711, 0, 0), &fields);
}

static struct jitbpf_jit_header unknown_range(void)
{
	struct jitbpf_jit_header header = method_header(0, 0, 0);

	header.flags = JITBPF_JIT_TRUNCATED;
	return header;
}

static void test_unload_by_range(void **state)
{
	uint8_t *across = at_edge_of_memory(4096 + 8);
	uint8_t within[64] __attribute__((aligned(64)));
	struct bytes fields = {0};

	put_prefix(within, sizeof(within), NULL);
	put_u32(within, 0, 0);
	expect_record(&shim, 14, within, method_header(0, 0x7f1234567000, 0xfffffff0), &fields);
	/* The size is on the next page, which may be unreadable. */
	put_prefix(across - 16, 64, NULL);
	put_u32(across - 16, 0, 0);
	expect_record(&shim, 14, across - 16, unknown_range(), &fields);
}

static void test_unload_of_id_0_with_nothing_behind(void **state)
{
	uint8_t *payload = at_edge_of_memory(24);
	struct bytes fields = {0};

	memset(payload, 0, 24);
	expect_record(&shim, 14, payload, unknown_range(), &fields);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unload_by_id_reads_the_id_alone),
		cmocka_unit_test(test_unload_by_id_takes_nothing_from_behind_it),
		cmocka_unit_test(test_unload_by_range),
		cmocka_unit_test(test_unload_of_id_0_with_nothing_behind),
	};

	shim_open(&shim);
	shim_listen(&shim);
	return cmocka_run_group_tests_name("shim: unload", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <unistd.h>

#include "agent/kernel/events/online_cpus.h"
#include "tests/unit/cases.h"

static unsigned count(const struct cpu_list *list)
{
	unsigned found = 0;

	for (uint32_t cpu = 0; cpu < 2 * JITBPF_CPUS_MAX; cpu++)
		found += cpu_list_has(list, cpu);
	return found;
}

CASE(test_lists)
{
	struct cpu_list list = {0};

	assert_true(cpu_list_parse("0-3,8,62-65\n", &list));
	assert_int_equal(count(&list), 9);
	assert_true(cpu_list_has(&list, 3) && cpu_list_has(&list, 8) && cpu_list_has(&list, 64));
	assert_false(cpu_list_has(&list, 4));
	assert_true(cpu_list_parse("0", &list));
	assert_int_equal(count(&list), 1);
	assert_true(cpu_list_parse("\n", &list));
	assert_int_equal(count(&list), 0);
	/* Those beyond the limit are left out. */
	assert_true(cpu_list_parse("1022-18446744073709551615,99999", &list));
	assert_int_equal(count(&list), 2);
}

CASE(test_malformed_lists)
{
	static const char *const lists[] = {"x", "1-", "3-2", "1,x", "1 2", "-", ",1"};
	struct cpu_list list = {0};

	cpu_list_add(&list, 5);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_false(cpu_list_parse(lists[i], &list));
	assert_true(cpu_list_has(&list, 5)); /* unchanged */
}

CASE(test_this_machine)
{
	struct cpu_list online, left;
	struct online_cpus cpus;

	online_cpus_init(&cpus);
	assert_true(online_cpus_look(&cpus, 10, &online, &left));
	assert_int_equal(count(&online), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(count(&left), 0);
	assert_false(online_cpus_look(&cpus, 11, &online, &left));
	assert_true(online_cpus_look(&cpus, 1000000010, &online, &left));
	online_cpus_deinit(&cpus);
}

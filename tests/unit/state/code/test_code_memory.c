/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of code maps: what owners are charged is what the allocator gives. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"

#define METHODS 40000

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static uint64_t allocated_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return info.uordblks + info.hblkhd;
}

/* Of `classes` classes, each in a file of its own; 0: without a class. */
static void load(struct code_map *map, struct code_account *account, uint32_t number,
		 uint32_t classes)
{
	char name[64], class_name[64], source[64];
	int bytes = snprintf(name, sizeof(name), "app::module::Class::method_%07u(int)", number);
	struct code_event event = {
		.kind = JITBPF_CODE_LOAD,
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM, .engine = CODE_ENGINE_KNOWN},
		.method_id = number + 1,
		.time_ns = 1000 + number,
		.address = 0x10000 + number * 64ull,
		.size_bytes = 64,
		.name = {.bytes = name, .size_bytes = (size_t)bytes},
	};

	if (classes) {
		bytes = snprintf(class_name, sizeof(class_name), "org.example.server.part.Class%u",
				 number % classes);
		event.class_name = (struct code_string){class_name, (size_t)bytes};
		bytes = snprintf(source, sizeof(source), "Class%u.java", number % classes);
		event.source = (struct code_string){source, (size_t)bytes};
	}
	assert_int_equal(code_map_apply(map, account, &event), 0);
}

/* Returns what a method is charged. */
static uint64_t check_charges(uint32_t classes)
{
	uint64_t next_number = 0, before, allocated, charged;
	struct code_account *account;
	struct code_map *map;

	assert_int_equal(code_account_create(&code_budget_default, &account), 0);
	assert_int_equal(code_map_create(&next_number, &map), 0);
	before = allocated_bytes();
	for (uint32_t i = 0; i < METHODS; i++)
		load(map, account, i, classes);
	allocated = allocated_bytes() - before;
	charged = account->bytes / METHODS;
	print_message("a method of %u classes: %.0f B allocated, %.0f B charged\n", classes,
		      (double)allocated / METHODS, (double)account->bytes / METHODS);
	assert_int_equal(account->methods, METHODS);
	/* Trees that are filled in order take less than is charged; sanitizers count no headers. */
	assert_in_range(account->bytes, allocated / 20 * 19, allocated / 5 * 6);
	code_map_destroy(map);
	assert_int_equal(account->bytes, 0);
	assert_int_equal(account->name_bytes, 0);
	code_account_put(account);
	return charged;
}

CASE(test_charged_is_allocated)
{
	check_charges(0);
	check_charges(METHODS);
}

/* Methods of a class share the names of class and file. */
CASE(test_class_and_source_once)
{
	uint64_t plain = check_charges(0);

	assert_in_range(check_charges(METHODS / 10), plain, plain + 16);
	assert_in_range(check_charges(METHODS), plain + 60, plain + 160);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/runtime_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

#define PAGE  RUNTIME_MEMORY_PAGE_BYTES
#define BASE  0x100000ull
#define PAGES 20 /* that can be read */

/* The memory of a process: byte i of it is i / 16. */
struct made {
	struct runtime_memory memory;
	struct memory_source source;
	struct process_memory of_process;
	int error;
	uint32_t reads;
	uint8_t added; /* to each byte: the process has changed it */
};

static int read_source(void *context, uint32_t pid, struct owner_key owner, uint64_t address,
		       void *buf, size_t size_bytes, size_t *ret_bytes)
{
	struct made *made = context;
	uint64_t end = BASE + PAGES * PAGE, left;

	made->reads++;
	assert_int_equal(pid, 77);
	if (made->error)
		return made->error;
	if (address < BASE || address >= end)
		return -EFAULT;
	left = end - address;
	*ret_bytes = size_bytes < left ? size_bytes : left;
	for (size_t i = 0; i < *ret_bytes; i++)
		((uint8_t *)buf)[i] = (uint8_t)((address - BASE + i) / 16 + made->added);
	return 0;
}

static int setup(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	made->source = (struct memory_source){.read = read_source, .context = made};
	made->memory.source = &made->source;
	made->memory.pid = 77;
	made->of_process = runtime_memory_of(&made->memory);
	*state = made;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static int word(struct made *made, uint64_t address, uint64_t *ret)
{
	return process_memory_word(&made->of_process, address, ret);
}

CASE_WITH(small_reads_share_pages, setup, teardown)
{
	struct made *made = *state;
	uint64_t read;

	for (uint64_t at = BASE; at < BASE + PAGE; at += 16) {
		assert_int_equal(word(made, at, &read), 0);
		assert_int_equal(read, (at - BASE) / 16 % 256 * 0x0101010101010101);
	}
	assert_int_equal(made->reads, 1);
	/* Over the border of two pages. */
	assert_int_equal(word(made, BASE + 2 * PAGE - 4, &read), 0);
	assert_int_equal(read & UINT32_MAX, 0xffffffff);
	assert_int_equal(read >> 32, 0);
	assert_int_equal(made->reads, 3);
	/* The least recently used page goes first. */
	for (uint64_t page = 3; page < 2 + RUNTIME_MEMORY_PAGES; page++) {
		assert_int_equal(word(made, BASE + page * PAGE, &read), 0);
		assert_int_equal(word(made, BASE, &read), 0);
	}
	assert_int_equal(made->reads, 2 + RUNTIME_MEMORY_PAGES);
}

CASE_WITH(a_refresh_sees_the_present, setup, teardown)
{
	struct made *made = *state;
	uint64_t read;

	assert_int_equal(word(made, BASE, &read), 0);
	made->added = 1;
	assert_int_equal(word(made, BASE, &read), 0);
	assert_int_equal(read, 0);
	process_memory_refresh(&made->of_process);
	assert_int_equal(word(made, BASE, &read), 0);
	assert_int_equal(read, 0x0101010101010101);
}

CASE_WITH(large_reads, setup, teardown)
{
	AUTO_FREE uint8_t *bytes = malloc(PAGES * PAGE + 1);
	struct made *made = *state;

	assert_int_equal(process_memory_read(&made->of_process, BASE, bytes, PAGES * PAGE), 0);
	assert_int_equal(bytes[PAGE + 32], 2);
	assert_int_equal(made->reads, 1);
	assert_int_equal(process_memory_read(&made->of_process, BASE, bytes, PAGES * PAGE + 1),
			 -EFAULT);
}

CASE_WITH(addresses_that_no_process_has, setup, teardown)
{
	static const uint64_t wrong[] = {
		0, 8, PAGE - 1, (1ull << 47) - 7, 1ull << 47, UINT64_MAX - 3, UINT64_MAX};
	struct made *made = *state;
	uint64_t read;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(word(made, wrong[i], &read), -EFAULT);
	assert_int_equal(made->reads, 0);
	assert_int_equal(word(made, BASE - 4, &read), -EFAULT);
	assert_int_equal(word(made, BASE, &read), 0);
	assert_int_equal(made->memory.failed, 0);
}

CASE_WITH(a_page_that_blocks_costs_one_wait, setup, teardown)
{
	struct made *made = *state;
	uint64_t read;

	made->error = -ETIMEDOUT;
	assert_int_equal(word(made, BASE, &read), -ETIMEDOUT);
	made->error = 0;
	assert_int_equal(word(made, BASE + PAGE, &read), -ETIMEDOUT);
	assert_int_equal(made->reads, 1);
}

CASE_WITH(reads_have_a_budget, setup, teardown)
{
	struct made *made = *state;
	uint64_t read;

	for (uint32_t i = 0; i < RUNTIME_MEMORY_READS_MAX; i++)
		assert_int_equal(word(made, BASE + i % PAGES * PAGE, &read), 0);
	assert_int_equal(word(made, BASE + 10 * PAGE, &read), -E2BIG);
	assert_int_equal(made->reads, RUNTIME_MEMORY_READS_MAX);
	assert_int_equal(made->memory.failed, -E2BIG);
}

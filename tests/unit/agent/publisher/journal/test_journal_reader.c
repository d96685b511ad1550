/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/publisher/journal/journal_reader.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_journal.h"

#define CAPACITY (1u << 20)

/* A journal, and a simulated process that appends to it while it is read. */
struct writer {
	struct jitbpf_journal_header *header;
	struct journal_reader reader;
	struct journal_budget budget;
	journal_room room;
	uint64_t written, taken, begun;
	bool answers;  /* appends one entry for each entry that is read */
	bool compacts; /* compacts the journal once, after the first entry */
};

static void append(struct writer *writer)
{
	struct made_journal made = {0};

	made_journal_add(&made, writer->written++, 1, "f", true);
	assert_true(writer->header->used_bytes + made.size_bytes <= CAPACITY);
	memcpy((char *)writer->header + writer->header->used_bytes, made.bytes, made.size_bytes);
	writer->header->used_bytes += made.size_bytes;
}

static int begin(void *context)
{
	struct writer *writer = context;

	writer->begun++;
	return 0;
}

static int take(void *context, const struct jit_journal_entry *entry)
{
	struct writer *writer = context;

	writer->taken++;
	if (writer->answers)
		append(writer);
	if (writer->compacts && writer->taken == 1)
		writer->header->generation += 2;
	return 0;
}

static int setup(void **state)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int fd = memfd_create("journal", MFD_CLOEXEC);

	assert_non_null(writer);
	assert_int_equal(ftruncate(fd, CAPACITY), 0);
	writer->header = mmap(NULL, CAPACITY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(writer->header, MAP_FAILED);
	*writer->header = made_journal_header(CAPACITY);
	writer->reader = (struct journal_reader){.fd = fd, .size_bytes = CAPACITY};
	writer->budget = (struct journal_budget){
		.bytes = {.level = CAPACITY},
		.wait_ns = {.level = 2000000},
	};
	*state = writer;
	return 0;
}

static int teardown(void **state)
{
	struct writer *writer = *state;

	journal_reader_close(&writer->reader);
	munmap(writer->header, CAPACITY);
	vec_deinit(&writer->room);
	free(writer);
	return 0;
}

static int read_all(struct writer *writer)
{
	struct journal_taker taker = {.begin = begin, .entry = take, .context = writer};
	struct journal_budget *const budgets[2] = {&writer->budget, &writer->budget};

	return journal_reader_read(&writer->reader, budgets, &writer->room, UINT64_MAX, &taker);
}

CASE_WITH(test_goes_on_where_it_was, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	append(writer);
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->taken, 2);
	append(writer);
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->taken, 3);
	assert_int_equal(writer->begun, 1);
}

/* A journal that grows as fast as it is read does not keep the reader busy for ever. */
CASE_WITH(test_that_grows_meanwhile, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	append(writer);
	writer->answers = true;
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->taken, 2);
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->taken, 4);
}

CASE_WITH(test_that_is_compacted_meanwhile, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	while (writer->header->used_bytes < CAPACITY / 2)
		append(writer);
	writer->budget.bytes.level = 2 * CAPACITY;
	writer->compacts = true;
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->begun, 2);
	assert_in_range(writer->taken, writer->written + 1, 2 * writer->written);
}

/* A journal is whole once its last piece was read, however slowly the entries are taken. */
CASE_WITH(test_that_is_compacted_afterwards, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	writer->compacts = true;
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->begun, 1);
	assert_int_equal(writer->taken, 1);
	/* The next call begins with the first entry, since the generation is another one. */
	assert_int_equal(read_all(writer), 0);
	assert_int_equal(writer->begun, 2);
	assert_int_equal(writer->taken, 2);
}

CASE_WITH(test_that_shrinks, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	append(writer);
	assert_int_equal(read_all(writer), 0);
	writer->header->used_bytes = writer->header->data_offset;
	assert_int_equal(read_all(writer), -EBADMSG);
}

CASE_WITH(test_that_never_rests, setup, teardown)
{
	struct writer *writer = *state;

	int err;

	writer->header->generation = 1;
	writer->budget.wait_ns.level = 100000000;
	/* Each call waits for a short time, until the budget is spent. */
	err = read_all(writer);
	assert_int_equal(err, -EINPROGRESS);
	for (int calls = 0; err == -EINPROGRESS && calls < 1000; calls++)
		err = read_all(writer);
	assert_int_equal(err, -EBUSY);
	assert_int_equal(writer->taken, 0);
}

CASE_WITH(test_budget, setup, teardown)
{
	struct writer *writer = *state;

	append(writer);
	writer->budget.bytes.level = 10;
	assert_int_equal(read_all(writer), -EDQUOT);
	assert_int_equal(writer->taken, 0);
}

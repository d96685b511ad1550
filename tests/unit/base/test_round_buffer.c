/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>

#include <string.h>

#include "base/hash.h"
#include "base/round_buffer.h"
#include "tests/unit/cases.h"

#define RECORD_BYTES_MAX 64

struct taken {
	char order[64]; /* the letter of each delivered record */
	size_t count;
	size_t fail_at;
};

/* Add a record filled with a letter, of an odd size. */
static void add(struct round_buffer *buffer, uint64_t time_ns, char letter)
{
	union {
		struct jitbpf_record record;
		char bytes[RECORD_BYTES_MAX];
	} made;
	uint32_t size_bytes = sizeof(struct jitbpf_record) + 1 + (uint32_t)letter % 32;

	memset(&made, letter, sizeof(made));
	made.record.size_bytes = size_bytes;
	made.record.time_ns = 1;
	assert_int_equal(round_buffer_add(buffer, time_ns, &made.record), 0);
}

static int take(void *context, const struct jitbpf_record *record)
{
	struct taken *taken = context;
	const char *bytes = (const char *)record;

	assert_int_equal((uintptr_t)record % 8, 0);
	for (size_t i = sizeof(*record) + 1; i < record->size_bytes; i++)
		assert_int_equal(bytes[i], bytes[sizeof(*record)]);
	taken->order[taken->count++] = bytes[sizeof(*record)];
	return taken->fail_at && taken->count == taken->fail_at ? -EIO : 0;
}

static void assert_drained(struct round_buffer *buffer, uint64_t until_ns, const char *order)
{
	struct taken taken = {0};

	assert_int_equal(round_buffer_drain(buffer, until_ns, take, &taken), 0);
	assert_string_equal(taken.order, order);
}

CASE(test_order)
{
	struct round_buffer buffer = {0};

	add(&buffer, 3, 'c');
	add(&buffer, 1, 'a');
	add(&buffer, 3, 'd');
	add(&buffer, 2, 'b');
	add(&buffer, 3, 'e');
	assert_drained(&buffer, UINT64_MAX, "abcde");
	assert_drained(&buffer, UINT64_MAX, "");
	round_buffer_deinit(&buffer);
}

CASE(test_what_is_later_stays)
{
	struct round_buffer buffer = {0};

	add(&buffer, 50, 'e');
	add(&buffer, 10, 'a');
	add(&buffer, 50, 'f');
	add(&buffer, 20, 'b');
	add(&buffer, UINT64_MAX, 'g');
	assert_drained(&buffer, 5, "");
	assert_drained(&buffer, 20, "ab");
	add(&buffer, 30, 'c');
	add(&buffer, 50, 'h'); /* after earlier records of that time */
	add(&buffer, 40, 'd');
	assert_drained(&buffer, 40, "cd");
	assert_drained(&buffer, 49, "");
	assert_drained(&buffer, 50, "efh");
	assert_drained(&buffer, UINT64_MAX, "g");
	assert_drained(&buffer, UINT64_MAX, "");
	round_buffer_deinit(&buffer);
}

/* The time_ns of a record is its index here, in order of arrival. */
struct ordered {
	struct round_record {
		uint64_t time_ns;
		bool delivered;
	} records[3000];
	uint64_t until_ns, last_ns, last;
	size_t delivered;
};

static int take_ordered(void *context, const struct jitbpf_record *record)
{
	struct ordered *ordered = context;
	struct round_record *made = &ordered->records[record->time_ns];

	assert_false(made->delivered);
	assert_true(made->time_ns <= ordered->until_ns);
	assert_true(made->time_ns > ordered->last_ns ||
		    (made->time_ns == ordered->last_ns && record->time_ns > ordered->last));
	ordered->last_ns = made->time_ns;
	ordered->last = record->time_ns;
	made->delivered = true;
	ordered->delivered++;
	return 0;
}

/* Records from far and near times, with drains at any time in between. */
CASE(test_random_times)
{
	static struct ordered ordered;
	struct round_buffer buffer = {0};
	uint64_t dice = 1;

	for (uint64_t i = 1; i < 3000; i++) {
		struct jitbpf_record record = {.size_bytes = sizeof(record), .time_ns = i};

		dice = hash_mix(dice, 0x9e3779b97f4a7c15ull);
		ordered.records[i].time_ns = dice % 4 ? i + dice / 4 % 8 : i + dice / 4 % 900;
		assert_int_equal(round_buffer_add(&buffer, ordered.records[i].time_ns, &record), 0);
		if (dice >> 60)
			continue;
		if (i + (dice >> 32) % 20 < ordered.until_ns)
			continue;
		ordered.until_ns = i + (dice >> 32) % 20;
		ordered.last_ns = ordered.last = 0;
		assert_int_equal(
			round_buffer_drain(&buffer, ordered.until_ns, take_ordered, &ordered), 0);
		for (uint64_t j = 1; j <= i; j++)
			assert_int_equal(ordered.records[j].delivered,
					 ordered.records[j].time_ns <= ordered.until_ns);
	}
	ordered.until_ns = UINT64_MAX;
	ordered.last_ns = ordered.last = 0;
	assert_int_equal(round_buffer_drain(&buffer, UINT64_MAX, take_ordered, &ordered), 0);
	assert_int_equal(ordered.delivered, 2999);
	round_buffer_deinit(&buffer);
}

CASE(test_error_drops_the_rest)
{
	struct taken taken = {.fail_at = 2};
	struct round_buffer buffer = {0};

	add(&buffer, 1, 'a');
	add(&buffer, 2, 'b');
	add(&buffer, 3, 'c');
	add(&buffer, 9, 'd');
	assert_int_equal(round_buffer_drain(&buffer, 5, take, &taken), -EIO);
	assert_string_equal(taken.order, "ab");
	assert_drained(&buffer, UINT64_MAX, "");
	round_buffer_deinit(&buffer);
}

static int count_one(void *context, const struct jitbpf_record *record)
{
	++*(unsigned *)context;
	return 0;
}

/* Memory is kept from round to round, but not that of one large round. */
CASE(test_memory_of_a_large_round)
{
	static const struct jitbpf_record record = {.size_bytes = sizeof(record), .time_ns = 1};
	struct round_buffer buffer = {0};
	unsigned counts[] = {1000000, 1000000, 10, 10, 10}, taken;
	size_t large = 0;

	for (size_t i = 0; i < 5; i++) {
		taken = 0;
		for (unsigned j = 0; j < counts[i]; j++)
			assert_int_equal(round_buffer_add(&buffer, i + 1, &record), 0);
		assert_int_equal(round_buffer_drain(&buffer, i + 1, count_one, &taken), 0);
		assert_int_equal(taken, counts[i]);
		if (i < 2)
			large = buffer.bytes.capacity;
	}
	assert_true(large >= 1000000 * sizeof(record));
	assert_true(buffer.bytes.capacity < large / 100);
	assert_true(buffer.entries.capacity < 1000);
	round_buffer_deinit(&buffer);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of a BPF ring buffer, over a memory file that is laid out as one. */
#include <stdint.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel/bpf/ring.h"
#include "base/scope.h"
#include "tests/unit/agent/kernel/bpf/made_ring.h"
#include "tests/unit/cases.h"

#define TAKEN_MAX 1000u

struct fixture {
	struct made_ring kernel;
	struct ring ring;
	uint32_t taken[TAKEN_MAX], count; /* the first word of each record */
	size_t last_bytes;
	uint32_t fails_at; /* the taker fails on the record of this number */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->fails_at = UINT32_MAX;
	return made_ring_init(&f->kernel) ?: ring_init(&f->ring, f->kernel.fd, MADE_RING_BYTES);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ring_deinit(&f->ring);
	ring_deinit(&f->ring); /* does nothing the second time */
	made_ring_deinit(&f->kernel);
	free(f);
	return 0;
}

static uint64_t *position(struct fixture *f)
{
	return made_ring_position(&f->kernel);
}

/* Reserve a record that is filled with a word, with bits of its header set. Returns its place. */
static uint64_t reserve(struct fixture *f, uint32_t word, uint32_t bytes, uint32_t bits)
{
	uint32_t words[MADE_RING_BYTES / sizeof(word)];

	for (uint32_t i = 0; i * sizeof(word) < bytes; i++)
		words[i] = word;
	return made_ring_reserve(&f->kernel, words, bytes, bits);
}

static int take(void *context, const void *record, size_t size_bytes)
{
	struct fixture *f = context;
	const uint32_t *words = record;

	assert_int_equal((uintptr_t)record % 8, 0);
	assert_true(f->count < TAKEN_MAX);
	for (size_t i = 1; i < size_bytes / sizeof(*words); i++)
		assert_int_equal(words[i], words[0]);
	f->taken[f->count] = words[0];
	f->last_bytes = size_bytes;
	return f->count++ == f->fails_at ? -EIO : 0;
}

static void drain(struct fixture *f, int expected)
{
	assert_int_equal(ring_drain(&f->ring, take, f), expected);
}

CASE_WITH(test_in_order, setup, teardown)
{
	struct fixture *f = *state;

	drain(f, 0);
	assert_int_equal(f->count, 0);
	for (uint32_t i = 0; i < 10; i++)
		reserve(f, i, 4 + i, 0);
	assert_int_equal(ring_reserved(&f->ring), *position(f));
	assert_int_equal(ring_consumed(&f->ring), 0);
	drain(f, 0);
	assert_int_equal(f->count, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(f->taken[i], i);
	assert_int_equal(f->last_bytes, 13);
	assert_int_equal(ring_consumed(&f->ring), *position(f));
	drain(f, 0);
	assert_int_equal(f->count, 10);
}

CASE_WITH(test_discarded, setup, teardown)
{
	struct fixture *f = *state;

	reserve(f, 1, 16, 0);
	reserve(f, 2, 64, BPF_RINGBUF_DISCARD_BIT);
	reserve(f, 3, 16, 0);
	drain(f, 0);
	assert_int_equal(f->count, 2);
	assert_int_equal(f->taken[1], 3);
	assert_int_equal(ring_consumed(&f->ring), *position(f));
}

/* What is behind a record that is not committed waits for it. */
CASE_WITH(test_not_committed, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t busy;

	reserve(f, 1, 16, 0);
	busy = reserve(f, 2, 24, BPF_RINGBUF_BUSY_BIT);
	reserve(f, 3, 16, 0);
	drain(f, 0);
	drain(f, 0);
	assert_int_equal(f->count, 1);
	assert_int_equal(ring_consumed(&f->ring), busy);
	made_ring_set_length(&f->kernel, busy, 24);
	drain(f, 0);
	assert_int_equal(f->count, 3);
	assert_int_equal(f->taken[1], 2);
	assert_int_equal(f->taken[2], 3);
}

/* Records of all sizes come to lie at both ends of the ring, and are whole. */
CASE_WITH(test_at_both_ends, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t wrapped = 0;

	for (uint32_t bytes = 4; bytes < MADE_RING_BYTES / 2; bytes += 4) {
		uint64_t at = reserve(f, bytes, bytes, 0) + BPF_RINGBUF_HDR_SZ;

		wrapped += at / MADE_RING_BYTES != (at + bytes - 1) / MADE_RING_BYTES;
		drain(f, 0);
		assert_int_equal(f->taken[f->count - 1], bytes);
		assert_int_equal(f->last_bytes, bytes);
	}
	assert_int_equal(f->count, MADE_RING_BYTES / 8 - 1);
	assert_true(wrapped > 50);
}

CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3; i++)
		reserve(f, i, 8, 0);
	f->fails_at = 1;
	drain(f, -EIO);
	assert_int_equal(f->count, 2);
	assert_int_equal(ring_consumed(&f->ring), 32);
	drain(f, 0);
	assert_int_equal(f->count, 3);
	assert_int_equal(f->taken[2], 2);
}

static int take_and_reserve(void *context, const void *record, size_t size_bytes)
{
	struct fixture *f = context;

	reserve(f, 100, 8, 0);
	return take(f, record, size_bytes);
}

/* A producer that is as fast as the reader does not keep it. */
CASE_WITH(test_reserved_meanwhile, setup, teardown)
{
	struct fixture *f = *state;

	reserve(f, 1, 8, 0);
	reserve(f, 2, 8, 0);
	assert_int_equal(ring_drain(&f->ring, take_and_reserve, f), 0);
	assert_int_equal(f->count, 2);
	drain(f, 0);
	assert_int_equal(f->count, 4);
	assert_int_equal(f->taken[3], 100);
}

#define FROM_THREAD 100000u

/* Commits records of changing sizes, always as soon as there is room. */
static void *produce(void *fixture)
{
	struct fixture *f = fixture;

	for (uint32_t i = 0; i < FROM_THREAD; i++) {
		uint32_t bytes = 4 + i % 97 * 4;
		uint64_t at;

		while (*position(f) + bytes + 16 -
			       __atomic_load_n((uint64_t *)f->kernel.consumer_page,
					       __ATOMIC_ACQUIRE) >
		       MADE_RING_BYTES)
			usleep(0);
		at = reserve(f, i, bytes, BPF_RINGBUF_BUSY_BIT);
		made_ring_set_length(&f->kernel, at,
				     i % 5 ? bytes : bytes | BPF_RINGBUF_DISCARD_BIT);
	}
	return NULL;
}

static int take_next(void *context, const void *record, size_t size_bytes)
{
	struct fixture *f = context;
	uint32_t number = *(const uint32_t *)record;

	assert_int_equal(number, f->count + f->count / 4 + 1); /* every fifth one is discarded */
	assert_int_equal(size_bytes, 4 + number % 97 * 4);
	f->count++;
	return 0;
}

CASE_WITH(test_producer_thread, setup, teardown)
{
	struct fixture *f = *state;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	while (f->count < FROM_THREAD / 5 * 4)
		assert_int_equal(ring_drain(&f->ring, take_next, f), 0);
	pthread_join(thread, NULL);
	drain(f, 0);
	assert_int_equal(ring_consumed(&f->ring), ring_reserved(&f->ring));
}

CASE(test_no_map)
{
	struct ring ring = {0};

	assert_int_equal(ring_init(&ring, -1, MADE_RING_BYTES), -EBADF);
	ring_deinit(&ring);
}

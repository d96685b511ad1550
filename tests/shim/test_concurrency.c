/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads, forks and signals in the middle of events. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "tests/shim/shim_fixture.h"

#define THREADS		  16
#define EVENTS_PER_THREAD 1500
#define SIGNALS		  300

static struct shim shim;

static int forget(void **state)
{
	hits_clear();
	shim_on_hit = NULL;
	return 0;
}

/*
 * An event whose bytes all depend on its number, so that bytes of another event
 * are detected. One in four events has several parts.
 */
static size_t name_size_of(uint32_t number)
{
	return number % 4 ? number % 100 + 1 : 5000 + number % 7000;
}

static void send_numbered(uint32_t number)
{
	char name[12001];
	uint8_t payload[64] = {0};
	size_t size = name_size_of(number);

	memset(name, 'a' + number % 26, size);
	name[size] = 0;
	put_u32(payload, 0, number);
	put_pointer(payload, 8, name);
	shim.notify(13, payload);
}

static bool is_numbered(const struct whole_record *record)
{
	uint32_t number = record->header.method_id;
	uint32_t head[2] = {JITBPF_JIT_NAME, (uint32_t)name_size_of(number)};

	if (record->field_bytes != sizeof(head) + head[1] ||
	    memcmp(record->fields, head, sizeof(head)) != 0)
		return false;
	for (size_t i = sizeof(head); i < record->field_bytes; i++) {
		if (record->fields[i] != 'a' + number % 26)
			return false;
	}
	return true;
}

/* Returns the sequence number of the next record. */
static uint64_t next_sequence(void)
{
	uint64_t next;

	shim.notify(2, NULL);
	next = hit_at(hits_count() - 1)->sequence + 1;
	hits_clear();
	return next;
}

/*
 * Expect that the hits are exactly the records first .. first + count - 1,
 * complete, each of the thread that sent it, and that the numbers 0 .. count -
 * 1 occur once each.
 */
static void expect_numbered(uint64_t first, size_t count)
{
	AUTO_FREE uint8_t *seen = calloc(count, 1);
	struct whole_record record;
	size_t hits = 0;

	assert_non_null(seen);
	for (uint64_t sequence = first; sequence < first + count; sequence++) {
		assert_true(record_of(sequence, &record));
		assert_true(is_numbered(&record));
		assert_true(record.header.method_id < count);
		assert_int_equal(seen[record.header.method_id]++, 0);
		hits += record.header.part_count;
	}
	assert_int_equal(hits, hits_count());
}

static void *thread_main(void *argument)
{
	uint32_t first = (uint32_t)(uintptr_t)argument * EVENTS_PER_THREAD;

	for (uint32_t i = 0; i < EVENTS_PER_THREAD; i++)
		send_numbered(first + i);
	return NULL;
}

static void test_threads_at_once(void **state)
{
	uint64_t first = next_sequence();
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_main, (void *)i), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	expect_numbered(first, THREADS * EVENTS_PER_THREAD);
}

/* Returns true if the last hit has this thread and this sequence number. */
static bool last_hit_is(uint64_t sequence)
{
	const struct hit *hit = hit_at(hits_count() - 1);
	struct jitbpf_jit_header header;

	memcpy(&header, hit->bytes, sizeof(header));
	return hit->sequence == sequence && header.sequence == sequence &&
	       hit->tid == (uint32_t)gettid();
}

/* A child has sequence numbers from 0; so has its child. */
static int child_main(unsigned int generation)
{
	int status;
	pid_t pid;

	for (uint64_t sequence = 0; sequence < 3; sequence++) {
		shim.notify(2, NULL);
		if (!last_hit_is(sequence))
			return 1;
	}
	if (generation == 2)
		return 0;
	pid = fork();
	if (pid == 0)
		_exit(child_main(generation + 1));
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 2;
	shim.notify(2, NULL);
	return last_hit_is(3) ? 0 : 3;
}

static void *fork_main(void *argument)
{
	uint64_t next = next_sequence();
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(child_main(1));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*(int *)argument = status;
	shim.notify(2, NULL);
	assert_true(last_hit_is(next));
	return NULL;
}

static void test_fork_begins_anew(void **state)
{
	int status = -1;

	fork_main(&status);
	assert_int_equal(status, 0);
}

static void test_fork_from_a_thread_begins_anew(void **state)
{
	int status = -1;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fork_main, &status), 0);
	pthread_join(thread, NULL);
	assert_int_equal(status, 0);
}

static void on_signal_send_4(int signal)
{
	send_numbered(4);
}

static void raise_once(const struct hit *hit)
{
	shim_on_hit = NULL;
	raise(SIGUSR1);
}

/* The inner event, which has several parts, comes between the parts of the outer one. */
static void test_signal_between_the_parts_of_an_event(void **state)
{
	uint64_t first = next_sequence();
	struct whole_record outer, inner;

	signal(SIGUSR1, on_signal_send_4);
	shim_on_hit = raise_once;
	send_numbered(8);
	signal(SIGUSR1, SIG_DFL);

	assert_int_equal(hit_at(0)->sequence, first);
	assert_int_equal(hit_at(1)->sequence, first + 1);
	assert_int_equal(hit_at(hits_count() - 1)->sequence, first);
	assert_true(record_of(first, &outer));
	assert_true(record_of(first + 1, &inner));
	assert_true(is_numbered(&outer) && outer.header.method_id == 8);
	assert_true(is_numbered(&inner) && inner.header.method_id == 4);
	assert_true(outer.header.part_count > 1 && inner.header.part_count > 1);
	assert_int_equal(hits_count(), outer.header.part_count + inner.header.part_count);
}

static volatile sig_atomic_t signals_seen;
static volatile uint32_t next_number;

static void on_timer(int signal)
{
	signals_seen++;
	send_numbered(__atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
}

/* Signals at random instructions, until there were enough. */
static void test_signals_anywhere(void **state)
{
	struct itimerval every = {.it_interval.tv_usec = 100, .it_value.tv_usec = 100};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	uint64_t first = next_sequence();

	signals_seen = 0;
	next_number = 0;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	while (signals_seen < SIGNALS && next_number < 40000) {
		errno = EXDEV;
		send_numbered(__atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
		assert_int_equal(errno, EXDEV);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL), 0);
	signal(SIGALRM, SIG_DFL);
	assert_true(signals_seen > 0);
	expect_numbered(first, next_number);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_threads_at_once, forget),
		cmocka_unit_test_setup(test_fork_begins_anew, forget),
		cmocka_unit_test_setup(test_fork_from_a_thread_begins_anew, forget),
		cmocka_unit_test_setup(test_signal_between_the_parts_of_an_event, forget),
		cmocka_unit_test_setup(test_signals_anywhere, forget),
	};

	shim_open(&shim);
	shim_listen(&shim);
	return cmocka_run_group_tests_name("shim: concurrency", tests, NULL, NULL);
}

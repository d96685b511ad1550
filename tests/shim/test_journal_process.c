/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The journal and events of processes: threads, signals, forks, exec, exit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "tests/shim/journal_copy.h"
#include "tests/shim/shim_fixture.h"

#define THREADS		  16
#define EVENTS_PER_THREAD 500
#define KILLS		  100
#define FORKS		  100
#define PAGE_BYTES	  4096

static struct shim shim;

static int status_of(pid_t pid)
{
	int status = -1;

	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Each test has a process of its own, which loads the shim. */
static void run_in_child(void (*child)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		shim_open(&shim);
		child();
		_exit(0);
	}
	assert_int_equal(status_of(pid), 0);
}

/* An event whose bytes all depend on its number. */
static void send_numbered(uint32_t number)
{
	char name[200];
	uint8_t payload[64] = {0};
	size_t size = number % 190 + 1;

	memset(name, 'a' + number % 26, size);
	name[size] = 0;
	put_u32(payload, 0, number + 1);
	put_pointer(payload, 8, name);
	put_u64(payload, 16, 0x10000 + number % 128 * 0x100);
	put_u32(payload, 24, 0x100);
	MUST(shim.notify(13, payload) == 1);
}

static bool is_numbered(const struct journal_copy *copy, uint32_t entry)
{
	uint32_t number = copy->entries[entry].header.method_id - 1;
	uint32_t head[2] = {JITBPF_JIT_NAME, number % 190 + 1};
	size_t bytes;
	const uint8_t *fields = journal_fields(copy, entry, &bytes);

	if (bytes != sizeof(head) + head[1] || memcmp(fields, head, sizeof(head)) != 0)
		return false;
	for (size_t i = sizeof(head); i < bytes; i++) {
		if (fields[i] != 'a' + number % 26)
			return false;
	}
	return true;
}

static void send_shutdown(void)
{
	MUST(shim.notify(2, NULL) == 1);
}

/* --- threads ------------------------------------------------------------------ */

static pthread_barrier_t barrier;

static void *first_use(void *argument)
{
	uint32_t first = (uint32_t)(uintptr_t)argument * EVENTS_PER_THREAD;

	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < EVENTS_PER_THREAD; i++)
		send_numbered(first + i);
	return NULL;
}

static void child_threads(void)
{
	static bool seen[THREADS * EVENTS_PER_THREAD];
	pthread_t threads[THREADS];
	struct journal_copy copy;

	MUST(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, first_use, (void *)i) == 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MUST(journal_mappings() == 1 && journal_copy_own(&copy));
	MUST(copy.header.next_sequence == THREADS * EVENTS_PER_THREAD);
	MUST(copy.header.left_out == 0 && copy.header.compactions == 1);
	for (uint32_t i = 0; i < copy.count; i++) {
		uint32_t number = copy.entries[i].header.method_id - 1;

		MUST(is_numbered(&copy, i) && !seen[number]);
		seen[number] = true;
	}
}

static void test_threads_use_it_for_the_first_time_at_once(void **state)
{
	for (int i = 0; i < 20; i++)
		run_in_child(child_threads);
}

/* --- signals in the middle of an append ----------------------------------------- */

static uint8_t *lines; /* a page that is unreadable at first */
static void (*on_fault)(void);

static void handle_fault(int signal)
{
	MUST(mprotect(lines, PAGE_BYTES, PROT_READ) == 0);
	on_fault();
}

/* The line table is read inside the append, with the lock held. */
static void send_that_faults(void (*then)(void))
{
	uint8_t payload[64] = {0};

	on_fault = then;
	lines = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(signal(SIGSEGV, handle_fault) != SIG_ERR);
	put_u32(payload, 0, 1);
	put_u64(payload, 16, 0x1000);
	put_u32(payload, 24, 0x100);
	put_u32(payload, 28, 2);
	put_pointer(payload, 32, lines);
	MUST(shim.notify(13, payload) == 1);
}

static void child_signal(void)
{
	struct journal_copy copy;

	shim_listen(&shim);
	send_that_faults(send_shutdown);
	send_shutdown();
	MUST(hits_count() == 3); /* all events hit the probe */
	MUST(journal_copy_own(&copy) && copy.count == 2);
	MUST(copy.entries[0].header.event == 13 && copy.entries[1].header.sequence == 2);
	MUST(copy.header.left_out == 1 && copy.header.left_out_last == 1);
	MUST(copy.header.next_sequence == 3);
}

static void test_signal_in_an_append(void **state)
{
	run_in_child(child_signal);
}

static sem_t held, let_go;

static void hold(void)
{
	sem_post(&held);
	while (sem_wait(&let_go))
		;
}

static void *holder_main(void *argument)
{
	send_that_faults(hold);
	return NULL;
}

/* A collector stops a thread in the middle of an append, and unloads code itself. */
static void child_stopped_holder(void)
{
	struct journal_copy copy;
	pthread_t thread;

	send_shutdown();
	MUST(sem_init(&held, 0, 0) == 0 && sem_init(&let_go, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, holder_main, NULL) == 0);
	while (sem_wait(&held))
		;
	for (int i = 0; i < 1000; i++)
		send_shutdown();
	sem_post(&let_go);
	pthread_join(thread, NULL);
	send_shutdown();
	MUST(journal_copy_own(&copy) && copy.count == 3);
	MUST(copy.header.left_out == 1000 && copy.header.left_out_last == 1001);
}

static void test_nobody_waits_for_a_stopped_thread(void **state)
{
	run_in_child(child_stopped_holder);
}

static volatile uint32_t next_number;

static void on_timer(int signal)
{
	send_numbered(__atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
}

static void child_timer(void)
{
	struct itimerval every = {.it_interval.tv_usec = 50, .it_value.tv_usec = 50};
	struct journal_copy copy;
	uint32_t whole = 0;

	signal(SIGALRM, on_timer);
	MUST(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (next_number < 3000)
		send_numbered(__atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
	signal(SIGALRM, SIG_IGN);
	MUST(journal_copy_own(&copy));
	for (uint32_t i = 0; i < copy.count; i++)
		whole += is_numbered(&copy, i);
	MUST(whole == copy.count && copy.count + copy.header.left_out == next_number);
}

static void test_signals_anywhere(void **state)
{
	for (int i = 0; i < 20; i++) {
		next_number = 0;
		run_in_child(child_timer);
	}
}

/* --- forks ------------------------------------------------------------------------ */

static void forked_child(uint32_t parent, uint64_t parent_sequence)
{
	struct journal_copy copy;

	for (uint32_t i = 0; i < 3; i++)
		send_numbered(i);
	MUST(journal_copy_own(&copy) && copy.count == 3);
	MUST(copy.header.inherited_pid == parent);
	MUST(copy.header.inherited_sequence == parent_sequence);
	MUST(copy.entries[0].header.sequence == 0 && is_numbered(&copy, 0));
	MUST(journal_mappings() == 1);
}

static void child_forks(void)
{
	struct journal_copy before, after;
	pid_t pid;

	for (uint32_t i = 0; i < 5; i++)
		send_numbered(i);
	MUST(journal_copy_own(&before) && before.count == 5 && !before.header.inherited_pid);
	pid = fork();
	if (pid == 0) {
		MUST(journal_copy_own(&after) && !after.bytes); /* no journal without an event */
		forked_child((uint32_t)getppid(), 5);
		pid = fork(); /* nested forks */
		if (pid == 0) {
			/* Until its first event, it has a copy of its parent's journal. */
			MUST(journal_copy_own(&after) && after.count == 3);
			forked_child(JITBPF_JOURNAL_LOST_PID, 0);
			_exit(0);
		}
		MUST(status_of(pid) == 0);
		_exit(0);
	}
	MUST(status_of(pid) == 0);
	MUST(journal_copy_own(&after) && after.header.used_bytes == before.header.used_bytes);
	MUST(memcmp(before.bytes, after.bytes, before.header.used_bytes) == 0);
	if (vfork() == 0) { /* shares the memory, hence the journal */
		send_numbered(5);
		_exit(0);
	}
	MUST(journal_copy_own(&after) && after.count == 6);
}

static void test_forked_children_have_their_own(void **state)
{
	run_in_child(child_forks);
}

static _Atomic bool enough;

static void *append_main(void *argument)
{
	for (uint32_t i = 0; !enough; i++)
		send_numbered(i);
	return NULL;
}

/* The lock is usually held by another thread at the fork. */
static void child_forks_while_appending(void)
{
	pthread_t threads[2];

	send_numbered(0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		MUST(pthread_create(&threads[i], NULL, append_main, NULL) == 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();
		struct journal_copy copy;

		if (pid == 0) {
			send_numbered(7);
			MUST(journal_copy_own(&copy) && copy.count == 1 && is_numbered(&copy, 0));
			MUST(copy.header.inherited_pid == (uint32_t)getppid());
			MUST(copy.header.inherited_sequence > 0);
			_exit(0);
		}
		MUST(status_of(pid) == 0);
	}
	enough = true;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}

static void test_fork_with_the_lock_held(void **state)
{
	run_in_child(child_forks_while_appending);
}

static void child_exec(void)
{
	send_shutdown();
	MUST(journal_mappings() == 1);
	execl("/bin/sh", "sh", "-c",
	      "! grep -q jitbpf-journal /proc/self/maps && ! ls -l /proc/self/fd | "
	      "grep jitbpf-journal",
	      NULL);
	_exit(2);
}

static void test_exec_leaves_nothing_behind(void **state)
{
	run_in_child(child_exec);
}

/* A daemon closes all descriptors that it does not know. */
static void child_closes_all(void)
{
	struct journal_copy copy;

	send_numbered(0);
	MUST(journal_open_of(getpid()) >= 0);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	MUST(journal_open_of(getpid()) == -1);
	for (uint32_t i = 1; i < 50000; i++)
		send_numbered(i);
	MUST(journal_copy_own(&copy) && copy.header.left_out == 0);
	MUST(copy.header.next_sequence == 50000 && copy.header.compactions > 1);
	MUST(is_numbered(&copy, copy.count - 1));
}

static void test_goes_on_without_its_descriptor(void **state)
{
	run_in_child(child_closes_all);
}

/* --- death ------------------------------------------------------------------------ */

static void append_for_ever(void)
{
	struct rlimit limit = {256 << 10, 256 << 10};

	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	shim_open(&shim);
	for (uint32_t i = 0;; i++)
		send_numbered(i);
}

/* Open the journal of a child that appends, once it has its header and its first entry. */
static int open_begun(pid_t pid)
{
	struct jitbpf_journal_header header = {0};
	int fd = -1;

	while (fd < 0) {
		fd = journal_open_of(pid);
		sched_yield();
	}
	while (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	       header.used_bytes <= header.data_offset)
		sched_yield();
	return fd;
}

/* Kill a child in the middle of an append or a compaction. */
static void kill_one(unsigned int microseconds)
{
	struct journal_copy copy;
	pid_t pid = fork();
	int fd;

	if (pid == 0)
		append_for_ever();
	fd = open_begun(pid);
	usleep(microseconds);
	kill(pid, SIGKILL);
	assert_int_equal(status_of(pid), SIGKILL);
	assert_true(journal_copy_file(fd, &copy));
	assert_true(copy.header.generation / 2 - copy.header.compactions <= 1);
	for (uint32_t i = 0; i < copy.count; i++) {
		assert_true(is_numbered(&copy, i));
		assert_int_equal(copy.entries[i].header.sequence,
				 copy.entries[i].header.method_id - 1);
	}
	journal_copy_free(&copy);
	close(fd);
}

static void test_killed_at_any_time(void **state)
{
	srandom(1);
	for (int i = 0; i < KILLS; i++)
		kill_one((unsigned int)random() % 3000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_use_it_for_the_first_time_at_once),
		cmocka_unit_test(test_signal_in_an_append),
		cmocka_unit_test(test_nobody_waits_for_a_stopped_thread),
		cmocka_unit_test(test_signals_anywhere),
		cmocka_unit_test(test_forked_children_have_their_own),
		cmocka_unit_test(test_fork_with_the_lock_held),
		cmocka_unit_test(test_exec_leaves_nothing_behind),
		cmocka_unit_test(test_goes_on_without_its_descriptor),
		cmocka_unit_test(test_killed_at_any_time),
	};

	return cmocka_run_group_tests_name("shim: journal of a process", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that enter a sandbox after they have initialized the shim: any system call that they do
 * not make themselves kills them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "tests/shim/journal_copy.h"
#include "tests/shim/shim_fixture.h"

#define EVENTS	   20000 /* several compactions */
#define PAGE_BYTES 4096
#define CALLS_MAX  32
#define THREADS	   4

static struct shim shim;
static const struct jitbpf_journal_header *journal;

/* Kill the process at a call that is not listed, in all threads. */
static void allow(const unsigned int *calls, size_t count)
{
	struct sock_filter code[2 * CALLS_MAX + 2];
	struct sock_fprog program = {.filter = code};

	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							   offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < count; i++) {
		code[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
}

static const unsigned int leave_only[] = {SYS_write, SYS_exit_group};

/* What a program needs to start and end threads, and to wait for them. */
static const unsigned int threads_too[] = {
	SYS_write, SYS_exit_group, SYS_exit,	       SYS_clone,	 SYS_clone3,
	SYS_mmap,  SYS_munmap,	   SYS_mprotect,       SYS_rseq,	 SYS_set_robust_list,
	SYS_futex, SYS_madvise,	   SYS_rt_sigprocmask, SYS_rt_sigaction,
};

/* What a program needs to fork and to wait for the child. */
static const unsigned int forks_too[] = {
	SYS_write, SYS_exit_group, SYS_clone, SYS_set_robust_list, SYS_wait4, SYS_rt_sigprocmask,
};

static void open_shim(void)
{
	shim_open(&shim);
	MUST(shim.initialize() == 1);
	journal = journal_own();
	MUST(journal);
}

static void send_load(uint32_t id, uint64_t address)
{
	uint8_t payload[64] = {0};

	put_u32(payload, 0, id);
	put_pointer(payload, 8, "a method");
	put_u64(payload, 16, address);
	put_u32(payload, 24, 0x100);
	MUST(shim.notify(13, payload) == 1);
}

/* Methods of which the last 64 are live. */
static void send_many(void)
{
	for (uint32_t i = 1; i <= EVENTS; i++)
		send_load(i, 0x10000 + i % 64 * 0x100);
}

static const struct jitbpf_journal_entry *entry_at(const struct jitbpf_journal_header *header,
						   uint64_t offset)
{
	return (const void *)((const char *)header + offset);
}

/* Check the journal where it is, since the test makes no system calls either. */
static void expect_many(const struct jitbpf_journal_header *header)
{
	uint64_t at = header->data_offset;
	uint32_t count = 0;

	MUST(header->left_out == 0 && header->next_sequence >= EVENTS && header->compactions > 0);
	while (at < header->used_bytes) {
		MUST(entry_at(header, at)->commit == JITBPF_JOURNAL_COMMITTED);
		at += entry_at(header, at)->size_bytes;
		count++;
	}
	MUST(at == header->used_bytes && count >= 64 && count < EVENTS);
}

static void run_in_child(void (*child)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		open_shim();
		child();
		syscall(SYS_exit_group, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void child_list(void)
{
	allow(leave_only, ARRAY_SIZE(leave_only));
	send_many();
	expect_many(journal);
}

static void test_list_filter(void **state)
{
	run_in_child(child_list);
}

/* With a profiler, which sees the precise time. */
static void child_list_probed(void)
{
	*shim.site.semaphore = 1;
	child_list();
}

static void test_list_filter_with_a_profiler(void **state)
{
	run_in_child(child_list_probed);
}

static void child_second_engine(void)
{
	allow(leave_only, ARRAY_SIZE(leave_only));
	MUST(shim.initialize() == 1 && shim.is_active() == 1 && shim.new_method_id() == 1000);
	MUST(shim.ijit_notify(2, NULL) == 1);
}

static void test_every_entry_point(void **state)
{
	run_in_child(child_second_engine);
}

/* The kernel also takes away the time stamp counter. */
static void test_strict_mode(void **state)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		open_shim();
		MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
		send_many();
		syscall(SYS_exit, journal->next_sequence == EVENTS ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- threads ------------------------------------------------------------------ */

static void *thread_main(void *argument)
{
	for (uint32_t i = 1; i <= EVENTS / THREADS; i++)
		send_load(i, 0x10000 + i % 64 * 0x100);
	return NULL;
}

/* New threads, which contend for the journal's lock. */
static void child_threads(void)
{
	pthread_t threads[THREADS];

	allow(threads_too, ARRAY_SIZE(threads_too));
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, thread_main, NULL));
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
	expect_many(journal);
}

static void test_new_threads(void **state)
{
	run_in_child(child_threads);
}

/* --- forks -------------------------------------------------------------------- */

static void expect_child(pid_t pid)
{
	int status = -1;

	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* A child, and its child; each has a journal of its own. */
static void child_forks(void)
{
	const struct jitbpf_journal_header *forked = (void *)journal->forked_address;
	uint32_t parent = journal->pid;
	pid_t pid;

	allow(forks_too, ARRAY_SIZE(forks_too));
	send_load(1, 0x1000);
	pid = fork();
	if (pid == 0) {
		send_many();
		expect_many(forked);
		MUST(forked->inherited_pid == parent && forked->inherited_sequence == 1);
		pid = fork();
		if (pid == 0) {
			send_many();
			expect_many(forked);
			_exit(forked->next_sequence == EVENTS ? 0 : 1);
		}
		expect_child(pid);
		_exit(0);
	}
	expect_child(pid);
	MUST(journal->next_sequence == 1 && !forked->version);
}

static void test_forks_of_a_sealed_program(void **state)
{
	run_in_child(child_forks);
}

/* A worker seals itself after the fork. */
static void child_sealed_after_fork(void)
{
	const struct jitbpf_journal_header *forked = (void *)journal->forked_address;
	pid_t pid = fork();

	if (pid == 0) {
		allow(leave_only, ARRAY_SIZE(leave_only));
		send_many();
		expect_many(forked);
		_exit(0);
	}
	expect_child(pid);
}

static void test_sealed_after_fork(void **state)
{
	run_in_child(child_sealed_after_fork);
}

/* --- payloads that may be shorter than they look ------------------------------- */

static void child_unload(void)
{
	uint8_t *at_end = at_edge_of_memory(4);
	uint8_t stack[3 * PAGE_BYTES];
	uint8_t *across = (uint8_t *)(((uintptr_t)stack + PAGE_BYTES) & ~(PAGE_BYTES - 1ul)) - 16;
	const struct jitbpf_journal_entry *entry = entry_at(journal, journal->data_offset);

	memset(at_end, 0, 4);
	memset(across, 0, 64);
	put_u64(across, 16, 0x7000);
	put_u32(across, 24, 0x100);
	allow(leave_only, ARRAY_SIZE(leave_only));
	MUST(shim.notify(14, at_end) == 1);
	MUST(shim.notify(14, across) == 1);
	MUST(journal->next_sequence == 2 && entry->header.flags & JITBPF_JIT_TRUNCATED);
	MUST(!entry->header.address && !entry->header.code_bytes);
	entry++;		    /* neither has fields */
	MUST(!entry->header.flags); /* the stack does not end there */
	MUST(entry->header.address == 0x7000 && entry->header.code_bytes == 0x100);
}

static void test_unload_across_pages(void **state)
{
	run_in_child(child_unload);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_filter),
		cmocka_unit_test(test_list_filter_with_a_profiler),
		cmocka_unit_test(test_every_entry_point),
		cmocka_unit_test(test_strict_mode),
		cmocka_unit_test(test_new_threads),
		cmocka_unit_test(test_forks_of_a_sealed_program),
		cmocka_unit_test(test_sealed_after_fork),
		cmocka_unit_test(test_unload_across_pages),
	};

	return cmocka_run_group_tests_name("shim: sealed", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands in the journal. Each test has a process, and so a journal, of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "tests/shim/journal_copy.h"
#include "tests/shim/journal_model.h"
#include "tests/shim/shim_fixture.h"

#define PAGE_BYTES 4096u

static struct shim shim;

/* Run it in a child, which loads the shim, and has inherited no journal. */
static void run_in_child(void (*child)(unsigned int number), unsigned int number)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		child(number);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void limit_journal(uint64_t bytes)
{
	struct rlimit limit = {bytes, bytes};

	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* Open the shim with a journal of that size. */
static void open_limited(uint64_t bytes)
{
	limit_journal(bytes);
	shim_open(&shim);
}

static void send_load(uint32_t id, uint64_t address, uint32_t size, const char *name)
{
	uint8_t payload[64] = {0};

	put_u32(payload, 0, id);
	put_pointer(payload, 8, name);
	put_u64(payload, 16, address);
	put_u32(payload, 24, size);
	MUST(shim.notify(13, payload) == 1);
}

static void send_unload(uint32_t id)
{
	MUST(shim.notify(14, &id) == 1);
}

static void child_same_as_probed(unsigned int number)
{
	static const uint32_t lines[] = {1, 2, 3, 4};
	static const unsigned int events[] = {2, 13, 14, 15, 16, 17, 19, 20, 21, 22, 99};
	AUTO_FREE char *name = calloc(1, 100001);
	uint8_t payload[72] = {0};
	struct journal_copy copy;

	memset(name, 'n', 100000);
	put_u32(payload, 0, 7);
	put_pointer(payload, 8, name);
	put_u64(payload, 16, 0x1000);
	put_u32(payload, 28, 2);
	put_pointer(payload, 32, lines);
	shim_open(&shim);
	shim_listen(&shim);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		name[i % 2 ? 100000 : 20] = 0;
		/* Segments and NIDs have their strings elsewhere. */
		put_pointer(payload, 16, events[i] == 17 ? name : (void *)0x1000);
		MUST(shim.notify(events[i], payload) == 1);
		memset(name, 'n', 100000);
	}
	MUST(journal_copy_own(&copy) && copy.count == ARRAY_SIZE(events));
	for (uint32_t i = 0; i < copy.count; i++) {
		struct jitbpf_jit_header header = copy.entries[i].header;
		struct whole_record record;
		const uint8_t *fields;
		size_t bytes;

		fields = journal_fields(&copy, i, &bytes);
		MUST(header.sequence == i && header.event == events[i]);
		MUST(record_of(i, &record) && record.field_bytes == bytes);
		MUST(memcmp(record.fields, fields, bytes) == 0);
		header.size_bytes = record.header.size_bytes;
		header.part_count = record.header.part_count;
		MUST(memcmp(&header, &record.header, sizeof(header)) == 0);
	}
	journal_copy_free(&copy);
}

static void test_entries_are_the_records_that_are_probed(void **state)
{
	run_in_child(child_same_as_probed, 0);
}

static void child_is_sealed(unsigned int number)
{
	int fd;

	shim_open(&shim);
	send_unload(1);
	for (fd = 0; fd < 1000; fd++) {
		char path[64], link[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) > 0 && strstr(link, "jitbpf-journal"))
			break;
	}
	MUST(fd > 2 && fd < 1000); /* out of the way of standard streams */
	MUST(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	MUST((fcntl(fd, F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ==
	     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
	MUST(journal_mappings() == 1);
}

static void test_is_a_sealed_file(void **state)
{
	run_in_child(child_is_sealed, 0);
}

/* Methods that all stay: it fills up, and what is left out is counted. */
static void child_full(unsigned int number)
{
	struct journal_copy copy;
	uint32_t sent = 3000, whole = 0;
	uint64_t left_out;

	open_limited(64 << 10);
	for (uint32_t i = 1; i <= sent; i++)
		send_load(i, i * 0x1000, 0x100, "a method");
	MUST(journal_copy_own(&copy));
	MUST(copy.header.capacity == 64 << 10);
	while (whole < copy.count && !(copy.entries[whole].header.flags & JITBPF_JIT_TRUNCATED))
		whole++;
	for (uint32_t i = whole; i < copy.count; i++)
		MUST(copy.entries[i].header.flags & JITBPF_JIT_TRUNCATED);
	left_out = copy.header.left_out;
	MUST(whole > 400 && whole < copy.count && whole + left_out == sent);
	MUST(copy.header.left_out_last == sent - 1 && copy.header.next_sequence == sent);
	/* What has no entry has ended none of the others. */
	MUST(copy.header.unsure.before == sent && copy.header.unsure.end == sent * 0x1000 + 0x100);
	for (uint32_t i = 0; i < copy.count; i++)
		MUST(!jitbpf_journal_is_unsure(&copy.header.unsure, &copy.entries[i].header));
	journal_copy_free(&copy);

	/* Unloads always find room, and make some. */
	for (uint32_t i = 1; i <= sent; i++)
		send_unload(i);
	for (uint32_t i = 1; i <= 10; i++)
		send_load(i, i * 0x1000, 0x100, "a method");
	MUST(journal_copy_own(&copy));
	MUST(copy.header.compactions > 0 && copy.header.left_out == left_out);
	MUST(copy.count >= 10 && copy.entries[copy.count - 1].header.method_id == 10);
	MUST(!copy.entries[copy.count - 1].header.flags);
}

/* A load without an entry overwrites the first method: its entry is unsure, then dropped. */
static void child_overwrites_when_full(unsigned int number)
{
	struct journal_copy copy;
	uint32_t unsure = 0;

	open_limited(64 << 10);
	for (uint32_t i = 1; i <= 3000; i++)
		send_load(i, i * 0x1000, 0x100, "a method");
	send_load(5000, 0x1080, 0x100, "a method");
	MUST(journal_copy_own(&copy));
	for (uint32_t i = 0; i < copy.count; i++)
		unsure += jitbpf_journal_is_unsure(&copy.header.unsure, &copy.entries[i].header);
	MUST(unsure && jitbpf_journal_is_unsure(&copy.header.unsure, &copy.entries[0].header));
	MUST(copy.entries[0].header.method_id == 1);
	journal_copy_free(&copy);
	for (uint32_t i = 1; i <= 3000; i++)
		send_unload(6000);
	MUST(journal_copy_own(&copy));
	MUST(copy.header.compactions > 0 && !copy.header.unsure.before);
	for (uint32_t i = 0; i < copy.count; i++)
		MUST(copy.entries[i].header.method_id == 6000);
	journal_copy_free(&copy);
}

static void test_what_a_lost_load_may_end_is_unsure(void **state)
{
	run_in_child(child_overwrites_when_full, 0);
}

static void test_what_finds_no_room_is_counted(void **state)
{
	run_in_child(child_full, 0);
}

/* The same addresses again and again: it never fills up, whatever comes. */
static void child_churn(unsigned int number)
{
	struct journal_copy copy;

	open_limited(64 << 10);
	for (uint32_t i = 1; i <= 20000; i++)
		send_load(i, 0x10000 + i % 64 * 0x100, 0x100, "a method");
	MUST(journal_copy_own(&copy));
	MUST(copy.header.left_out == 0 && copy.header.compactions > 10);
	for (uint32_t i = 0; i < 64; i++)
		MUST(copy.entries[copy.count - 64 + i].header.method_id == 20000 - 63 + i);
}

static void test_what_is_overwritten_makes_room(void **state)
{
	run_in_child(child_churn, 0);
}

/*
 * Methods that are compiled again and again under their IDs, while the code before is
 * live: the dead parts that name them take a bounded part of the journal.
 */
static void child_tiers(unsigned int number)
{
	struct journal_copy copy;
	uint32_t methods = 100, slots = 4 * methods, live = 0;

	open_limited(4 << 20);
	for (uint32_t i = 0; i < 200000; i++)
		send_load(1 + i % methods, 0x10000 + i * 7 % slots * 0x100, 0x100, "a method");
	MUST(journal_copy_own(&copy));
	MUST(copy.header.left_out == 0 && copy.header.compactions > 0);
	for (uint32_t i = 0; i < copy.count; i++)
		live += copy.entries[i].header.sequence >= 200000 - slots;
	MUST(live == slots);
}

static void test_names_of_dead_parts_are_bounded(void **state)
{
	run_in_child(child_tiers, 0);
}

static uint32_t pick(uint32_t count)
{
	return (uint32_t)random() % count;
}

/* Send it, as an engine would, and tell the model. */
static void send_random(struct model *model, uint64_t sequence)
{
	static const uint16_t events[] = {13, 13, 13, 21, 13, 22, 14, 14, 15, 16};
	struct jitbpf_jit_header header = {
		.event = events[pick(ARRAY_SIZE(events))],
		.sequence = sequence,
		.method_id = 1 + pick(8),
		.parent_id = 1 + pick(8),
		.address = 0x10000 + pick(64) * 8,
		.code_bytes = pick(6) * 8,
	};
	char name[100];
	uint8_t payload[72] = {0};

	snprintf(name, 1 + pick(sizeof(name)), "%099u", header.method_id);
	put_u32(payload, 0, header.method_id);
	put_u32(payload, 4, header.parent_id);
	put_pointer(payload, 8, name);
	put_u64(payload, 16, header.address);
	put_u32(payload, 24, (uint32_t)header.code_bytes);
	if (header.event == 16 && pick(4))
		header.event = 2;
	MUST(shim.notify(header.event, payload) == 1);
	if (header.event == 14)
		header.address = header.code_bytes = 0;
	model_apply(model, &header, 0);
}

static void child_model(unsigned int seed)
{
	struct model *sent = calloc(1, sizeof(*sent)), *kept = calloc(1, sizeof(*kept));
	struct journal_copy copy;

	open_limited(48 << 10);
	srandom(seed);
	for (uint64_t i = 0; i < 1500; i++)
		send_random(sent, i);
	MUST(journal_copy_own(&copy));
	for (uint32_t i = 0; i < copy.count; i++)
		model_apply(kept, &copy.entries[i].header, 0);
	MUST(copy.header.left_out == 0 && copy.header.compactions > 1);
	MUST(model_live(sent) > 0 && model_equal(sent, kept));
	MUST(copy.count < 1500);
}

static void test_random_events_leave_what_a_model_says(void **state)
{
	for (unsigned int seed = 0; seed < 60; seed++)
		run_in_child(child_model, seed);
}

static void child_off(unsigned int number)
{
	setenv("JITBPF_JOURNAL_MB", "0", 1);
	shim_open(&shim);
	send_unload(1);
	MUST(journal_mappings() == 0 && journal_open_of(getpid()) == -1);
}

static void test_can_be_turned_off(void **state)
{
	run_in_child(child_off, 0);
}

/* A file that may not grow is no reason to be killed. */
static void child_no_file(unsigned int number)
{
	open_limited(1);
	send_unload(1);
	MUST(journal_mappings() == 0);
}

static void child_sandbox(unsigned int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	     !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	shim_open(&shim);
	shim_listen(&shim);
	send_unload(1);
	send_unload(2);
	MUST(hits_count() == 2 && hit_at(1)->sequence == 1);
	MUST(journal_mappings() == 0 && journal_open_of(getpid()) == -1);
}

static void test_refused_is_no_harm(void **state)
{
	run_in_child(child_no_file, 0);
	run_in_child(child_sandbox, SYS_memfd_create);
	run_in_child(child_sandbox, SYS_ftruncate);
	run_in_child(child_sandbox, SYS_madvise);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_are_the_records_that_are_probed),
		cmocka_unit_test(test_is_a_sealed_file),
		cmocka_unit_test(test_what_finds_no_room_is_counted),
		cmocka_unit_test(test_what_a_lost_load_may_end_is_unsure),
		cmocka_unit_test(test_what_is_overwritten_makes_room),
		cmocka_unit_test(test_names_of_dead_parts_are_bounded),
		cmocka_unit_test(test_random_events_leave_what_a_model_says),
		cmocka_unit_test(test_can_be_turned_off),
		cmocka_unit_test(test_refused_is_no_harm),
	};

	return cmocka_run_group_tests_name("shim: journal", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only event whose payload may be as short as its first four bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "tests/shim/record_expect.h"
#include "tests/shim/shim_fixture.h"

static struct shim shim;

static void test_unload_by_id_reads_the_id_alone(void **state)
{
	uint8_t *payload = at_edge_of_memory(4);
	struct bytes fields = {0};

	put_u32(payload, 0, 77);
	expect_record(&shim, 14, payload, method_header(77, 0, 0), &fields);
}

static void test_unload_by_id_takes_nothing_from_behind_it(void **state)
{
	uint8_t payload[64] __attribute__((aligned(64)));
	struct bytes fields = {0};

	put_prefix(payload, sizeof(payload), NULL);
	expect_record(&shim, 14, payload, method_header(4711, 0, 0), &fields);
}

static void test_unload_by_range(void **state)
{
	uint8_t *across = at_edge_of_memory(4096 + 8);
	uint8_t within[64] __attribute__((aligned(64)));
	struct bytes fields = {0};

	put_prefix(within, sizeof(within), NULL);
	put_u32(within, 0, 0);
	expect_record(&shim, 14, within, method_header(0, 0x7f1234567000, 0xfffffff0), &fields);
	/* The size is on the next page, which is readable. */
	put_prefix(across - 16, 64, NULL);
	put_u32(across - 16, 0, 0);
	expect_record(&shim, 14, across - 16, method_header(0, 0x7f1234567000, 0xfffffff0),
		      &fields);
}

static void test_unload_of_id_0_with_nothing_behind(void **state)
{
	uint8_t *payload = at_edge_of_memory(24);
	struct bytes fields = {0};

	memset(payload, 0, 24);
	expect_record(&shim, 14, payload, method_header(0, 0, 0), &fields);
}

/* In a child whose sandbox forbids reading memory by system calls. */
static int sandboxed_unload(const uint8_t *payload)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};
	struct jitbpf_jit_header header;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	hits_clear();
	errno = EXDEV;
	if (shim.notify(14, payload) != 1 || errno != EXDEV || hits_count() != 1)
		return 2;
	memcpy(&header, hit_at(0)->bytes, sizeof(header));
	return header.address || header.code_bytes ? 3 : 0;
}

static void test_unload_in_a_sandbox(void **state)
{
	uint8_t *across = at_edge_of_memory(4096 + 8) - 16;
	int status = -1;
	pid_t pid;

	put_prefix(across, 64, NULL);
	put_u32(across, 0, 0);
	pid = fork();
	if (pid == 0)
		_exit(sandboxed_unload(across));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unload_by_id_reads_the_id_alone),
		cmocka_unit_test(test_unload_by_id_takes_nothing_from_behind_it),
		cmocka_unit_test(test_unload_by_range),
		cmocka_unit_test(test_unload_of_id_0_with_nothing_behind),
		cmocka_unit_test(test_unload_in_a_sandbox),
	};

	shim_open(&shim);
	shim_listen(&shim);
	return cmocka_run_group_tests_name("shim: unload", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This program has CRuby's switch of native stacks itself. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtimes/ruby/ruby_switch.h"
#include "runtimes/runtime_symbols.h"
#include "tests/unit/cases.h"

__asm__(".text\n"
	".globl coroutine_transfer, transfer_end, behind_call, caller_end\n"
	"coroutine_transfer:\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	"transfer_end:\n"
	"	nop\n"
	"fiber_switch:\n"
	"	.cfi_startproc\n"
	"	call transfer_end\n"
	"	call coroutine_transfer\n"
	"behind_call:\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"caller_end:\n"
	/* Code without call frame information: where it ends is not known. */
	"	call coroutine_transfer\n"
	"	ret\n");

extern const char coroutine_transfer[], transfer_end[], behind_call[], caller_end[];

static int read_fd(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread(*(int *)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes ? 0
											     : -EIO;
}

CASE(callers_behind_their_calls)
{
	struct runtime_symbol transfer = {.name = "coroutine_transfer"};
	struct runtime_range found[RUNTIME_SWITCHES_MAX] = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file elf;
	struct blob blob;
	struct stat status;
	uint64_t bias;

	assert_true(fd >= 0 && !fstat(fd, &status));
	blob = (struct blob){.size_bytes = status.st_size, .read = read_fd, .context = &fd};
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	assert_int_equal(runtime_symbols_find(&elf, &transfer, 1), 0);
	assert_true(transfer.is_found);
	assert_int_equal(ruby_switch_find(&elf, transfer.address, found), 0);
	bias = (uint64_t)coroutine_transfer - transfer.address;
	assert_int_equal(found[0].start + bias, (uint64_t)coroutine_transfer);
	assert_int_equal(found[0].end + bias, (uint64_t)transfer_end);
	assert_int_equal(found[1].start + bias, (uint64_t)behind_call);
	assert_int_equal(found[1].end + bias, (uint64_t)caller_end);
	assert_int_equal(found[2].end, 0);

	found[0].end = 0;
	assert_int_equal(ruby_switch_find(&elf, 1, found), 0);
	assert_int_equal(found[0].end, 0);
	elf_file_deinit(&elf);
	close(fd);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This program has symbols of PHP itself. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"
#include "runtimes/php/php_accessor.h"
#include "runtimes/php/php_file.h"
#include "runtimes/php/php_switch.h"
#include "runtimes/php/php_version.h"
#include "tests/unit/cases.h"

/* execute_ex() branches into its cold part, and jumps to another function instead of a call. */
__asm__(".text\n"
	".globl execute_ex, other_function, cold_part, cold_end\n"
	".type execute_ex, @function\n"
	"execute_ex:\n"
	"	.cfi_startproc\n"
	"	test %edi, %edi\n"
	"	jne cold_part + 1\n"
	"	js cold_part + 2\n"
	"	je 1f\n"
	"	jmp other_function\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	".size execute_ex, . - execute_ex\n"
	".type other_function, @function\n"
	"other_function:\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size other_function, . - other_function\n"
	"cold_part:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	nop\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	"cold_end:\n");

extern const char execute_ex[], other_function[], cold_part[], cold_end[];

/* A switch to another stack: what is behind its call runs there. */
__asm__(".text\n"
	".globl zend_fiber_switch_context, jump_fcontext, behind_call, switch_end\n"
	".type zend_fiber_switch_context, @function\n"
	"zend_fiber_switch_context:\n"
	"	call other_function\n"
	"	call jump_fcontext\n"
	"behind_call:\n"
	"	nop\n"
	"	ret\n"
	"switch_end:\n"
	".size zend_fiber_switch_context, . - zend_fiber_switch_context\n"
	".type jump_fcontext, @function\n"
	"jump_fcontext: ret\n"
	".size jump_fcontext, . - jump_fcontext\n");

extern const char zend_fiber_switch_context[], jump_fcontext[], behind_call[], switch_end[];

uint64_t executor_globals[64], zend_ce_generator;
const char *engine_text;
const char *get_zend_version(void);

/* As compilers write them: with a landing pad, with a frame, and with neither. */
__asm__(".text\n"
	".globl get_zend_version, zend_vm_kind, php_version_id, of_call, of_other_code\n"
	".type get_zend_version, @function\n"
	"get_zend_version: mov engine_text(%rip), %rax; ret\n"
	".type zend_vm_kind, @function\n"
	"zend_vm_kind: endbr64; mov $4, %eax; ret\n"
	".type php_version_id, @function\n"
	"php_version_id: push %rbp; mov %rsp, %rbp; mov $80427, %eax; pop %rbp; ret\n"
	"of_minus: mov $-8, %rax; ret\n"
	"of_address: lea executor_globals(%rip), %rax; ret\n"
	"of_nothing: xor %eax, %eax; ret\n"
	"of_call: mov $1, %eax; jmp other_function\n"
	"of_no_end: push %rbp; mov %rsp, %rbp; mov $1, %eax; ret\n"
	".skip 32, 0xcc\n"
	".globl of_minus, of_address, of_nothing, of_no_end\n");

extern const char zend_vm_kind[], php_version_id[], of_minus[], of_address[], of_nothing[],
	of_call[], of_no_end[];

static int read_self(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (!address)
		return -EFAULT;
	memcpy(buf, (const void *)address, size_bytes);
	return 0;
}

static const struct process_memory self = {.read = read_self};

static int read_fd(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread(*(int *)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes ? 0
											     : -EIO;
}

struct own_file {
	int fd;
	struct blob blob;
	struct elf_file elf;
};

static int set_up(void **state)
{
	struct own_file *own = calloc(1, sizeof(*own));
	struct stat status;

	assert_non_null(own);
	own->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(own->fd >= 0 && !fstat(own->fd, &status));
	own->blob =
		(struct blob){.size_bytes = status.st_size, .read = read_fd, .context = &own->fd};
	assert_int_equal(elf_file_init(&own->elf, &own->blob), 0);
	*state = own;
	return 0;
}

static int tear_down(void **state)
{
	struct own_file *own = *state;

	elf_file_deinit(&own->elf);
	close(own->fd);
	free(own);
	return 0;
}

static void check_value(const char *function, uint64_t wanted)
{
	uint64_t value;

	assert_int_equal(php_accessor_read(&self, (uint64_t)function, &value), 0);
	assert_int_equal(value, wanted);
}

CASE(functions_that_return_a_value)
{
	uint64_t value = 77;

	check_value(zend_vm_kind, 4);
	check_value(php_version_id, 80427);
	check_value(of_minus, (uint64_t)-8);
	check_value(of_address, (uint64_t)executor_globals);
	check_value(of_nothing, 0);
	engine_text = "x";
	check_value((const char *)get_zend_version, (uint64_t)engine_text);
	assert_int_equal(php_accessor_read(&self, (uint64_t)of_call, &value), -EBADMSG);
	assert_int_equal(php_accessor_read(&self, (uint64_t)of_no_end, &value), -EBADMSG);
	assert_int_equal(php_accessor_read(&self, (uint64_t)execute_ex, &value), -EBADMSG);
	assert_int_equal(php_accessor_read(&self, 0, &value), -EFAULT);
	assert_int_equal(value, 77);
}

CASE_WITH(the_loop_has_its_cold_part, set_up, tear_down)
{
	struct own_file *own = *state;
	struct php_file file;
	uint64_t bias;

	assert_int_equal(php_file_read(&own->elf, &file), 0);
	bias = (uint64_t)execute_ex - file.loops[0].start;
	assert_int_equal(file.executor_globals + bias, (uint64_t)executor_globals);
	assert_int_equal(file.generator_class + bias, (uint64_t)&zend_ce_generator);
	assert_int_equal(file.vm_kind + bias, (uint64_t)zend_vm_kind);
	assert_int_equal(file.executor_globals_offset, 0);
	assert_int_equal(file.loop_count, 2);
	assert_int_equal(file.loops[0].end + bias, (uint64_t)other_function);
	assert_int_equal(file.loops[1].start + bias, (uint64_t)cold_part);
	assert_int_equal(file.loops[1].end + bias, (uint64_t)cold_end);
}

CASE_WITH(the_switch_of_stacks, set_up, tear_down)
{
	struct own_file *own = *state;
	struct runtime_range none = {0}, found[RUNTIME_SWITCHES_MAX];
	struct php_file file;
	uint64_t bias;

	assert_int_equal(php_file_read(&own->elf, &file), 0);
	bias = (uint64_t)execute_ex - file.loops[0].start;
	assert_int_equal(file.switches[0].start + bias, (uint64_t)behind_call);
	assert_int_equal(file.switches[0].end + bias, (uint64_t)switch_end);
	assert_int_equal(file.switches[1].start + bias, (uint64_t)jump_fcontext);
	assert_int_equal(file.switches[1].end + bias, (uint64_t)jump_fcontext + 1);

	/* Without the call, all of the function; without the function, nothing. */
	assert_int_equal(php_switch_find(&own->elf, file.loops[0], file.switches[1], found), 0);
	assert_int_equal(found[0].start, file.loops[0].start);
	assert_int_equal(php_switch_find(&own->elf, none, none, found), 0);
	assert_int_equal(found[0].end, 0);
}

static int version_of(const char *text, struct engine_version *ret)
{
	struct php_file file = {.engine_version = (uint64_t)get_zend_version};

	engine_text = text;
	return php_version_read(&file, 0, &self, ret);
}

CASE(versions_by_the_engine)
{
	struct engine_version version = {0};
	struct php_file file = {.version_id = (uint64_t)php_version_id}, none = {0};

	assert_int_equal(php_version_read(&file, 0, &self, &version), 0);
	assert_int_equal(version.parts, 3);
	assert_int_equal(version.part[0], 8);
	assert_int_equal(version.part[1], 4);
	assert_int_equal(version.part[2], 27);

	assert_int_equal(version_of("Zend Engine v4.2.36, Copyright (c) Zend", &version), 0);
	assert_int_equal(version.part[0], 8);
	assert_int_equal(version.part[1], 2);
	assert_int_equal(version.part[2], 36);
	assert_int_equal(version_of("Zend Engine v3.4.0, Copyright (c) Zend", &version), 0);
	assert_int_equal(version.parts, 2);
	assert_int_equal(version.part[0], 7);
	assert_int_equal(version.part[1], 4);

	assert_int_equal(version_of(NULL, &version), -ENODATA);
	assert_int_equal(version_of("Zend Engine v5.0.1, Copyright (c) Zend", &version), -ENOTSUP);
	assert_int_equal(version_of("Zend Engine v4.9999.1, Copyright (c) Z", &version), -ENOTSUP);
	assert_int_equal(version_of("Another engine, and its Copyright text", &version), -ENOTSUP);
	assert_int_equal(php_version_read(&none, 0, &self, &version), -ENOENT);
	assert_int_equal(version.part[0], 7); /* unchanged */
}

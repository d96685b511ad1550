/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbolizer on this program itself, compared with the addresses of its
 * functions and with nm.
 */
#include <stdint.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "symbolize/symbolizer.h"
#include "tests/unit/cases.h"

static struct module self = {.number = 7, .path = "/proc/self/exe"};

static int read_fd(void *fd, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread((int)(intptr_t)fd, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes
		       ? 0
		       : -EIO;
}

static void close_fd(void *fd)
{
	close((int)(intptr_t)fd);
}

static int open_file(void *context, const struct module *module, struct blob *ret)
{
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	*ret = (struct blob){
		.size_bytes = (uint64_t)st.st_size,
		.read = read_fd,
		.close = close_fd,
		.context = (void *)(intptr_t)fd,
	};
	return 0;
}

struct fixture {
	struct symbolizer *symbolizer;
	struct blob blob;
	struct elf_file elf;
};

static int setup(void **state)
{
	struct file_source source = {.open_module = open_file};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return !fixture || symbolizer_create(&source, &fixture->symbolizer) ||
	       open_file(NULL, &self, &fixture->blob) ||
	       elf_file_init(&fixture->elf, &fixture->blob);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	elf_file_deinit(&fixture->elf);
	blob_close(&fixture->blob);
	symbolizer_destroy(fixture->symbolizer);
	free(fixture);
	return 0;
}

/* Returns the name of the function at an address of the file, outside inlined calls. */
static const char *name_at(struct fixture *fixture, uint64_t address, uint64_t *ret_offset)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint64_t file_offset;
	uint32_t count;

	assert_true(elf_file_offset(&fixture->elf, address, &file_offset));
	assert_int_equal(symbolizer_native(fixture->symbolizer, &self, file_offset, frames, &count),
			 0);
	*ret_offset = frames[count - 1].symbol_offset;
	return frames[count - 1].name;
}

static int first_base(struct dl_phdr_info *info, size_t size_bytes, void *base)
{
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

__attribute__((noinline, used)) static int a_static_function(int x)
{
	return x * 3;
}

int a_global_function(int x);

__attribute__((noinline)) int a_global_function(int x)
{
	return a_static_function(x) + 1;
}

CASE_WITH(functions_know_their_names, setup, teardown)
{
	uint64_t base, offset;

	dl_iterate_phdr(first_base, &base);
	assert_string_equal(name_at(*state, (uint64_t)(uintptr_t)a_static_function - base, &offset),
			    "a_static_function");
	assert_int_equal(offset, 0);
	assert_string_equal(
		name_at(*state, (uint64_t)(uintptr_t)a_global_function - base + 3, &offset),
		"a_global_function");
	assert_int_equal(offset, 3);
	assert_string_equal(name_at(*state, (uint64_t)(uintptr_t)elf_file_symbols - base, &offset),
			    "elf_file_symbols");
}

#define AFTER_PADDING(name)                                                                        \
	".balign 16, 0x90\n nop\n .balign 16, 0x90\n"                                              \
	".type " name ", @function\n" name ": mov $15, %rax\n syscall\n"                           \
	".size " name ", . - " name "\n"

/* The first one ends the range of a symbol without size. */
__asm__(".text\n" AFTER_PADDING("before_restore_rt") AFTER_PADDING("__restore_rt")
		AFTER_PADDING("not_restore_rt") ".globl after_restore_rt\n after_restore_rt: nop\n"
						".size after_restore_rt, 1\n");

void after_restore_rt(void);

/* A signal handler returns to the trampoline's first instruction: a caller is looked up before. */
CASE_WITH(a_signal_trampoline_begins_a_byte_earlier, setup, teardown)
{
	uint64_t base, offset, after = (uint64_t)(uintptr_t)after_restore_rt;

	dl_iterate_phdr(first_base, &base);
	after -= base + 9;
	assert_string_equal(name_at(*state, after, &offset), "not_restore_rt");
	assert_int_equal(offset, 0);
	assert_string_equal(name_at(*state, after - 1, &offset), "");
	after -= 32;
	assert_string_equal(name_at(*state, after, &offset), "__restore_rt");
	assert_string_equal(name_at(*state, after - 1, &offset), "__restore_rt");
	assert_int_equal(offset, 0);
	assert_string_equal(name_at(*state, after - 2, &offset), "");
}

/* A line "ADDRESS SIZE TYPE NAME" of `nm -S`. */
struct nm_line {
	uint64_t address, size_bytes;
	char type;
	char name[200];
};

static bool read_nm_line(const char *text, struct nm_line *ret)
{
	return sscanf(text, "%" SCNx64 " %" SCNx64 " %c %199s", &ret->address, &ret->size_bytes,
		      &ret->type, ret->name) == 4 &&
	       strchr("tTwW", ret->type);
}

CASE_WITH(nm_agrees, setup, teardown)
{
	char command[100], text[1000];
	unsigned checked = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -S --defined-only /proc/%d/exe", (int)getpid());
	nm = popen(command, "re");
	assert_non_null(nm);
	while (fgets(text, sizeof(text), nm)) {
		uint64_t first_offset, last_offset;
		struct nm_line line;
		const char *name;

		if (!read_nm_line(text, &line))
			continue;
		name = name_at(*state, line.address, &first_offset);
		assert_int_not_equal(*name, '\0');
		assert_int_equal(first_offset, 0);
		/* libc has aliases, our own functions do not. */
		if (!strncmp(line.name, "elf_", 4) || !strncmp(line.name, "symbol", 6))
			assert_string_equal(name, line.name);
		name = name_at(*state, line.address + line.size_bytes - 1, &last_offset);
		assert_int_not_equal(*name, '\0');
		assert_int_equal(last_offset, line.size_bytes - 1);
		checked++;
	}
	assert_int_equal(pclose(nm), 0);
	assert_true(checked > 30);
}

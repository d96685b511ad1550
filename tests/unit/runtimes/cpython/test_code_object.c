/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code objects of 3.12 that change, and whose memory is used again. */
#include "runtimes/cpython/code_object.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

#define BASE 0x10000

/* Where the objects are. */
enum { CODE = 0, TYPE = 512, NAME = 1024, FILE_NAME = 1536, LINES = 2048, BYTES = 4096 };

/* Members of a code object of 3.12. */
enum { FIRST_LINE = 68, CODE_VERSION = 92, FILE_AT = 112, NAME_AT = 128, LINES_AT = 136 };

static uint8_t bytes[BYTES];
static uint32_t reads, change_at; /* change_at: the read before which a word changes; 0: never */
static size_t changed;
static uint64_t read_bytes;

static int read_memory(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (++reads == change_at)
		bytes[changed] ^= 1;
	read_bytes += size_bytes;
	if (address < BASE || address - BASE > BYTES || size_bytes > BYTES - (address - BASE))
		return -EFAULT;
	memcpy(buf, bytes + (address - BASE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_memory};
static struct cpython_layout layout;

static void put(size_t at, uint64_t word, size_t size_bytes)
{
	memcpy(bytes + at, &word, size_bytes);
}

static void put_text(size_t at, const char *text)
{
	put(at + CPYTHON_TEXT_LENGTH, strlen(text), 8);
	put(at + CPYTHON_TEXT_HASH, strlen(text) * 0x9e3779b97f4a7c15ull + (uint8_t)*text, 8);
	put(at + CPYTHON_TEXT_STATE, 1 << 2 | 1 << 5 | 1 << 6, 4);
	memcpy(bytes + at + layout.text_ascii_bytes, text, strlen(text));
}

static void make(void)
{
	static const uint8_t lines[] = {0x80 | 11 << 3, 1, 1};
	struct engine_version version = {{3, 12}, 2};

	layout = *cpython_layout_of(&version);
	memset(bytes, 0, sizeof(bytes));
	reads = change_at = 0;
	read_bytes = 0;
	put(CODE, 2, 8); /* references */
	put(CODE + CPYTHON_OBJECT_TYPE, BASE + TYPE, 8);
	put(TYPE + CPYTHON_TYPE_NAME, BASE + TYPE + 64, 8);
	memcpy(bytes + TYPE + 64, "code", 5);
	put(CODE + FIRST_LINE, 7, 4);
	put(CODE + CODE_VERSION, 1234, 4);
	put(CODE + FILE_AT, BASE + FILE_NAME, 8);
	put(CODE + NAME_AT, BASE + NAME, 8);
	put(CODE + LINES_AT, BASE + LINES, 8);
	put_text(NAME, "Class.method");
	put_text(FILE_NAME, "/a/b.py");
	put(LINES + CPYTHON_OBJECT_SIZE, sizeof(lines), 8);
	memcpy(bytes + LINES + CPYTHON_BYTES_DATA, lines, sizeof(lines));
}

static int read_code(struct runtime_function *ret)
{
	return cpython_code_read(&memory, &layout, 0, BASE + CODE, ret);
}

/* A freed object keeps its words, but not its texts. */
CASE(a_freed_object)
{
	static const uint64_t freed[] = {0, 0x7f1200345678, 0x555512345678, 0x1c3f2a0};
	static const uint64_t used[] = {1, 1u << 20, 999999999, UINT32_MAX, 3u << 30};

	for (size_t i = 0; i < sizeof(freed) / sizeof(freed[0]); i++) {
		struct runtime_function function = {0};

		make();
		put(CODE, freed[i], 8);
		assert_int_equal(read_code(&function), -EBADMSG);
	}
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

		make();
		put(CODE, used[i], 8);
		assert_int_equal(read_code(&function), 0);
	}
}

CASE(a_code_object)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

	make();
	assert_int_equal(read_code(&function), 0);
	assert_string_equal(function.name, "Class.method");
	assert_string_equal(function.file, "/a/b.py");
	assert_int_equal(function.first_line, 7);
	assert_true(function.code == BASE + CODE + 192);
	assert_int_equal(function.lines.size, 1);
	assert_int_equal(function.lines.data[0].line, 8);
	assert_int_equal(function.check & 1, 0);
}

static uint64_t check_of_code(void)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

	assert_int_equal(read_code(&function), 0);
	return function.check;
}

CASE(memory_that_is_used_again_has_another_check)
{
	uint64_t was;

	/* At the same places, another name of the same length. */
	make();
	was = check_of_code();
	put_text(NAME, "Dlass.method");
	assert_true(check_of_code() != was);
	put_text(NAME, "Class.method");
	assert_true(check_of_code() == was);
	/* The same name, compiled again. */
	put(CODE + CODE_VERSION, 1235, 4);
	assert_true(check_of_code() != was);
	put(CODE + CODE_VERSION, 1234, 4);
	put(CODE + FIRST_LINE, 8, 4);
	assert_true(check_of_code() != was);
}

CASE(what_changes_while_code_runs_is_no_part_of_the_check)
{
	uint64_t was;

	make();
	was = check_of_code();
	put(CODE + 0, 99, 8);	  /* references */
	put(CODE + 144, BASE, 8); /* weak references, executors, monitoring */
	put(CODE + 152, BASE, 8);
	put(CODE + 192, 0x1234, 8); /* the adaptive code */
	put(FILE_NAME + CPYTHON_TEXT_HASH, 5, 8);
	assert_true(check_of_code() == was);
}

CASE(an_object_that_changes_meanwhile_is_not_taken)
{
	struct runtime_function function = {0};
	uint32_t all, refused = 0;

	make();
	check_of_code();
	all = reads;
	assert_true(all <= 26);
	for (uint32_t i = 1; i <= all; i++) {
		int err;

		make();
		changed = CODE + FIRST_LINE;
		change_at = i;
		err = read_code(&function);
		assert_true(!err || err == -EAGAIN);
		refused += err == -EAGAIN;
		/* Before the first read, or behind the last of this word, the change is not seen.
		 */
		if (!err)
			runtime_function_deinit(&function);
	}
	assert_true(refused >= all - 7);
}

CASE(other_objects_are_refused)
{
	struct runtime_function function = {0};
	uint64_t type = BASE + TYPE + 8;

	make();
	memcpy(bytes + TYPE + 64, "cell", 5);
	assert_int_equal(read_code(&function), -EBADMSG);
	assert_int_equal(cpython_code_is(&memory, BASE + CODE, &type), -EBADMSG);
	make();
	memcpy(bytes + TYPE + 64, "codex", 6);
	assert_int_equal(read_code(&function), -EBADMSG);
	make();
	put(CODE + NAME_AT, 8, 8);
	assert_int_equal(read_code(&function), -EFAULT);
	assert_null(function.name);
}

CASE(sizes_that_lie_cost_no_more)
{
	struct runtime_function function = {0};

	make();
	put(NAME + CPYTHON_TEXT_LENGTH, UINT64_MAX, 8);
	assert_int_equal(read_code(&function), 0);
	assert_true(strlen(function.name) <= RUNTIME_NAME_MAX);
	runtime_function_deinit(&function);
	make();
	put(LINES + CPYTHON_OBJECT_SIZE, UINT64_MAX, 8);
	assert_int_equal(read_code(&function), -EFAULT);
	assert_true(read_bytes < 2 * CPYTHON_LINES_BYTES_MAX);
}

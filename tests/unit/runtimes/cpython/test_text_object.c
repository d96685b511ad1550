/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/text_object.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

#define OBJECT 0x1000

static uint8_t memory_bytes[4096];
static size_t most_read;

static int read_bytes(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (size_bytes > most_read)
		most_read = size_bytes;
	if (address < OBJECT || address - OBJECT > sizeof(memory_bytes) ||
	    size_bytes > sizeof(memory_bytes) - (address - OBJECT))
		return -EFAULT;
	memcpy(buf, memory_bytes + (address - OBJECT), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_bytes};
static const struct cpython_layout layout = {.text_ascii_bytes = 40, .text_compact_bytes = 56};

static void put(size_t at, uint64_t word, size_t size_bytes)
{
	memcpy(memory_bytes + at, &word, size_bytes);
}

enum { COMPACT = 1 << 5, ASCII = 1 << 6 };

static void make(uint32_t width, uint32_t flags, uint64_t length, const void *characters,
		 size_t size_bytes)
{
	size_t at = flags & ASCII ? 40 : 56;

	memset(memory_bytes, 0, sizeof(memory_bytes));
	put(16, length, 8);
	put(32, 1 | width << 2 | flags, 4);
	if (!(flags & COMPACT)) {
		put(56, OBJECT + 512, 8);
		at = 512;
	}
	memcpy(memory_bytes + at, characters, size_bytes);
}

static void expect(const char *text, size_t max_bytes)
{
	AUTO_FREE char *is = NULL;

	assert_int_equal(cpython_text_read(&memory, &layout, OBJECT, max_bytes, &is), 0);
	assert_string_equal(is, text);
}

CASE(all_kinds)
{
	make(1, COMPACT | ASCII, 5, "hello", 5);
	expect("hello", 100);
	make(1, COMPACT, 4, "\xe9t\xe9s", 4);
	expect("étés", 100);
	make(2, COMPACT, 3, u"函数x", 6);
	expect("函数x", 100);
	make(4, COMPACT, 2, U"\U0001f600a", 8);
	expect("😀a", 100);
	make(1, 0, 5, "apart", 5);
	expect("apart", 100);
	make(1, COMPACT | ASCII, 0, "", 0);
	expect("", 100);
}

CASE(invalid_characters_are_replaced)
{
	static const uint16_t half[] = {'a', 0xdcff, 'b'};
	static const uint32_t large[] = {'a', 0x110000, 0xffffffff};

	make(2, COMPACT, 3, half, sizeof(half));
	expect("a\xef\xbf\xbd"
	       "b",
	       100);
	make(4, COMPACT, 3, large, sizeof(large));
	expect("a\xef\xbf\xbd\xef\xbf\xbd", 100);
	make(1, COMPACT | ASCII, 3, "a\0b", 3);
	expect("a\xef\xbf\xbd"
	       "b",
	       100);
}

CASE(long_text_is_cut_between_characters)
{
	make(2, COMPACT, 4, u"函数函数", 8);
	expect("函", 5);
	expect("函数", 6);
	expect("", 2);
	most_read = 0;
	make(1, COMPACT | ASCII, 1ull << 62, "abcdef", 6);
	expect("abc", 3);
	assert_true(most_read <= 20);
}

CASE(no_strings)
{
	AUTO_FREE char *text = NULL;

	make(3, COMPACT, 1, "abcd", 4);
	assert_int_equal(cpython_text_read(&memory, &layout, OBJECT, 100, &text), -EBADMSG);
	make(0, COMPACT, 1, "abcd", 4);
	assert_int_equal(cpython_text_read(&memory, &layout, OBJECT, 100, &text), -EBADMSG);
	make(4, COMPACT, 4000, "abcd", 4);
	assert_int_equal(cpython_text_read(&memory, &layout, OBJECT, 4000, &text), -EFAULT);
	assert_int_equal(cpython_text_read(&memory, &layout, 8, 100, &text), -EFAULT);
	assert_null(text);
}

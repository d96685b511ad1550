/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kernel_symbols.h"

static struct kernel_symbols *symbols;

static int teardown(void **state)
{
	kernel_symbols_destroy(symbols);
	symbols = NULL;
	return 0;
}

/* An exact copy, so that a look past its end is seen. */
static void parse_bytes(const char *text, size_t size_bytes)
{
	char *copy = malloc(size_bytes ? size_bytes : 1);

	assert_non_null(copy);
	memcpy(copy, text, size_bytes);
	kernel_symbols_destroy(symbols);
	symbols = NULL;
	assert_int_equal(kernel_symbols_parse(copy, size_bytes, &symbols), 0);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static void assert_at(uint64_t address, const char *name, const char *module, uint64_t offset)
{
	const char *found_module = NULL;
	uint64_t found_offset = 0;
	const char *found = kernel_symbols_find(symbols, address, &found_module, &found_offset);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_string_equal(found_module, module);
	assert_int_equal(found_offset, offset);
}

static void finds_the_symbol_before(void **state)
{
	parse("0000000000000000 A fixed_percpu_data\n"
	      "ffffffff81000000 T _stext\n"
	      "ffffffff81000000 T _text\n"
	      "ffffffff81000100 t foo.cold\n"
	      "ffffffff81000200 W weak\n"
	      "ffffffff81000300 T _etext\n"
	      "ffffffff82000000 D data\n"
	      "ffffffffc0001000 t late\t[mod_b]\r\n"
	      "ffffffffc0000000 t __pfx_early\t[mod_a]\n"
	      "ffffffffc0000010 T early\t[mod_a]\n"
	      "ffffffffc0000800 d some_data\t[mod_a]\n"
	      "ffffffffc0002000 t bpf_prog_6deef7357e7b4530\t[bpf]");
	assert_int_equal(kernel_symbols_count(symbols), 8);
	assert_at(0xffffffff80ffffff, NULL, NULL, 0);
	assert_at(0xffffffff81000000, "_text", "", 0);
	assert_at(0xffffffff810000ff, "_text", "", 0xff);
	assert_at(0xffffffff81000101, "foo.cold", "", 1);
	assert_at(0xffffffff81000200, "weak", "", 0);
	assert_at(0xffffffff810002ff, "weak", "", 0xff);
	assert_at(0xffffffff81000300, NULL, NULL, 0);
	assert_at(0xffffffff82000010, NULL, NULL, 0);
	assert_at(0xffffffffc0000001, "__pfx_early", "mod_a", 1);
	assert_at(0xffffffffc00007ff, "early", "mod_a", 0x7ef);
	assert_at(0xffffffffc0000800, NULL, NULL, 0);
	assert_at(0xffffffffc0001fff, "late", "mod_b", 0xfff);
	assert_at(0xffffffffc0002000, "bpf_prog_6deef7357e7b4530", "bpf", 0);
	assert_at(0, NULL, NULL, 0);
}

static void no_symbol_reaches_without_end(void **state)
{
	parse("ffffffff81000000 T last\nfffffffffffff000 t very_last\n");
	assert_at(0xffffffff81000000 + KERNEL_SYMBOL_BYTES_MAX - 1, "last", "",
		  KERNEL_SYMBOL_BYTES_MAX - 1);
	assert_at(0xffffffff81000000 + KERNEL_SYMBOL_BYTES_MAX, NULL, NULL, 0);
	assert_at(0xfffffffffffffffe, "very_last", "", 0xffe);
}

static void text_wins_over_data_at_its_address(void **state)
{
	parse("ffffffff81000000 D __start_data\nffffffff81000000 t f\nffffffff81000000 R end\n");
	assert_at(0xffffffff81000004, "f", "", 4);
}

static void hidden_addresses_are_no_symbols(void **state)
{
	parse("0000000000000000 T _text\n0000000000000000 t f\t[mod]\n");
	assert_int_equal(kernel_symbols_count(symbols), 0);
	assert_at(0, NULL, NULL, 0);
	assert_at(0xffffffff81000000, NULL, NULL, 0);
	parse("");
	assert_at(0, NULL, NULL, 0);
}

static void lines_that_cannot_be_read_are_passed_over(void **state)
{
	parse("\n\n \nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
	      "ffffffff81000000T x\nxyz T x\n1ffffffff81000000 T too_long\n"
	      "ffffffff81000000 Tx x\nffffffff81000000 T open\t[mod\n"
	      "FFFFFFFF81000010 T upper\n"
	      "ffffffff81000020 T odd trailing words\n"
	      "ffffffff81000030 T bare\t[]\n"
	      "[evil]\n");
	assert_int_equal(kernel_symbols_count(symbols), 3);
	assert_at(0xffffffff81000000, NULL, NULL, 0);
	assert_at(0xffffffff81000010, "upper", "", 0);
	assert_at(0xffffffff81000020, "odd", "", 0);
	assert_at(0xffffffff81000030, "bare", "", 0);
}

static void bytes_of_any_kind_stay_inside_the_text(void **state)
{
	static const char text[] = "ffffffff81000000 T f\0g\nffffffff81000010 t h\0";

	for (size_t size_bytes = 0; size_bytes <= sizeof(text); size_bytes++)
		parse_bytes(text, size_bytes);
	assert_at(0xffffffff81000000, "f", "", 0);
	assert_at(0xffffffff81000010, "h", "", 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		TEST(finds_the_symbol_before),
		TEST(no_symbol_reaches_without_end),
		TEST(text_wins_over_data_at_its_address),
		TEST(hidden_addresses_are_no_symbols),
		TEST(lines_that_cannot_be_read_are_passed_over),
		TEST(bytes_of_any_kind_stay_inside_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

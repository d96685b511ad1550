/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/name/demangle.h"
#include "tests/unit/cases.h"

static void assert_demangled(const char *name, const char *expected)
{
	char *found = demangle(name);

	if (!expected) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, expected);
	free(found);
}

CASE(demangles_each_language)
{
	assert_demangled("_Z3fooi", "foo(int)");
	assert_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			 "std::vector<int, std::allocator<int> >::push_back(int const&)");
	assert_demangled("_ZNK3fooILb1EE3barEv.cold", "foo<true>::bar() const [clone .cold]");
	assert_demangled("_Z3fooi@plt", "foo(int)@plt");
	assert_demangled("_RNvCskwGfYPst2Cb_3foo3bar@plt", "foo::bar@plt");
	assert_demangled("_Z3fooi.part.0", "foo(int) [clone .part.0]");
	assert_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			 "core::fmt::Formatter::pad");
	assert_demangled("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$"
			 "17h0123456789abcdefE",
			 "core::ptr::drop_in_place<alloc::string::String>");
	assert_demangled("_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar");
	assert_demangled("_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])");
	assert_demangled("_Dmain", "D main");
	assert_demangled("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
			 "utf8_idents::საჭმელად_გემრიელი_სადილი");
}

CASE(leaves_other_names_alone)
{
	static const char *const names[] = {
		"",	  "_",	   "__",       "_Z",	   "_R",       "_D",	"_G",	"main",
		"Zfoo",	  "_Zfoo", "_GLOBAL_", "_ZN3foo",  "_Z3fo",    "_RNvC", "@plt", "puts@plt",
		"_Z@plt", "_Dfoo", "_start",   "__Z3fooi", "\xff\xfe", "_\xff",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_demangled(names[i], NULL);
}

CASE(length_is_bounded)
{
	static char name[DEMANGLE_INPUT_MAX + 100];

	strcpy(name, "_Z3fooi.");
	memset(name + 8, 'a', sizeof(name) - 9);
	assert_demangled(name, NULL);
	/* As many nesting levels as characters. */
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	name[60000] = 'i';
	name[60001] = '\0';
	assert_demangled(name, NULL);
	memset(name, 'S', 60000);
	memcpy(name, "_RNv", 4);
	assert_demangled(name, NULL);
}

/*
 * Each parameter is a function that takes the previous one twice: 40 of them
 * expand to 10^12 names.
 */
CASE(names_that_unfold_are_given_up)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fPFvvE", item[32], number[8];

	for (unsigned i = 0, last = 0; i < 40; i++, last += 2) {
		if (last < 36)
			snprintf(number, sizeof(number), "%c", digits[last]);
		else
			snprintf(number, sizeof(number), "%c%c", digits[last / 36],
				 digits[last % 36]);
		snprintf(item, sizeof(item), "PFvS%s_S%s_E", number, number);
		strcat(name, item);
	}
	assert_demangled(name, NULL);
	/* With few parameters the same pattern is an ordinary name. */
	assert_demangled("_Z1fPFvvEPFvS0_S0_E", "f(void (*)(), void (*)(void (*)(), void (*)()))");
}

/* A tuple with the previous tuple twice, by back references in base 62. */
static void add_rust_tuples(char *name, unsigned count)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t place = strlen(name) - strlen("_R");
	char number[8], item[32];

	strcat(name, "TllE");
	for (; count; count--) {
		if (place <= 62)
			snprintf(number, sizeof(number), "%c", digits[place - 1]);
		else
			snprintf(number, sizeof(number), "%c%c", digits[(place - 1) / 62],
				 digits[(place - 1) % 62]);
		place = strlen(name) - strlen("_R");
		snprintf(item, sizeof(item), "TB%s_B%s_E", number, number);
		strcat(name, item);
	}
	strcat(name, "E");
}

CASE(rust_names_that_unfold_are_given_up)
{
	char name[1024] = "_RINvC1a1b";

	add_rust_tuples(name, 1);
	assert_demangled(name, "a::b::<(i32, i32), ((i32, i32), (i32, i32))>");
	strcpy(name, "_RINvC1a1b");
	add_rust_tuples(name, 45);
	assert_demangled(name, NULL);
	/* A non-ASCII identifier needs heap memory, which must not leak. */
	strcpy(name, "_RINvC1au30____7hkackfecea1cbdathfdh9hlq6y");
	add_rust_tuples(name, 1);
	assert_demangled(name, "a::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
			       "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_"
			       "\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"
			       "::<(i32, i32), ((i32, i32), (i32, i32))>");
	strcpy(name, "_RINvC1au30____7hkackfecea1cbdathfdh9hlq6y");
	add_rust_tuples(name, 45);
	assert_demangled(name, NULL);
}

/* These cannot be aborted: names with many back references are not demangled. */
CASE(d_names_that_could_unfold_are_not_tried)
{
	char name[1024] = "_D1a1bF";

	assert_demangled("_D1a1bFS1cQdZv", "a.b(c, c)");
	for (unsigned i = 0; i < 36; i++)
		strcat(name, "HiQb");
	strcat(name, "Zv");
	assert_demangled(name, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and lines of Java methods, from what a JVM says of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "jitapi-shim/jvmti/java_name.h"
#include "jitapi-shim/jvmti/methods.h"

static void assert_name(const char *class, const char *method, const char *descriptor,
			const char *want)
{
	char name[128];

	java_name(class, method, descriptor, name, sizeof(name));
	assert_string_equal(name, want);
}

static void test_names(void **state)
{
	char small[8];

	assert_name("Ljava/util/Map$Entry;", "<init>", NULL, "java.util.Map$Entry.<init>");
	assert_name("LMain;", "main", "([Ljava/lang/String;)V", "Main.main(java.lang.String[])");
	assert_name("LMain;", "f", "()V", "Main.f()");
	assert_name("LMain;", "f", "(IJ[[ZLa/B;D)La/B;",
		    "Main.f(int, long, boolean[][], a.B, double)");
	assert_name("Lpkg/Main$$Lambda.0x00007f12;", "run", NULL,
		    "pkg.Main$$Lambda/0x00007f12.run");
	assert_name("[I", "clone", NULL, "int[].clone");
	/* Malformed. */
	assert_name("", "f", "(", ".f()");
	assert_name("Lpkg/Main", "f", "(La/B", "pkg.Main.f(a.B)");
	assert_name("Q", "f", "(?[", "Q.f(?, [])");
	java_name("Lpkg/Main;", "method", "(I)V", small, sizeof(small));
	assert_string_equal(small, "pkg.Mai");
}

static void test_linkers(void **state)
{
	const char *class = "Ljava/lang/invoke/MethodHandle;";

	assert_true(java_is_linker(class, "linkToStatic"));
	assert_true(java_is_linker(class, "invokeBasic"));
	assert_false(java_is_linker(class, "invokeWithArguments"));
	assert_false(java_is_linker("LMain;", "linkToStatic"));
	assert_false(java_is_linker("", ""));
}

static uint64_t random_next(uint64_t *random)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return *random >> 33;
}

/* Lines in the JVM's order, whatever it is, against a search of all. */
static void test_lines(void **state)
{
	jvmtiLineNumberEntry lines[16];
	struct method method = {.lines = lines};
	uint64_t random = 1;

	for (int round = 0; round < 2000; round++) {
		uint64_t start = 0;

		method.line_count = (jint)(random_next(&random) % 16);
		method.lines_ascend = round % 2;
		for (jint i = 0; i < method.line_count; i++) {
			uint64_t step = random_next(&random) % 4;

			start = method.lines_ascend ? start + step : step * 3;
			lines[i] = (jvmtiLineNumberEntry){(jlocation)start, i + 1};
		}
		for (jlocation at = 0; at < 16; at++) {
			jlocation best = -1;
			uint32_t want = 0;

			for (jint i = 0; i < method.line_count; i++) {
				if (lines[i].start_location > at || lines[i].start_location < best)
					continue;
				best = lines[i].start_location;
				want = (uint32_t)lines[i].line_number;
			}
			assert_int_equal(method_line(&method, at), want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_linkers),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library as a file, and from the view of an engine without a profiler. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/shim/shim_fixture.h"

static struct shim shim;

/* Get the whole output of a command. */
static void output_of(const char *command, const char *path, char *ret, size_t size)
{
	char line[512];
	FILE *pipe;
	size_t n;

	snprintf(line, sizeof(line), "%s '%s'", command, path);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	n = fread(ret, 1, size - 1, pipe);
	ret[n] = 0;
	assert_int_equal(pclose(pipe), 0);
}

static void test_exports_the_api_and_nothing_else(void **state)
{
	char names[4096];

	output_of("LC_ALL=C nm -D --defined-only -j", shim.path, names, sizeof(names));
	assert_string_equal(names, "Initialize\n"
				   "NotifyEvent\n"
				   "iJIT_GetNewMethodID\n"
				   "iJIT_IsProfilingActive\n"
				   "iJIT_NotifyEvent\n");
}

/* The library is loaded in containers with a libc that may be ten years old. */
static void test_needs_no_more_than_an_old_libc(void **state)
{
	char text[16384];
	unsigned int minor, seen = 0;

	output_of("readelf -dW", shim.path, text, sizeof(text));
	assert_non_null(strstr(text, "[libc.so.6]"));
	assert_null(strstr(strstr(text, "(NEEDED)") + 1, "(NEEDED)"));
	output_of("nm -D --undefined-only", shim.path, text, sizeof(text));
	for (char *at = text; (at = strstr(at, "@GLIBC_2.")); seen++) {
		at += strlen("@GLIBC_2.");
		assert_int_equal(sscanf(at, "%u", &minor), 1);
		assert_in_range(minor, 0, 17);
	}
	assert_true(seen > 0);
}

static void test_site_is_three_aligned_nops(void **state)
{
	static const uint8_t expected[] = {
		0x90,							    /* nop1 */
		0x0f, 0x1f, 0x44, 0x00, 0x00,				    /* nop5 */
		0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, /* nop10 */
		0xc3,
	};

	assert_memory_equal(shim.site.location, expected, sizeof(expected));
	assert_int_equal((uintptr_t)shim.site.location % 64, 0);
}

static void test_note_tells_arguments_and_semaphore(void **state)
{
	assert_string_equal(shim.site.arguments, "8@%rdi 8@%rsi 8@%rdx 4@%ecx");
	assert_non_null(shim.site.semaphore);
	assert_int_equal(*shim.site.semaphore, 0);
}

static void test_answers_keep_engines_going(void **state)
{
	assert_int_equal(shim.initialize(), 1);
	assert_int_equal(shim.initialize(), 1);
	assert_int_equal(shim.is_active(), 1);
}

static void test_method_ids_start_at_1000(void **state)
{
	assert_int_equal(shim.new_method_id(), 1000);
	assert_int_equal(shim.new_method_id(), 1001);
}

/* Without a profiler and a journal no payload is read: all of these are unreadable. */
static void test_unheard_events_touch_nothing(void **state)
{
	for (unsigned int event = 0; event <= 40; event++) {
		assert_int_equal(shim.notify(event, NULL), 1);
		assert_int_equal(shim.notify(event, (void *)1), 1);
		assert_int_equal(shim.notify(event, (void *)UINTPTR_MAX), 1);
		assert_int_equal(shim.ijit_notify(event, (void *)1), 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exports_the_api_and_nothing_else),
		cmocka_unit_test(test_needs_no_more_than_an_old_libc),
		cmocka_unit_test(test_site_is_three_aligned_nops),
		cmocka_unit_test(test_note_tells_arguments_and_semaphore),
		cmocka_unit_test(test_answers_keep_engines_going),
		cmocka_unit_test(test_method_ids_start_at_1000),
		cmocka_unit_test(test_unheard_events_touch_nothing),
	};

	setenv("JITBPF_JOURNAL_MB", "0", 1);
	shim_open(&shim);
	return cmocka_run_group_tests_name("shim: library", tests, NULL, NULL);
}

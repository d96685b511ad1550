/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include "decode/text/jvm_answer.h"
#include "tests/unit/cases.h"

static struct jvm_answer parsed(const char *bytes)
{
	struct jvm_answer answer = {0};

	assert_int_equal(jvm_answer_parse(bytes, strlen(bytes), &answer), 0);
	return answer;
}

/* As OpenJDK 17 and 25 answer; 8 has no label. */
CASE(test_return_code)
{
	static const char *const others[] = {
		"-1\n/x.so was not loaded.\n",
		"0\n/x.so was not loaded.\n",
		"0\nDynamic agent loading is not enabled.\n",
		"101\nreturn code: 0\n",
		"0\nreturn code: \n",
		"0\nreturn code: 0x\n",
		"0\nreturn code: 4294967296\n",
		"0\n",
		"0",
	};
	struct jvm_answer answer = parsed("0\nreturn code: 0\n");
	int32_t code = 7;

	assert_true(jvm_answer_return_code(&answer, &code));
	assert_int_equal(code, 0);
	answer = parsed("0\n0\n");
	assert_true(jvm_answer_return_code(&answer, &code));
	assert_int_equal(code, 0);
	answer = parsed("0\nreturn code: -5");
	assert_true(jvm_answer_return_code(&answer, &code));
	assert_int_equal(code, -5);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		answer = parsed(others[i]);
		assert_false(jvm_answer_return_code(&answer, &code));
	}
	assert_int_equal(code, -5);
}

/* As OpenJDK 17, by the agent's result, and 25 answer. */
CASE(test_early)
{
	struct jvm_answer answer = parsed("0\nreturn code: 102\n");

	assert_true(jvm_answer_is_early(&answer));
	answer = parsed("0\nDynamic agent loading is only permitted in the live phase\n");
	assert_true(jvm_answer_is_early(&answer));
	answer = parsed("0\nreturn code: 101\n");
	assert_false(jvm_answer_is_early(&answer));
	answer = parsed("0\nDynamic agent loading is not enabled.\n");
	assert_false(jvm_answer_is_early(&answer));
}

CASE(test_no_answer)
{
	static const char *const others[] = {"",     "\n",  "x\n0",	   "0x\n",
					     " 0\n", "-\n", "2147483648\n"};
	struct jvm_answer answer = {.status = 7};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(jvm_answer_parse(others[i], strlen(others[i]), &answer), -EBADMSG);
	assert_int_equal(answer.status, 7);
}

CASE(test_release)
{
	struct jvm_answer answer = parsed("0\nOpenJDK 64-Bit Server VM version 17.0.15+6\nJDK "
					  "17.0.15\n");

	assert_int_equal(jvm_answer_release(&answer), 17);
	answer = parsed("0\nOpenJDK 64-Bit Server VM version 25.352-b08\nJDK 8.0_352\n");
	assert_int_equal(jvm_answer_release(&answer), 8);
	answer = parsed("0\nx\nJDK ");
	assert_int_equal(jvm_answer_release(&answer), 0);
	answer = parsed("0\nx\nJDK -3");
	assert_int_equal(jvm_answer_release(&answer), 0);
	answer = parsed("1\nx\nJDK 17");
	assert_int_equal(jvm_answer_release(&answer), 0);
}

CASE(test_flag)
{
	struct jvm_answer answer = parsed("0\n-XX:+DebugNonSafepoints\n");

	assert_true(jvm_answer_is_set(&answer));
	answer = parsed("0\n-XX:-DebugNonSafepoints\n");
	assert_false(jvm_answer_is_set(&answer));
	answer = parsed("0\n-XX:ArchiveClassesAtExit=a.jsa\n");
	assert_true(jvm_answer_is_set(&answer));
	answer = parsed("0\n-XX:ArchiveClassesAtExit=\n");
	assert_false(jvm_answer_is_set(&answer));
	answer = parsed("0\n-XX:ArchiveClassesAtExit=");
	assert_false(jvm_answer_is_set(&answer));
	answer = parsed("0\nno such flag 'a=b'\n");
	assert_false(jvm_answer_is_set(&answer));
	answer = parsed("0\nno such flag 'DebugNonSafepoints'\n");
	assert_false(jvm_answer_is_set(&answer));
}

CASE(test_words)
{
	struct jvm_answer answer = parsed("-1\none\ntwo\x1b[0m\n\n");
	char words[16], few[5];

	jvm_answer_words(&answer, words, sizeof(words));
	assert_string_equal(words, "one two?[0m");
	jvm_answer_words(&answer, few, sizeof(few));
	assert_string_equal(few, "one ");
}

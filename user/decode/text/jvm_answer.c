/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/text/jvm_answer.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "uapi/jvm_agent.h"

/* Read a decimal number at *at. Returns false, with *at unchanged, if there is none that fits. */
static bool read_number(const char **at, const char *end, int32_t *ret)
{
	const char *c = *at;
	bool negative = c < end && *c == '-';
	int64_t value = 0;

	c += negative;
	if (c == end || *c < '0' || *c > '9')
		return false;
	for (; c < end && *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > INT32_MAX)
			return false;
	}
	*ret = (int32_t)(negative ? -value : value);
	*at = c;
	return true;
}

/* Read a number that ends its line, and pass that end. */
static bool read_line(const char **at, const char *end, int32_t *ret)
{
	const char *c = *at;
	int32_t value;

	if (!read_number(&c, end, &value) || (c < end && *c != '\n'))
		return false;
	*at = c < end ? c + 1 : c;
	*ret = value;
	return true;
}

int jvm_answer_parse(const char *bytes, size_t size_bytes, struct jvm_answer *ret)
{
	const char *at = bytes, *end = bytes + size_bytes;
	int32_t status;

	if (!size_bytes || !read_line(&at, end, &status))
		return -EBADMSG;
	*ret = (struct jvm_answer){status, at, (size_t)(end - at)};
	return 0;
}

bool jvm_answer_return_code(const struct jvm_answer *answer, int32_t *ret)
{
	static const char label[] = "return code: "; /* not before JDK 9 */
	const char *at = answer->text, *end = at + answer->text_bytes;

	if (answer->status)
		return false;
	if (bytes_begin_with(at, answer->text_bytes, label))
		at += strlen(label);
	return read_line(&at, end, ret);
}

/* The text of JDK 25. Earlier releases call the agent, which returns JITBPF_JVM_AGENT_TOO_EARLY. */
bool jvm_answer_is_early(const struct jvm_answer *answer)
{
	static const char words[] = "only permitted in the live phase";
	int32_t code;

	if (jvm_answer_return_code(answer, &code))
		return code == JITBPF_JVM_AGENT_TOO_EARLY;
	return memmem(answer->text, answer->text_bytes, words, strlen(words));
}

uint32_t jvm_answer_release(const struct jvm_answer *answer)
{
	static const char label[] = "\nJDK ";
	const char *at = answer->status
				 ? NULL
				 : memmem(answer->text, answer->text_bytes, label, strlen(label));
	int32_t release;

	if (!at)
		return 0;
	at += strlen(label);
	if (!read_number(&at, answer->text + answer->text_bytes, &release) || release < 0)
		return 0;
	return (uint32_t)release;
}

bool jvm_answer_is_set(const struct jvm_answer *answer)
{
	const char *end = answer->text + answer->text_bytes;
	const char *value = memchr(answer->text, '=', answer->text_bytes);

	if (answer->status || !bytes_begin_with(answer->text, answer->text_bytes, "-XX:"))
		return false;
	return bytes_begin_with(answer->text, answer->text_bytes, "-XX:+") ||
	       (value && value + 1 < end && value[1] != '\n');
}

void jvm_answer_words(const struct jvm_answer *answer, char *ret, size_t size_bytes)
{
	size_t bytes = answer->text_bytes;

	while (bytes && answer->text[bytes - 1] == '\n')
		bytes--;
	if (bytes >= size_bytes)
		bytes = size_bytes - 1;
	for (size_t i = 0; i < bytes; i++) {
		char c = answer->text[i];

		ret[i] = c == '\n' ? ' ' : c;
		if (ret[i] < ' ' || ret[i] > '~')
			ret[i] = '?';
	}
	ret[bytes] = 0;
}

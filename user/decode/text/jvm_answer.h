/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers of HotSpot's attach mechanism: a line with a decimal status, then text. They come from a
 * profiled process, so any bytes are valid input. Only jvm_answer_words() copies.
 */
#ifndef JITBPF_DECODE_TEXT_JVM_ANSWER_H
#define JITBPF_DECODE_TEXT_JVM_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jvm_answer {
	int32_t status;	  /* 0: the operation was executed */
	const char *text; /* behind the status; borrowed, and not NUL-terminated */
	size_t text_bytes;
};

/* Returns 0, or -EBADMSG if the first line is not a number. */
int jvm_answer_parse(const char *bytes, size_t size_bytes, struct jvm_answer *ret);

/*
 * Of "load": set *ret to the return value of the agent's function. Returns false if the JVM has not
 * called the function; then the text has the reason.
 */
bool jvm_answer_return_code(const struct jvm_answer *answer, int32_t *ret);

/* Of "load": returns true if the JVM is still starting: a later attempt can succeed. */
bool jvm_answer_is_early(const struct jvm_answer *answer);

/* Of "jcmd VM.version": returns the feature release of Java, such as 17; 0 if it is not found. */
uint32_t jvm_answer_release(const struct jvm_answer *answer);

/*
 * Of "printflag": returns true if a boolean flag is on, or a flag of another type has a value. A
 * locked flag counts as off.
 */
bool jvm_answer_is_set(const struct jvm_answer *answer);

/*
 * Write the text as one NUL-terminated line of at most size_bytes, cut if it is longer. Bytes that
 * are not printable ASCII become '?', ends of lines spaces.
 */
void jvm_answer_words(const struct jvm_answer *answer, char *ret, size_t size_bytes);

#endif

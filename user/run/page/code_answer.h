/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer to a request of the live page for the code of a function. A reader process makes the
 * instructions, and the reader of source files the lines. The answer is a JSON object with `total`,
 * the samples of the profile; `shown`, the number of a generation; and `function`, as in
 * sink/annotate/page_code.h, of which that generation has `code`. If the function has no samples,
 * the answer is empty.
 */
#ifndef JITBPF_RUN_PAGE_CODE_ANSWER_H
#define JITBPF_RUN_PAGE_CODE_ANSWER_H

#include "run/page/answer_kind.h"

extern const struct answer_kind code_answer;

#endif

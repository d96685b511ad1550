/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer to a request of the live page for JIT methods of a range of time, or for all lives of
 * one of them: see lives_answer_write() (sink/format/page_lives.h). The answer counts the lives
 * that it has no room for. It is empty if the epoch has ended, or if the method's life was evicted.
 */
#ifndef JITBPF_RUN_PAGE_METHODS_ANSWER_H
#define JITBPF_RUN_PAGE_METHODS_ANSWER_H

#include "run/page/answer_kind.h"

extern const struct answer_kind methods_answer;

#endif

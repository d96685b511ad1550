/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer to a request of the live page for JIT methods of a range of time, or for all lives of
 * one of them: see lives_answer_write() (sink/format/page_lives.h). Lives that have no room are
 * counted in it. There is no answer if the epoch has ended, or if the method's life is forgotten.
 */
#ifndef JITBPF_CLI_METHODS_ANSWER_H
#define JITBPF_CLI_METHODS_ANSWER_H

#include "cli/answer_kind.h"

extern const struct answer_kind methods_answer;

#endif

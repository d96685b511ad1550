/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer to a request of the live page for the packages of files that lack names: an object
 * whose `unnamed` is as in the summary's JSON (sink/format/unnamed_json.h). The thread of the
 * answers is the only user of the file store's reader of packages until it is stopped.
 */
#ifndef JITBPF_RUN_PAGE_PACKAGES_ANSWER_H
#define JITBPF_RUN_PAGE_PACKAGES_ANSWER_H

#include "run/page/answer_kind.h"

extern const struct answer_kind packages_answer;

#endif

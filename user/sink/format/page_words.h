/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The texts of the page for the ledger's keys: terms, and their meanings. */
#ifndef JITBPF_SINK_FORMAT_PAGE_WORDS_H
#define JITBPF_SINK_FORMAT_PAGE_WORDS_H

#include "sink/write/json.h"

/* Write the texts as the member "words". */
void page_words_write(struct json *json);

#endif

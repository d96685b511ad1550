/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the texts about a run that several formats have. */
#ifndef JITBPF_SINK_RUN_TEXT_H
#define JITBPF_SINK_RUN_TEXT_H

#include "sink/sink.h"
#include "sink/write/text.h"

/*
 * Put the description of a run: two lines, the second one with its command, shortened to `columns`.
 */
/* Put the event that a view shows, and how it was sampled: " of cycles at 99 Hz". */
void run_text_put_event(struct text *text, const struct run_info *info);

void run_text_put(struct text *text, const struct run_info *info, uint32_t columns);

/* Put the fates that samples have in one line, without its end. */
void run_text_put_fates(struct text *text, const struct ledger *ledger);

static inline double run_text_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

#endif

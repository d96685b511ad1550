/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gets the lives of JIT code for the pages that the thread of `record --refresh` writes. The event
 * loop owns these lives. When the thread requests them, the event loop searches in steps, and
 * copies the result.
 */
#ifndef JITBPF_RUN_OUTPUTS_REFRESH_LIVES_H
#define JITBPF_RUN_OUTPUTS_REFRESH_LIVES_H

#include "pipeline/pipeline.h"
#include "sink/timeline/life_search.h"

struct refresh_lives;

/* pipeline is borrowed. Returns 0 or -ENOMEM. */
int refresh_lives_create(struct pipeline *pipeline, struct refresh_lives **ret);

/* After the thread has ended. NULL is allowed. */
void refresh_lives_destroy(struct refresh_lives *lives);

/* On the event loop, after a round: do a step of the search that the thread has requested. */
void refresh_lives_round(struct refresh_lives *lives);

/* On the event loop: end requests. The thread gets no more lives, and stops waiting. */
void refresh_lives_stop(struct refresh_lives *lives);

/*
 * On the thread: wait for the lives of the epoch, as of now. Sets *ret, which the caller frees by
 * life_list_deinit(). Returns 0, -ETIMEDOUT if the event loop has no time, or another error of the
 * search; then *ret is empty.
 */
int refresh_lives_get(struct refresh_lives *lives, uint32_t epoch, struct life_list *ret);

#endif

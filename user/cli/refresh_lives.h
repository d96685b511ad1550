/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives the thread of `record --refresh` the lives of JIT code for its pages. The event loop owns
 * the state that they are in: it looks for them in steps, when the thread has asked.
 */
#ifndef JITBPF_CLI_REFRESH_LIVES_H
#define JITBPF_CLI_REFRESH_LIVES_H

#include "pipeline/pipeline.h"
#include "sink/timeline/life_search.h"

struct refresh_lives;

/* pipeline is borrowed. Returns 0 or -ENOMEM. */
int refresh_lives_create(struct pipeline *pipeline, struct refresh_lives **ret);

/* After the thread has ended. NULL is allowed. */
void refresh_lives_destroy(struct refresh_lives *lives);

/* On the event loop: work on what the thread has asked for, after a round. */
void refresh_lives_round(struct refresh_lives *lives);

/* On the event loop: the thread gets no more lives, and waits for none. */
void refresh_lives_stop(struct refresh_lives *lives);

/*
 * On the thread: wait for the lives of the epoch, as of now. Sets *ret, which the caller frees by
 * life_list_deinit(). Returns 0, -ETIMEDOUT if the event loop has no time, or another error of the
 * search; then *ret is empty.
 */
int refresh_lives_get(struct refresh_lives *lives, uint32_t epoch, struct life_list *ret);

#endif

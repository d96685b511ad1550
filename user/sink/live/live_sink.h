/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live view that publishes deltas (delta_format.h) of each open epoch after rounds. A
 * delta belongs to its receivers, which may be on any thread, and read nothing else.
 *
 * Each epoch has one common sequence of deltas. A receiver without a state in it
 * requests a snapshot: a second sequence, from state 0 to a state of the common
 * sequence. One snapshot serves all receivers that requested it before it began.
 */
#ifndef JITBPF_SINK_LIVE_LIVE_SINK_H
#define JITBPF_SINK_LIVE_LIVE_SINK_H

#include <stdbool.h>

#include "base/shared_bytes.h"
#include "sink/live/delta_writer.h"
#include "sink/sink.h"

/*
 * Receives a delta on the pipeline's thread, and owns the reference; must not block. snapshot: the
 * delta is not of the common sequence. Returns true to request a snapshot of the delta's epoch.
 */
typedef bool (*live_publish_fn)(void *context, struct shared_bytes *delta, bool snapshot);

/* For analysis_add_live(). */
extern const struct sink_ops sink_live;

/*
 * Deltas have about delta_bytes at most (DELTA_BYTES). context is borrowed. Returns 0
 * or -ENOMEM.
 */
int live_sink_create(live_publish_fn publish, void *context, size_t delta_bytes, struct sink **ret);

#endif

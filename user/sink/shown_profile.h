/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as the options of its view show it. The profile holds everything; a
 * sink applies the options when it reads, here and in frame_text.h (inlined
 * frames) and frame_tree.h (processes and threads).
 */
#ifndef JITBPF_SINK_SHOWN_PROFILE_H
#define JITBPF_SINK_SHOWN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

/* Returns true if the view hides a node: the frame of a hidden kernel. */
bool shown_profile_hides(const struct view *view, uint32_t node);

/* The node at which the samples of a node are shown: itself, or the first caller that is shown. */
uint32_t shown_profile_node(const struct view *view, uint32_t node);

/*
 * The samples by shown node and thread, in the order of their first samples. Sets
 * *ret to the view's own counts, or to *scratch (zero-initialized), in which those
 * of hidden nodes are added to the shown ones. Returns 0 or -ENOMEM;
 * thread_counts_deinit() of scratch is due in both cases.
 */
int shown_profile_counts(const struct view *view, struct thread_counts *scratch,
			 const struct thread_counts **ret);

#endif

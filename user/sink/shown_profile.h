/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies the options of a view to its profile. The profile holds everything; a sink applies the
 * options when it reads, by this module (kernel frames, interpreters), frame_text.h (inlined
 * frames) and frame_tree.h (processes and threads).
 */
#ifndef JITBPF_SINK_SHOWN_PROFILE_H
#define JITBPF_SINK_SHOWN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

/*
 * Returns true if the view hides a node: a kernel frame with VIEW_KERNEL_HIDDEN, or native code
 * that serves a runtime with VIEW_INTERPRETER_HIDDEN. Nodes below a hidden one can be shown.
 */
bool shown_profile_hides(const struct view *view, uint32_t node);

/* Returns the node that shows the samples of a node: itself, or its first caller that is shown. */
uint32_t shown_profile_node(const struct view *view, uint32_t node);

/*
 * Returns the node whose machine code ran in the samples of a node: as shown_profile_node(), but
 * code that serves a runtime counts for itself, also where the view hides it.
 */
uint32_t shown_profile_code(const struct view *view, uint32_t node);

/*
 * Returns the node of the function of a runtime that a node of shown_profile_code() ran for, or
 * PROFILE_NODE_NONE if it is no code that serves a runtime.
 */
uint32_t shown_profile_runtime(const struct view *view, uint32_t node);

/*
 * Get the samples by shown node and thread, in order of their first samples. Sets *ret to the
 * view's own counts if no node is hidden; else to *scratch (zero-initialized), where the samples of
 * hidden nodes are added to shown nodes. Returns 0 or -ENOMEM; the caller calls
 * thread_counts_deinit() on scratch in both cases.
 */
int shown_profile_counts(const struct view *view, struct thread_counts *scratch,
			 const struct thread_counts **ret);

#endif

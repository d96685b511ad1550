/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cgroup of a sample or process in words: its container, else its systemd unit, else its path;
 * CGROUP_TEXT_HOST in the root, which is where all processes are if the machine uses cgroups of
 * version 1 only. Names come from the owners of cgroups: escape them where they are shown.
 *
 * A sample counts for the cgroup of its process, as of the last time that the BPF programs read it:
 * at a fork, an exec or a report of JIT code, and at a sample at most every 10 ms of a CPU.
 */
#ifndef JITBPF_SINK_CGROUP_TEXT_H
#define JITBPF_SINK_CGROUP_TEXT_H

#include <stdbool.h>

#include "profile/ledger.h"
#include "sink/sink.h"

#define CGROUP_TEXT_HOST    "host"
#define CGROUP_TEXT_UNKNOWN "[unknown cgroup]" /* removed before it was read, or not recorded */

/* Returns the words for container and unit of a struct sampled_thread or ledger_process. */
const char *cgroup_text(const struct view *view, uint32_t container, uint32_t unit);

/*
 * The container, the unit and, without a unit, the path of a cgroup; each is "" if there is none.
 */
struct cgroup_texts {
	const char *container, *unit, *path;
};

struct cgroup_texts cgroup_texts(const struct view *view, uint32_t container, uint32_t unit);

#endif

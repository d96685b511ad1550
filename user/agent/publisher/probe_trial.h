/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The choice of a place of the shim's probe site, by trial and not by kernel version. An attach can
 * succeed without ever firing. On some kernels the places +1 and +6 are slower; on Linux 6.18, a
 * forked child that runs a site there crashes if its parent has run it before.
 *
 * The program is attached to a copy of the site in this process, and the site is run here and in a
 * child. If the gate is closed, place 0 is chosen without a trial: it works on each kernel. A trial
 * takes 30 ms, most of it in the kernel, which waits after a refused attach. So it has a thread.
 */
#ifndef JITBPF_AGENT_PUBLISHER_PROBE_TRIAL_H
#define JITBPF_AGENT_PUBLISHER_PROBE_TRIAL_H

#include "agent/background.h"
#include "agent/kernel/probes/attach_programs.h"
#include "agent/kernel/probes/attacher.h"
#include "agent/kernel/probes/lock_holders.h"
#include "agent/kernel/bpf/uprobe.h"
#include "agent/publisher/probe_site.h"

#define PROBE_PLACES 3

/* Zero-initialized: not started. It does not move while it runs. */
struct probe_trial {
	struct probe_site site;
	struct probe_site
		jvm_agent; /* path: empty if there is none; valid after probe_trial_end() */
	const struct attach_programs *programs; /* borrowed */
	int gate_link;
	struct lock_gate gate; /* of the registration */
	struct uprobe tried[PROBE_PLACES];
	struct background choosing;
};

void probe_trial_start(struct probe_trial *trial, const struct probe_site *site,
		       const struct attach_programs *programs);

/*
 * Wait for the trial, and hand its probes to the attacher: their removal needs the gate, and takes
 * long. Returns 0 with *ret set, including place and file; -ENOTSUP if no place works; or another
 * negative errno.
 */
int probe_trial_end(struct probe_trial *trial, struct attacher *attacher, struct probe_site *ret);
void probe_trial_deinit(struct probe_trial *trial);

#endif

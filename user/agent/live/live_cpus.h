/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPUs that the live source samples: those that are online at the start, and those that come
 * online later, whose events an attacher process opens (agent/kernel/probes/attacher.h).
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_CPUS_H
#define JITBPF_AGENT_LIVE_LIVE_CPUS_H

#include <stdint.h>

#include "agent/kernel/probes/attacher.h"
#include "agent/kernel/events/online_cpus.h"
#include "agent/live/sample_rings.h"
#include "base/vec.h"

struct live_source;

/* A request for the events of a CPU. */
struct cpu_request {
	uint32_t cpu, id;
	uint64_t since_ns; /* the CPU may have been online since */
};

struct live_cpus {
	struct sample_rings rings;
	struct online_cpus online;
	struct attacher *attacher; /* borrowed; only this module takes its answers */
	uint32_t freq_hz;
	uint64_t looked_ns;	 /* when the CPUs were last looked at */
	struct cpu_list left;	 /* have events, which are detached */
	struct cpu_list refused; /* a message has said that they are not sampled */
	VEC(struct cpu_request) requests;
};

/*
 * Make the rings of the CPUs that have events now, and begin to put them into their BPF map. The
 * caller calls sample_rings_end_put(). Returns 0 or a negative errno.
 */
int live_cpus_make_rings(struct live_source *live);

/* Call it after live_cpus_make_rings(). Returns 0 or a negative errno. */
int live_cpus_create(struct live_source *live, const struct broker *broker, uint32_t freq_hz);
void live_cpus_destroy(struct live_source *live);

/* Start sampling on these CPUs. Returns 0 or a negative errno. */
int live_cpus_start(struct live_source *live);

/*
 * In each round: follow CPUs that come online and leave. A CPU that cannot be sampled is reported
 * on standard error, once. Returns 0 or -ENOMEM.
 */
int live_cpus_round(struct live_source *live, uint64_t now_ns);

#endif

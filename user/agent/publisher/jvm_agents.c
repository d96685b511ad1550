/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JVMs as publishers: they publish through the agent for Java, whose records the shim's publisher
 * takes. This publisher detects JVMs, and loads the agent into them (agent/jvm/jvm_loads.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "agent/jvm/jvm_evidence.h"
#include "agent/jvm/jvm_loads.h"
#include "agent/publisher/probe_trial.h"
#include "agent/publisher/publisher.h"
#include "base/path.h"
#include "base/scope.h"

struct jvm_agents {
	struct jvm_loads *loads; /* NULL: no agent is loaded */
	uint64_t came_ns;
};

static void destroy(void *self)
{
	struct jvm_agents *agents = self;

	jvm_loads_destroy(agents->loads);
	free(agents);
}

static int create(const struct publisher_host *host, void **ret, const char **ret_what)
{
	AUTO_FREE struct jvm_agents *agents = calloc(1, sizeof(*agents));
	const char *path = host->trial->jvm_agent.path;
	int err = 0;

	*ret_what = "opening libjitbpf-jvmti.so";
	if (!agents)
		return -ENOMEM;
	agents->came_ns = host->came_ns;
	if (host->load_jvm_agents)
		err = jvm_loads_create(host->broker, host->owners, path, host->sampled_jvms_only,
				       &agents->loads);
	if (err)
		return err;
	*host->ret_jvm_loads = agents->loads;
	*ret = TAKE_PTR(agents);
	return 0;
}

static int scanned(void *self, uint32_t pid, const struct proc_map *map)
{
	const struct jvm_agents *agents = self;
	char path[PATH_MAX];

	if (!agents->loads)
		return 0;
	proc_map_path(map, path, sizeof(path));
	/* An agent that the process has already may have failed: its loader finds out. */
	if (!jvm_is_library(path_file(path)))
		return 0;
	return jvm_loads_see(agents->loads, pid, path_file(path), agents->came_ns);
}

/* The live source has waited for the agents, whose journals the shim's publisher reads. */
static int late(void *self, record_taker_fn take, void *take_context)
{
	return 0;
}

static int see(void *self, const struct jitbpf_record *record)
{
	const struct jvm_agents *agents = self;
	const struct jitbpf_mapping *mapping = (const struct jitbpf_mapping *)record;
	const struct jitbpf_comm *comm = (const struct jitbpf_comm *)record;
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;

	if (!agents->loads)
		return PUBLISHER_KEEP;
	if (record->type == JITBPF_EXIT)
		jvm_loads_forget(agents->loads, task->pid, record->time_ns);
	else if (record->type == JITBPF_COMM && record->flags & JITBPF_COMM_EXEC)
		jvm_loads_forget(agents->loads, comm->pid, record->time_ns);
	else if (record->type == JITBPF_MAPPING && mapping->protection & PROT_EXEC)
		return jvm_loads_see(agents->loads, mapping->pid, path_file(mapping->path),
				     record->time_ns);
	return PUBLISHER_KEEP;
}

static int sampled(void *self, uint32_t pid)
{
	const struct jvm_agents *agents = self;

	return agents->loads ? jvm_loads_sampled(agents->loads, pid) : 0;
}

static int end_round(void *self, uint64_t round_ns, bool full, record_taker_fn take,
		     void *take_context)
{
	const struct jvm_agents *agents = self;

	return agents->loads ? jvm_loads_turn(agents->loads) : 0;
}

static void count(const void *self, uint64_t counters[JITBPF_COUNTER_MAX])
{
}

const struct publisher_ops publisher_jvm_agents = {
	.create = create,
	.destroy = destroy,
	.scanned = scanned,
	.late = late,
	.see = see,
	.sampled = sampled,
	.round = end_round,
	.count = count,
};

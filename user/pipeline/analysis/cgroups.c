/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the cgroups of processes. */
#include <errno.h>
#include <string.h>

#include "pipeline/analysis/analysis_state.h"

/* A recording of another program may report more cgroups than there is room for. */
int analysis_take_cgroup(struct analysis *a, const struct jitbpf_cgroup *record)
{
	int err = cgroup_table_take(&a->cgroups, record);

	return err == -EDQUOT ? 0 : err;
}

const struct known_cgroup *analysis_cgroup_at(const struct analysis *a,
					      const struct process *process, uint64_t time_ns)
{
	return cgroup_table_find(&a->cgroups, process_cgroup_at(process, time_ns));
}

int analysis_cgroup_names(const struct analysis *a, struct epoch *e, const struct process *process,
			  uint64_t time_ns, uint32_t *ret_container, uint32_t *ret_unit)
{
	const struct known_cgroup *known = analysis_cgroup_at(a, process, time_ns);
	struct epoch_cgroup *last = &e->cgroup;
	int err;

	*ret_container = *ret_unit = 0;
	if (!known)
		return 0;
	if (last->version != a->cgroups.version || last->cgroup != known->cgroup) {
		struct epoch_cgroup now = {a->cgroups.version, known->cgroup, 0, 0};

		err = string_pool_add(e->strings, known->container, strlen(known->container),
				      &now.container);
		err = err
			      ?: string_pool_add(e->strings, known->unit, strlen(known->unit),
						 &now.unit);
		if (err)
			return err;
		*last = now;
	}
	*ret_container = last->container;
	*ret_unit = last->unit;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/descriptor_budget.h"

#include <unistd.h>

#define EACH_CPU 4  /* two events, a ring, and one more while they are replaced */
#define OTHERS	 96 /* a recording has 55; the rest is for files while they are read */

uint64_t descriptor_budget_needed(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	return OTHERS + EACH_CPU * (cpus > 0 ? (uint64_t)cpus : 1);
}

uint64_t descriptor_budget_kept(uint64_t limit)
{
	uint64_t needed = descriptor_budget_needed();

	return limit > needed ? (limit - needed) / 2 : 0;
}

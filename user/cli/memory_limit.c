/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/memory_limit.h"
#include "agent/machine/memory_limit.h"
#include "run/messages/say.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_DEFAULT_MIN (256ull << 20)

/* The limit that was set, and what it allows to recordings; 0: none. */
static uint64_t limit_bytes, allowed_bytes;

/* Returns the private writable memory of this process, which RLIMIT_DATA counts; 0: unknown. */
static uint64_t data_bytes(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t at_least(uint64_t bytes)
{
	return bytes > MEMORY_DEFAULT_MIN ? bytes : MEMORY_DEFAULT_MIN;
}

uint64_t memory_of_run(void)
{
	return at_least(memory_limit_bytes("") / 50);
}

uint64_t memory_of_reader(uint32_t recordings)
{
	return at_least(memory_free_bytes("") / 4 / recordings);
}

/* Much of the memory that is free is left to others, but what was asked for is allowed. */
static uint64_t limit_of(uint64_t max_bytes)
{
	uint64_t wanted = max_bytes * MEMORY_LIMIT_FACTOR + MEMORY_LIMIT_MORE;
	uint64_t least = MEMORY_DEFAULT_MIN * MEMORY_LIMIT_FACTOR + MEMORY_LIMIT_MORE;
	uint64_t most = memory_free_bytes("") / 4 * 3;

	least = least > max_bytes + MEMORY_LIMIT_MORE ? least : max_bytes + MEMORY_LIMIT_MORE;
	most = most > least ? most : least;
	return wanted < most ? wanted : most;
}

void memory_limit_add(uint64_t max_bytes)
{
	uint64_t more = limit_of(max_bytes);
	uint64_t wanted = limit_bytes ? limit_bytes + more : data_bytes() + more;
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || (!limit_bytes && limit.rlim_cur < wanted))
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_DATA, &limit))
		return;
	limit_bytes = limit.rlim_cur;
	allowed_bytes += more;
}

void memory_limit_say(void)
{
	if (allowed_bytes)
		say("jitbpf: out of memory: the recording may take %llu MB: use a larger "
		    "--max-memory, or choose less with --from, --to or --comm\n",
		    (unsigned long long)(allowed_bytes >> 20));
	else
		say("jitbpf: out of memory: free some, or choose less with --from, "
		    "--to or --comm\n");
}

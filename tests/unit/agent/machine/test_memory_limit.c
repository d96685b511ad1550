/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limit of memory, of files as the kernel shows them. */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/machine/memory_limit.h"
#include "tests/unit/cases.h"

#define MB (1ull << 20)

static int setup(void **state)
{
	char root[] = "/tmp/jitbpf-unit-XXXXXX";

	*state = mkdtemp(root) ? strdup(root) : NULL;
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];
	int status;

	snprintf(command, sizeof(command), "rm -r %s", (char *)*state);
	status = system(command);
	free(*state);
	return status;
}

/* Write a file, and the folders that it needs. */
static void put(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static uint64_t machine_bytes(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

CASE_WITH(no_cgroup_leaves_the_machines_memory, setup, teardown)
{
	assert_int_equal(memory_limit_bytes(*state), machine_bytes());
	put(*state, "proc/self/cgroup", "garbage\n:\n0\n::\n");
	put(*state, "proc/self/mounts", "garbage\ncgroup2 / cgroup2 rw 0 0\n");
	assert_int_equal(memory_limit_bytes(*state), machine_bytes());
}

CASE_WITH(the_smallest_limit_above_counts, setup, teardown)
{
	put(*state, "proc/self/cgroup", "0::/a/b\n");
	put(*state, "proc/self/mounts", "none /cg cgroup2 rw 0 0\n");
	put(*state, "cg/a/b/memory.max", "max\n");
	put(*state, "cg/a/memory.max", "1048576\n");
	put(*state, "cg/memory.max", "2097152\n");
	assert_int_equal(memory_limit_bytes(*state), MB);
	put(*state, "cg/a/b/memory.max", "524288\n");
	assert_int_equal(memory_limit_bytes(*state), MB / 2);
}

/* In a container, the mount point is the cgroup, and the path that of the machine. */
CASE_WITH(a_path_that_is_not_there_leaves_the_mount_point, setup, teardown)
{
	put(*state, "proc/self/cgroup", "0::/system.slice/x.scope\n");
	put(*state, "proc/self/mounts", "none /cg cgroup2 rw 0 0\n");
	put(*state, "cg/memory.max", "3145728\n");
	assert_int_equal(memory_limit_bytes(*state), 3 * MB);
}

CASE_WITH(version_1_has_limits_in_the_hierarchy_of_memory, setup, teardown)
{
	put(*state, "proc/self/cgroup", "4:cpu,cpuacct:/other\n3:hugetlb,memory:/a\n0::/\n");
	put(*state, "proc/self/mounts",
	    "cgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup /cg/memory cgroup rw,hugetlb,memory "
	    "0 0\nnone /cg/unified cgroup2 rw 0 0\n");
	put(*state, "cg/cpu/other/memory.limit_in_bytes", "1\n");
	put(*state, "cg/memory/a/memory.limit_in_bytes", "4194304\n");
	put(*state, "cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(memory_limit_bytes(*state), 4 * MB);
}

CASE_WITH(free_memory_is_within_the_limit, setup, teardown)
{
	const char *meminfo = "MemTotal:       24684480 kB\nMemFree:         1000 kB\n"
			      "MemAvailable:      2048 kB\n";

	assert_int_equal(memory_free_bytes(*state), machine_bytes());
	put(*state, "proc/meminfo", meminfo);
	assert_int_equal(memory_free_bytes(*state), 2 * MB);
	put(*state, "proc/meminfo", "MemAvailable: 99999999999 kB\n");
	assert_int_equal(memory_free_bytes(*state), machine_bytes());
	put(*state, "proc/meminfo", "MemAvailable: many kB\n");
	assert_int_equal(memory_free_bytes(*state), machine_bytes());
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/self_stats.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "base/text.h"

#define STEP_NS	      1000000000ull
#define DEPTH_MAX     4 /* of helpers below this process */
#define PROCESSES_MAX 256

DEFINE_CLEANUP(DIR *, closedir);

int self_stats_init(struct self_stats *ret, const char *path, struct output_opener *opener)
{
	struct self_stats stats = {0};
	int err;

	if (!path) {
		*ret = stats;
		return 0;
	}
	stats.output.opener = opener;
	err = outputs_add_file(&stats.output, path, &stats.file);
	if (err)
		return err;
	/* Treated as a recording: published at the start, and written during the run. */
	stats.output.files.data[0].recording = true;
	stats.start_ns = clock_now_ns();
	stats.next_ns = stats.start_ns + STEP_NS;
	*ret = stats;
	return 0;
}

void self_stats_begin(struct self_stats *stats)
{
	outputs_begin_recording(&stats->output);
}

bool self_stats_due(struct self_stats *stats, uint64_t now_ns)
{
	if (!stats->file || now_ns < stats->next_ns)
		return false;
	while (stats->next_ns <= now_ns)
		stats->next_ns += STEP_NS;
	return true;
}

static uint64_t ms_of(uint64_t ticks)
{
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Returns false if the process has ended, or is none of jitbpf: the profiled command. */
static bool add_process(struct self_usage *usage, uint32_t pid)
{
	char path[64], line[1024];
	AUTO_FCLOSE FILE *stat = NULL;
	uint64_t user, system, pages;
	const char *comm, *end;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	stat = fopen(path, "re");
	if (!stat || !fgets(line, sizeof(line), stat))
		return false;
	comm = strchr(line, '(');
	end = strrchr(line, ')');
	if (!comm || !end || (pid != (uint32_t)getpid() && !begins_with(comm, "(jitbpf")))
		return false;
	/* Fields 14, 15 and 24: user and system time in ticks, resident pages. */
	if (sscanf(end + 2,
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
		   " %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
		   &user, &system, &pages) != 3)
		return false;
	usage->cpu_ms += ms_of(user) + ms_of(system);
	usage->rss_bytes += pages * (uint64_t)sysconf(_SC_PAGESIZE);
	usage->processes++;
	return true;
}

static void add_descriptors(struct self_usage *usage, uint32_t pid)
{
	CLEANUP(closedirp) DIR *fds = NULL;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	if (!stat(path, &st) && st.st_size) {
		usage->descriptors += (uint64_t)st.st_size; /* from Linux 6.2 on */
		return;
	}
	fds = opendir(path);
	while (fds && readdir(fds))
		usage->descriptors++;
	if (fds)
		usage->descriptors -= 2; /* . and .. */
}

static void add_tree(struct self_usage *usage, uint32_t pid, unsigned depth)
{
	char path[64];
	AUTO_FCLOSE FILE *children = NULL;
	uint32_t child;

	if (usage->processes >= PROCESSES_MAX || !add_process(usage, pid))
		return;
	add_descriptors(usage, pid);
	if (depth == DEPTH_MAX)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, pid);
	children = fopen(path, "re");
	while (children && fscanf(children, "%u", &child) == 1)
		add_tree(usage, child, depth + 1);
}

void self_usage_add(struct self_usage *usage)
{
	add_tree(usage, (uint32_t)getpid(), 0);
}

void self_stats_write(struct self_stats *stats, const struct self_counts *counts,
		      struct loop_health *health, uint64_t now_ns)
{
	struct self_usage usage = {0};
	double pause_ms = (double)loop_health_take_recent(health) / 1e6;

	self_usage_add(&usage);
	fprintf(stats->file,
		"{\"time_s\":%.3f,\"loop_pause_ms\":%.3f,\"rss_bytes\":%" PRIu64
		",\"descriptors\":%" PRIu64 ",\"processes\":%" PRIu64 ",\"cpu_s\":%.3f"
		",\"kept_files\":%" PRIu64 ",\"modules\":%" PRIu64 ",\"jit_methods\":%" PRIu64
		",\"lost\":%" PRIu64 "}\n",
		(double)(now_ns - stats->start_ns) / 1e9, pause_ms, usage.rss_bytes,
		usage.descriptors, usage.processes, (double)usage.cpu_ms / 1e3, counts->files,
		counts->modules, counts->methods, counts->lost);
	fflush(stats->file);
}

int self_stats_close(struct self_stats *stats)
{
	return outputs_close(&stats->output);
}

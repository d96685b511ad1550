/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/engine_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/publisher/engine_code.h"
#include "agent/publisher/engine_dump.h"
#include "agent/publisher/engine_maps.h"
#include "agent/kernel/proc/process_text.h"
#include "base/scope.h"
#include "runtimes/runtime_readers.h"

#define MAP_TIME_SLACK_NS 1000000000ll /* precision of the clock of file times */

int engine_list_init(const struct broker *broker, const struct engine_checker *checker,
		     struct engine_list *ret)
{
	struct file_store_options options = {.live = true, .broker = broker};
	struct engine_list list = {.checker = *checker};
	int err = string_pool_create(&list.strings);

	if (err)
		return err;
	err = file_store_create(&options, &list.reader.store);
	if (err)
		string_pool_destroy(list.strings);
	else
		*ret = list;
	return err;
}

void engine_list_deinit(struct engine_list *list)
{
	vec_deinit(&list->hidden);
	vec_deinit(&list->rows);
	string_pool_destroy(list->strings);
	file_store_destroy(list->reader.store);
	jitdump_reader_deinit(&list->reader);
}

/* Returns the start of a process, CLOCK_REALTIME. */
static int64_t began_ns(const struct process_stat *stat)
{
	uint64_t before_ns = clock_now_ns() - process_ticks_ns(stat->start_ticks);

	return (int64_t)(clock_read_ns(CLOCK_REALTIME) - before_ns);
}

/*
 * Returns true if the process has a perf map in its own root. Anybody can create files in /tmp, so
 * the file must belong to the process's user, be no link, and not be older than the process. It is
 * not opened.
 */
static bool has_perf_map(process_text *text, uint32_t pid, uint32_t inner_pid)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	AUTO_CLOSE int root = -1, fd = -1;
	struct process_stat stat_;
	char path[64];
	struct stat st;
	uint32_t owner;

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return false;
	snprintf(path, sizeof(path), "tmp/perf-%u.map", inner_pid);
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || process_user(text, pid, &owner) ||
	    process_stat_read(text, pid, &stat_))
		return false;
	return st.st_uid == owner && st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec >=
					     began_ns(&stat_) - MAP_TIME_SLACK_NS;
}

static int add_row(struct engine_list *list, const struct engine_row *process,
		   enum engine_publishes publishes, const struct engine_count *count,
		   const struct engine_maps *maps)
{
	struct engine_row row = *process;

	row.publishes = publishes;
	row.counted = publishes == ENGINE_JOURNAL || publishes == ENGINE_AGENT_JOURNAL;
	if (count) {
		row.methods = count->methods;
		row.bytes = count->bytes;
		if (count->file != UINT32_MAX)
			row.engine = maps->files.data[count->file].name;
	}
	return vec_push(&list->rows, row);
}

/* Returns true for an error of reading files of a process that has ended. */
static bool has_ended(int err)
{
	return err == -ESRCH || err == -ENOENT;
}

/* The shim or the agent for Java, with the results of examining its journal. */
struct medium {
	enum jitbpf_publisher publisher;
	enum engine_publishes journal, unreadable, other_version, silent;
};

static const struct medium medium_shim = {
	.publisher = JITBPF_PUBLISHER_SHIM,
	.journal = ENGINE_JOURNAL,
	.unreadable = ENGINE_UNREADABLE,
	.other_version = ENGINE_OTHER_VERSION,
	.silent = ENGINE_SHIM,
};
static const struct medium medium_agent = {
	.publisher = JITBPF_PUBLISHER_JVMTI,
	.journal = ENGINE_AGENT_JOURNAL,
	.unreadable = ENGINE_AGENT_UNREADABLE,
	.other_version = ENGINE_AGENT_OTHER_VERSION,
	.silent = ENGINE_AGENT,
};

/* is_mapped: the process maps a library of that medium. */
static int add_journal(struct engine_list *list, const struct engine_row *process,
		       const struct engine_maps *maps, const struct medium *medium, bool is_mapped)
{
	CLEANUP(engine_code_deinit) struct engine_code code = {0};
	int err =
		engine_code_read(list->reader.store, process->pid, medium->publisher, maps, &code);

	if (err == -ENOMEM || has_ended(err))
		return err;
	if (!err && code.other_version)
		return add_row(list, process, medium->other_version, NULL, maps);
	if (!err && !code.journal)
		return is_mapped ? add_row(list, process, medium->silent, NULL, maps) : 0;
	if (code.unreadable || (err && is_mapped))
		return add_row(list, process, medium->unreadable, NULL, maps);
	if (err)
		return 0;
	if (!code.engines.size)
		return add_row(list, process, medium->journal, NULL, maps);
	vec_for_each (engine, &code.engines)
		err = err ?: add_row(list, process, medium->journal, engine, maps);
	return err;
}

static int add_jitdump(struct engine_list *list, const struct engine_row *process,
		       const struct engine_maps *maps, const struct engine_jitdump *file)
{
	struct engine_row row = *process;
	struct engine_dump dump;
	int err = engine_dump_read(&list->reader, process->pid, &maps->files.data[file->mapping],
				   string_pool_get(list->strings, file->path), &dump);

	if (!err && dump.engine)
		err = string_pool_add(list->strings, dump.engine, strlen(dump.engine), &row.engine);
	if (err)
		return err;
	row.publishes = ENGINE_JITDUMP;
	row.counted = !dump.unreadable;
	row.methods = dump.methods;
	row.bytes = dump.bytes;
	return vec_push(&list->rows, row);
}

/* Put what was found out about a runtime in place of what its file name says. */
static void set_runtime(struct process_runtimes *runtimes, uint64_t number)
{
	const struct engine *engine = engine_of_runtime_number(number).engine;

	for (uint32_t i = 0; i < runtimes->count; i++) {
		if (process_runtime_engine(&runtimes->runtimes[i]) == engine) {
			runtimes->runtimes[i].number = number;
			return;
		}
	}
	if (runtimes->count < PROCESS_RUNTIMES_MAX)
		runtimes->runtimes[runtimes->count++].number = number;
}

/* Returns true if functions of a runtime are shown. Processes without files are the kernel's. */
static bool find_functions(const struct engine_list *list, uint32_t pid,
			   const struct engine_maps *maps, struct process_runtimes *runtimes)
{
	uint64_t number = 0;
	bool found = false;

	if (maps->files.size && !list->checker.check(list->checker.context, pid, &number) && number)
		set_runtime(runtimes, number);
	for (uint32_t i = 0; i < runtimes->count; i++)
		found |= runtime_reader_of(process_runtime_engine(&runtimes->runtimes[i])) != NULL;
	return found;
}

static int add_ways(struct engine_list *list, process_text *text, const struct engine_row *process,
		    const struct engine_maps *maps, bool has_functions)
{
	struct engine_count generated = {.file = UINT32_MAX, .bytes = maps->generated_bytes};
	size_t before = list->rows.size;
	int err = add_journal(list, process, maps, &medium_shim, maps->shim);

	err = err ?: add_journal(list, process, maps, &medium_agent, maps->jvm_agent);
	vec_for_each (file, &maps->jitdumps)
		err = err ?: add_jitdump(list, process, maps, file);
	if (!err && has_perf_map(text, process->pid, process->inner_pid))
		err = add_row(list, process, ENGINE_PERF_MAP, NULL, maps);
	if (!err && list->rows.size == before && maps->generated_bytes > ENGINE_GENERATED_BYTES_MIN)
		err = add_row(list, process, ENGINE_NOTHING, &generated, maps);
	if (!err && list->rows.size == before && has_functions)
		err = add_row(list, process, ENGINE_FUNCTIONS, NULL, maps);
	return err;
}

int engine_list_add(struct engine_list *list, uint32_t pid)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	CLEANUP(engine_maps_deinit) struct engine_maps maps = {0};
	struct engine_row process = {.pid = pid};
	struct process_stat stat;
	bool has_functions;
	int err = process_stat_read(&text, pid, &stat);

	err = err ?: string_pool_add(list->strings, stat.comm, stat.comm_bytes, &process.comm);
	err = err ?: process_inner_pid(&text, pid, &process.inner_pid);
	err = err
		      ?: engine_maps_read(file_store_maps(list->reader.store), &text, pid,
					  process.inner_pid, list->strings, &maps);
	if (!err) {
		process.runtimes = maps.runtimes;
		has_functions = find_functions(list, pid, &maps, &process.runtimes);
		err = add_ways(list, &text, &process, &maps, has_functions);
	}
	if (err == -ENOMEM)
		return err;
	if (!err || has_ended(err))
		return 0;
	return vec_push(&list->hidden, ((struct engine_hidden){.pid = pid, .err = err}));
}

static int compare(const void *a_, const void *b_)
{
	const struct engine_row *a = a_, *b = b_;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->publishes != b->publishes)
		return a->publishes < b->publishes ? -1 : 1;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

int engine_list_add_all(struct engine_list *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			err = engine_list_add(list, (uint32_t)strtoul(entry->d_name, NULL, 10));
	}
	closedir(proc);
	if (!err && list->rows.size)
		qsort(list->rows.data, list->rows.size, sizeof(*list->rows.data), compare);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/process_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/mapping_record.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/proc_maps.h"

typedef VEC(char) text_buffer;

struct scanner {
	struct file_store *files;
	bool (*wanted)(void *context, uint32_t pid);
	void *wanted_context;
	record_taker_fn take;
	void *take_context;
	text_buffer text;
	VEC(uint32_t) done; /* pids, in the order of the folder: ascending */
};

static int read_text(text_buffer *text, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	text->size = 0;
	do {
		if (vec_reserve(text, text->size + 16384))
			return -ENOMEM;
		got = read(fd, text->data + text->size, text->capacity - text->size);
		if (got < 0)
			return -errno;
		text->size += (size_t)got;
	} while (got);
	return 0;
}

static int scan_comm(struct scanner *scanner, uint32_t pid)
{
	struct jitbpf_comm out = {
		.h = {.size_bytes = sizeof(out), .type = JITBPF_COMM, .time_ns = clock_now_ns()},
		.pid = pid,
		.tid = pid,
	};
	char path[64];
	size_t size;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	err = read_text(&scanner->text, path);
	if (err)
		return err == -ENOMEM ? err : 0;
	size = scanner->text.size;
	if (size && scanner->text.data[size - 1] == '\n')
		size--;
	memcpy(out.comm, scanner->text.data, size < 15 ? size : 15);
	return scanner->take(scanner->take_context, &out.h);
}

static int scan_mapping(struct scanner *scanner, uint32_t pid, uint64_t time_ns,
			const struct proc_map *map)
{
	struct jitbpf_mapping fields = {
		.h.time_ns = time_ns,
		.pid = pid,
		.tid = pid,
		.address = map->start,
		.size_bytes = map->end - map->start,
		.file_offset = map->file_offset,
		.inode = map->inode,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor,
		.protection = map->protection,
		.map_flags = map->map_flags,
	};
	char path[MAPPING_PATH_MAX] = "//anon";
	struct mapping_record out;

	if (map->path_bytes)
		proc_map_path(map, path, sizeof(path));
	mapping_record_fill(&out, &fields, path, strlen(path), scanner->files);
	return scanner->take(scanner->take_context, &out.record.h);
}

/*
 * The text of a process's maps. A first thread that has ended has none any more,
 * but those that go on do; kernel threads never have any.
 */
static int read_maps(struct scanner *scanner, uint32_t pid)
{
	char path[64 + 256];
	struct dirent *entry;
	DIR *tasks;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	err = read_text(&scanner->text, path);
	if (err || scanner->text.size)
		return err;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (!err && !scanner->text.size && tasks && (entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/task/%s/maps", pid, entry->d_name);
		if (read_text(&scanner->text, path) == -ENOMEM)
			err = -ENOMEM;
	}
	if (tasks)
		closedir(tasks);
	return err;
}

static int scan_process(struct scanner *scanner, uint32_t pid)
{
	uint64_t time_ns = clock_now_ns();
	struct proc_map map;
	struct cursor text;
	int err, more;

	err = scan_comm(scanner, pid);
	if (err)
		return err;
	err = read_maps(scanner, pid);
	if (err)
		return err == -ENOMEM ? err : 0;
	text = cursor_of(scanner->text.data, scanner->text.size);
	while ((more = proc_maps_next(&text, &map))) {
		if (more < 0 || !(map.protection & PROT_EXEC))
			continue;
		err = scan_mapping(scanner, pid, time_ns, &map);
		if (err)
			return err;
	}
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Scan the processes that have not been. Returns how many, or negative errno. */
static int scan_new(struct scanner *scanner, DIR *proc)
{
	size_t known = scanner->done.size;
	struct dirent *entry;
	int err;

	rewinddir(proc);
	while ((entry = readdir(proc))) {
		uint32_t pid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (known && bsearch(&pid, scanner->done.data, known, sizeof(pid), compare_pids))
			continue;
		if (!scanner->wanted(scanner->wanted_context, pid))
			continue;
		err = scan_process(scanner, pid);
		err = err ?: vec_push(&scanner->done, pid);
		if (err)
			return err;
	}
	qsort(scanner->done.data, scanner->done.size, sizeof(uint32_t), compare_pids);
	return (int)(scanner->done.size - known);
}

uint32_t process_scan_leader(uint32_t tid)
{
	char path[64], line[128];
	AUTO_FCLOSE FILE *status = NULL;
	uint32_t pid;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "Tgid: %u", &pid) == 1)
			return pid;
	}
	return 0;
}

int process_scan(struct file_store *files, bool (*wanted)(void *context, uint32_t pid),
		 void *wanted_context, record_taker_fn take, void *take_context)
{
	struct scanner scanner = {
		.files = files,
		.wanted = wanted,
		.wanted_context = wanted_context,
		.take = take,
		.take_context = take_context,
	};
	DIR *proc = opendir("/proc");
	int found;

	if (!proc)
		return -errno;
	/* A child of a process not yet scanned, forked while we scan, has nothing to inherit. */
	for (int round = 0; round < 4; round++) {
		found = scan_new(&scanner, proc);
		if (found <= 0)
			break;
	}
	closedir(proc);
	vec_deinit(&scanner.text);
	vec_deinit(&scanner.done);
	return found < 0 ? found : 0;
}

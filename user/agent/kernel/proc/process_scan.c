/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/proc/process_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/proc/mapping_record.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/kernel/proc/surrounding_file.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/text/proc_maps.h"

DEFINE_CLEANUP(DIR *, closedir);

struct scanner {
	const struct process_scan *scan;
	process_text text, maps;
	uint64_t time_ns;  /* time of the current process's records */
	uint64_t lost_ns;  /* not 0: the process is read again after a loss at that time */
	process_pids done; /* scanned pids, ascending */
	bool unanswered;   /* a file around anonymous memory of the process did not answer */
};

/* Emit COMM, and set the time of the process's records: came_ns if it is older, else now. */
static int scan_comm(struct scanner *scanner, uint32_t pid)
{
	struct jitbpf_comm out = {
		.h = {.size_bytes = sizeof(out), .type = JITBPF_COMM},
		.pid = pid,
		.tid = pid,
	};
	struct process_stat stat;
	int err = process_stat_read(&scanner->text, pid, &stat);

	if (err)
		return err;
	if (scanner->lost_ns) {
		out.h.flags = JITBPF_COMM_READ_AGAIN;
	} else {
		scanner->time_ns = scanner->scan->came_ns;
		if (process_ticks_ns(stat.start_ticks) > scanner->time_ns)
			scanner->time_ns = clock_now_ns();
	}
	out.h.time_ns = scanner->time_ns;
	memcpy(out.comm, stat.comm, stat.comm_bytes < 15 ? stat.comm_bytes : 15);
	return scanner->scan->take(scanner->scan->take_context, &out.h);
}

/* Emit INNER_PID if the pid differs in the process's own namespace. */
static int scan_inner_pid(struct scanner *scanner, uint32_t pid)
{
	struct jitbpf_inner_pid out = {
		.h = {.size_bytes = sizeof(out),
		      .type = JITBPF_INNER_PID,
		      .time_ns = scanner->time_ns},
		.pid = pid,
	};
	uint32_t inner_pid;
	int err = process_inner_pid(&scanner->text, pid, &inner_pid);

	if (err || inner_pid == pid)
		return err == -ENOMEM ? err : 0;
	out.inner_pid = inner_pid;
	return scanner->scan->take(scanner->scan->take_context, &out.h);
}

/* Emit a mapping that was read after a loss, for both times. */
static int emit_again(const struct scanner *scanner, struct jitbpf_mapping *mapping)
{
	uint16_t flags = mapping->h.flags;
	int err;

	mapping->h.flags = flags | JITBPF_MAPPING_DOUBTFUL;
	mapping->h.time_ns = scanner->lost_ns;
	err = scanner->scan->take(scanner->scan->take_context, &mapping->h);
	if (err)
		return err;
	mapping->h.flags = flags | JITBPF_MAPPING_READ_AGAIN;
	mapping->h.time_ns = scanner->time_ns;
	return scanner->scan->take(scanner->scan->take_context, &mapping->h);
}

static struct jitbpf_mapping fields_of(const struct scanner *scanner, uint32_t pid,
				       const struct proc_map *map)
{
	return (struct jitbpf_mapping){
		.h.time_ns = scanner->time_ns,
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
}

static int emit_mapping(const struct scanner *scanner, struct jitbpf_mapping *mapping)
{
	if (scanner->lost_ns)
		return emit_again(scanner, mapping);
	return scanner->scan->take(scanner->scan->take_context, &mapping->h);
}

static int scan_mapping(struct scanner *scanner, const struct jitbpf_mapping *fields,
			const struct proc_map *map)
{
	char path[MAPPING_PATH_MAX] = "//anon";
	struct mapping_record out;

	if (map->path_bytes)
		proc_map_path(map, path, sizeof(path));
	mapping_record_fill(&out, fields, path, strlen(path));
	mapping_record_identify(&out.record, scanner->scan->files);
	return emit_mapping(scanner, &out.record);
}

/*
 * The mappings of a file around the present line. A program that copies its text to anonymous
 * memory leaves at least some of them.
 */
struct surroundings {
	struct proc_map before, after; /* inode 0: none */
	uint64_t end;		       /* of the adjacent mappings from `before` on */
};

static void look_around(struct surroundings *around, const struct proc_map *map,
			struct cursor behind)
{
	if (around->end != map->start)
		around->before.inode = 0;
	around->end = map->end;
	if (proc_maps_next(&behind, &around->after) <= 0 || around->after.start != map->end)
		around->after.inode = 0;
}

static void pass_mapping(struct surroundings *around, const struct proc_map *map)
{
	if (map->inode && !surrounding_file_may_be(map))
		around->before = *map;
}

/* The process is read in a later turn. */
static int add_late(struct scanner *scanner, uint32_t pid)
{
	process_pids *late = scanner->scan->ret_late;

	if (!late)
		return 0;
	vec_for_each (known, late) {
		if (scanner->lost_ns && *known == pid)
			return 0;
	}
	return vec_push(late, pid);
}

/* Emit the mapping of memory without a file, or of a copy of a file's text with that file. */
static int scan_anonymous(struct scanner *scanner, struct jitbpf_mapping fields,
			  const struct surroundings *around, const struct proc_map *map)
{
	struct file_store *files = scanner->scan->files;
	uint64_t end = fields.address + fields.size_bytes, text_end;
	struct mapping_record text;
	int err, found = surrounding_file_find(files, &fields, &around->before, &text);

	if (!found)
		found = surrounding_file_find(files, &fields, &around->after, &text);
	scanner->unanswered |= found < 0;
	if (found <= 0)
		return scan_mapping(scanner, &fields, map);
	err = 0;
	text_end = text.record.address + text.record.size_bytes;
	if (text.record.address > fields.address) {
		fields.size_bytes = text.record.address - fields.address;
		err = scan_mapping(scanner, &fields, map);
	}
	err = err ?: emit_mapping(scanner, &text.record);
	if (err || text_end >= end)
		return err;
	fields.address = text_end;
	fields.size_bytes = end - text_end;
	return scan_mapping(scanner, &fields, map);
}

static int scan_executable(struct scanner *scanner, uint32_t pid, struct surroundings *around,
			   const struct proc_map *map)
{
	struct jitbpf_mapping fields = fields_of(scanner, pid, map);

	return surrounding_file_may_be(map) ? scan_anonymous(scanner, fields, around, map)
					    : scan_mapping(scanner, &fields, map);
}

static bool takes_all_maps(const struct scanner *scanner)
{
	const struct process_scan *scan = scanner->scan;

	return scan->take_map && (scanner->lost_ns || scanner->time_ns == scan->came_ns);
}

static int scan_process(struct scanner *scanner, uint32_t pid)
{
	struct process_maps *maps = file_store_maps(scanner->scan->files);
	struct surroundings around = {0};
	struct proc_map map;
	struct cursor text;
	int err, more, unread;

	scanner->unanswered = false;
	if (process_maps_turn_is_over(maps))
		return add_late(scanner, pid);
	unread = process_maps_read(maps, pid, &scanner->maps);
	if (unread == -ENOMEM)
		return unread;
	if (unread == -EINPROGRESS)
		return add_late(scanner, pid);
	err = scan_comm(scanner, pid);
	if (err == -ENOENT || err == -ESRCH)
		return 0; /* the process has ended */
	if (err)
		return err;
	err = scan_inner_pid(scanner, pid);
	if (err || unread)
		return err;
	*scanner->scan->ret_cut += process_text_is_cut(&scanner->maps);
	text = cursor_of(scanner->maps.data, scanner->maps.size);
	while (!err && (more = proc_maps_next(&text, &map))) {
		if (more < 0)
			continue;
		look_around(&around, &map, text);
		if (map.protection & PROT_EXEC)
			err = scan_executable(scanner, pid, &around, &map);
		pass_mapping(&around, &map);
		if (!err && takes_all_maps(scanner))
			err = scanner->scan->take_map(scanner->scan->take_map_context, pid, &map);
	}
	/* Again, but not for ever. */
	if (!err && scanner->unanswered && !scanner->lost_ns)
		err = add_late(scanner, pid);
	return err;
}

int process_scan_again(const struct process_scan *scan, uint32_t pid, uint64_t lost_ns,
		       uint64_t time_ns)
{
	struct scanner scanner = {.scan = scan, .lost_ns = lost_ns, .time_ns = time_ns};
	int err = scan->wanted(scan->wanted_context, pid) ? scan_process(&scanner, pid) : 0;

	process_text_deinit(&scanner.text);
	process_text_deinit(&scanner.maps);
	return err;
}

int process_scan_late(const struct process_scan *scan, process_pids *late)
{
	struct scanner scanner = {.scan = scan};
	process_pids pids = *late;
	int err = 0;

	*late = (process_pids){0};
	vec_for_each (pid, &pids)
		err = err ?: scan_process(&scanner, *pid);
	vec_deinit(&pids);
	process_text_deinit(&scanner.text);
	process_text_deinit(&scanner.maps);
	return err;
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int process_scan_list(process_pids *ret)
{
	CLEANUP(closedirp) DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    vec_push(ret, (uint32_t)strtoul(entry->d_name, NULL, 10)))
			return -ENOMEM;
	}
	qsort(ret->data, ret->size, sizeof(*ret->data), compare_pids);
	return 0;
}

/* Scan the processes that are not in `done`. Returns their number, or a negative errno. */
static int scan_new(struct scanner *scanner)
{
	const struct process_scan *scan = scanner->scan;
	process_pids *done = &scanner->done;
	size_t known = done->size;
	process_pids pids = {0};
	int err = scan->list ? scan->list(scan->wanted_context, &pids) : process_scan_list(&pids);

	if (pids.size)
		qsort(pids.data, pids.size, sizeof(*pids.data), compare_pids);
	for (size_t i = 0; i < pids.size && !err; i++) {
		uint32_t pid = pids.data[i];

		if ((i && pid == pids.data[i - 1]) ||
		    (known && bsearch(&pid, done->data, known, sizeof(pid), compare_pids)) ||
		    !scan->wanted(scan->wanted_context, pid))
			continue;
		err = scan_process(scanner, pid);
		err = err ?: vec_push(done, pid);
	}
	vec_deinit(&pids);
	if (err)
		return err;
	if (done->size > known)
		qsort(done->data, done->size, sizeof(*done->data), compare_pids);
	return (int)(done->size - known);
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

int process_scan(const struct process_scan *scan)
{
	struct scanner scanner = {.scan = scan};
	int found = 1;

	/* A child forked before its parent was scanned has inherited nothing: scan again. */
	for (int round = 0; round < 4 && found > 0; round++)
		found = scan_new(&scanner);
	process_text_deinit(&scanner.text);
	process_text_deinit(&scanner.maps);
	vec_deinit(&scanner.done);
	return found < 0 ? found : 0;
}

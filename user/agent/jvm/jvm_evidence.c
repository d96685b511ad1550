/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_evidence.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel/proc/process_text.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"
#include "decode/text/proc_maps.h"
#include "uapi/jit_journal.h"

#define OPTIONS_BYTES_MAX (2u << 20) /* of the command line, and of the environment */
#define THREADS_MAX	  8192

#define DISABLES "-XX:+DisableAttachMechanism"
#define ENABLES	 "-XX:-DisableAttachMechanism"

bool jvm_is_library(const char *file)
{
	return !strcmp(file, "libjvm.so");
}

/* Also a copy, which was deleted once it was loaded. */
bool jvm_is_agent(const char *file)
{
	return begins_with(file, "libjitbpf-jvmti");
}

/* Replace text by a file of the process, cut at a size. Returns 0 or a negative errno. */
static int read_file(int proc_fd, const char *name, size_t size_max, process_text *text)
{
	AUTO_CLOSE int fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	text->size = 0;
	while (got && text->size < size_max) {
		if (vec_reserve(text, text->size + 65536))
			return -ENOMEM;
		got = read(fd, text->data + text->size, text->capacity - text->size);
		if (got < 0)
			return -errno;
		text->size += (size_t)got;
	}
	return vec_push(text, '\0');
}

/* Check that the folder is that of the wanted process, and not of a later one with its pid. */
static int check_start(int proc_fd, uint64_t start_ticks, process_text *text)
{
	struct process_stat stat;
	int err = read_file(proc_fd, "stat", PROCESS_TEXT_MAX, text);

	err = err ?: process_stat_parse(text, &stat);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	return stat.start_ticks == start_ticks ? 0 : -ESRCH;
}

static int read_maps(int proc_fd, process_text *text, struct jvm_evidence *evidence)
{
	int err = read_file(proc_fd, "maps", PROCESS_TEXT_MAX, text), more;
	struct cursor lines = cursor_of(text->data, err ? 0 : text->size - 1);
	struct proc_map map;

	evidence->cut = !err && text->size > PROCESS_TEXT_MAX;
	while (!err && (more = proc_maps_next(&lines, &map))) {
		char path[PATH_MAX];
		const char *file;

		if (more < 0)
			continue;
		proc_map_path(&map, path, sizeof(path));
		file = path_file(path);
		evidence->library |= jvm_is_library(file);
		evidence->agent |= jvm_is_agent(file);
		evidence->journal |= begins_with(file, "memfd:" JITBPF_JOURNAL_JVM_NAME);
		evidence->another |= begins_with(file, "libj9vm");
	}
	return err;
}

/* The last option decides on attaching. */
static void read_options(const char *words, struct jvm_evidence *evidence)
{
	static const char *const dumps[] = {"-Xshare:dump", "-XX:+DumpSharedSpaces",
					    "-XX:AOTMode=create"};

	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++)
		evidence->dumps |= strstr(words, dumps[i]) != NULL;
	for (const char *at = words; (at = strstr(at, "DisableAttachMechanism")); at++) {
		size_t before = strlen(DISABLES) - strlen("DisableAttachMechanism");

		if ((size_t)(at - words) < before)
			continue;
		if (begins_with(at - before, DISABLES))
			evidence->closed = true;
		else if (begins_with(at - before, ENABLES))
			evidence->closed = false;
	}
}

static void read_variables(const process_text *environment, const char *name,
			   struct jvm_evidence *evidence)
{
	const char *end = environment->data + environment->size;

	for (const char *at = environment->data; at < end; at += strlen(at) + 1) {
		if (begins_with(at, name))
			read_options(at, evidence);
	}
}

/* In the order in which HotSpot reads them. Options in files of options are not seen. */
static int read_all_options(int proc_fd, process_text *text, struct jvm_evidence *ret)
{
	CLEANUP(process_text_deinit) process_text line = {0};
	int err = read_file(proc_fd, "environ", OPTIONS_BYTES_MAX, text);

	err = err ?: read_file(proc_fd, "cmdline", OPTIONS_BYTES_MAX, &line);
	if (err)
		return err;
	read_variables(text, "JAVA_TOOL_OPTIONS=", ret);
	read_variables(text, "JDK_JAVA_OPTIONS=", ret);
	for (const char *at = line.data; at < line.data + line.size; at += strlen(at) + 1)
		read_options(at, ret);
	read_variables(text, "_JAVA_OPTIONS=", ret);
	return 0;
}

DEFINE_CLEANUP(DIR *, closedir);

static int read_threads(int proc_fd, process_text *text, bool *ret)
{
	AUTO_CLOSE int fd = openat(proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedirp) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	bool vm = false, signals = false;
	struct dirent *entry;

	if (!folder)
		return -errno;
	fd = -1;
	for (int i = 0; i < THREADS_MAX && !(vm && signals) && (entry = readdir(folder)); i++) {
		char path[sizeof(entry->d_name) + 16];

		snprintf(path, sizeof(path), "task/%s/comm", entry->d_name);
		if (!isdigit((unsigned char)entry->d_name[0]) || read_file(proc_fd, path, 64, text))
			continue;
		vm |= !strcmp(text->data, "VM Thread\n");
		signals |= !strcmp(text->data, "Signal Dispatch\n"); /* "Signal Dispatcher" */
	}
	*ret = vm && signals;
	return 0;
}

/*
 * A process that the freezer of its cgroup stops is one that sleeps, in the handling of signals.
 * The name of that function depends on the kernel's release. The file has "0" without the right to
 * read it, or in a kernel without symbols.
 */
static void read_frozen(int proc_fd, process_text *text, bool *ret)
{
	static const char *const functions[] = {"get_signal", "do_freezer_trap", "__refrigerator"};

	if (read_file(proc_fd, "wchan", 256, text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		*ret |= !strcmp(text->data, functions[i]);
}

int jvm_evidence_read(int proc_fd, uint64_t start_ticks, struct jvm_evidence *ret)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct jvm_evidence evidence = {0};
	int err = check_start(proc_fd, start_ticks, &text);

	err = err ?: read_maps(proc_fd, &text, &evidence);
	err = err ?: read_all_options(proc_fd, &text, &evidence);
	err = err ?: read_threads(proc_fd, &text, &evidence.threads);
	if (!err)
		read_frozen(proc_fd, &text, &evidence.frozen);
	if (!err)
		*ret = evidence;
	return err == -ENOENT ? -ESRCH : err;
}

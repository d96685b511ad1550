/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/java_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Set ret to the file that execvp() would execute, without links. Returns false if there is none.
 */
static bool find_program(const char *name, char ret[PATH_MAX])
{
	const char *folders = getenv("PATH") ?: "/bin:/usr/bin";
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name) && realpath(name, ret);
	for (const char *at = folders;; at++) {
		int bytes = (int)strcspn(at, ":");
		int length =
			snprintf(path, sizeof(path), "%.*s%s%s", bytes, at, bytes ? "/" : "", name);

		if (length < (int)sizeof(path) && is_program(path))
			return realpath(path, ret);
		at += bytes;
		if (!*at)
			return false;
	}
}

static bool has_file(const char *home, int home_bytes, const char *file)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/%s", home_bytes, home, file);
	return !access(path, F_OK);
}

/* Returns true for the folder of an OpenJDK; OpenJ9 has the same launcher. */
static bool is_openjdk(const char *home, int home_bytes)
{
	static const char *const vms[] = {"lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so",
					  "lib/amd64/server/libjvm.so"};
	static const char *const others[] = {"lib/j9vm", "lib/default", "lib/compressedrefs",
					     "jre/lib/amd64/j9vm", "lib/amd64/j9vm"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(vms); i++)
		found |= has_file(home, home_bytes, vms[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		found &= !has_file(home, home_bytes, others[i]);
	return found;
}

/* Returns true for a program of the C library for which the agent is built; not for a script. */
static bool has_our_library(const char *path)
{
	static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[4096];
	ssize_t size = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	return size > 4 && !memcmp(head, "\177ELF", 4) &&
	       memmem(head, (size_t)size, loader, sizeof(loader));
}

static bool is_java(const char *name)
{
	char path[PATH_MAX];
	int home_bytes;

	if (!find_program(name, path) || strcmp(path_file(path), "java"))
		return false;
	home_bytes = path_folder_bytes(path);
	while (home_bytes && path[home_bytes - 1] != '/')
		home_bytes--;
	return is_openjdk(path, home_bytes) && has_our_library(path);
}

/* In a folder without exec, or by a rule of the machine, code cannot be mapped. */
static bool can_load(const char *agent)
{
	AUTO_CLOSE int fd = open(agent, O_RDONLY | O_CLOEXEC);
	void *code =
		fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		return false;
	munmap(code, 4096);
	return !strchr(agent, '='); /* which begins the options of the agent */
}

static bool has_our_agent(const char *option)
{
	return begins_with(option, "-agentpath:") && strstr(option, "libjitbpf-jvmti");
}

/*
 * Returns true for an option with which a JVM that has an agent from its start does not run: it
 * writes an archive of classes, or has no JVM TI. Files of options are not read: they may have such
 * options.
 */
static bool forbids_agent(const char *option)
{
	static const char *const options[] = {
		"@",
		"-XX:Flags=",
		"-XX:VMOptionsFile=",
		"-minimal",
		"-Xshare:dump",
		"-XX:+DumpSharedSpaces",
		"-XX:+DynamicDumpSharedSpaces",
		"-XX:ArchiveClassesAtExit",
		"-XX:+AutoCreateSharedArchive",
		"-XX:+RecordDynamicDumpInfo",
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (begins_with(option, options[i]))
			return true;
	}
	return has_our_agent(option);
}

/* Options in a variable may be quoted. */
static bool variable_forbids_agent(const char *words)
{
	static const char separators[] = " \t\n\v\f\r\"'";

	for (const char *at = words; *(at += strspn(at, separators));
	     at += strcspn(at, separators)) {
		if (forbids_agent(at))
			return true;
	}
	return false;
}

/*
 * Arguments of the program that look like options count, too: the JVM then gets the agent later.
 */
static bool options_forbid_agent(char *const argv[])
{
	static const char *const variables[] = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
						"_JAVA_OPTIONS"};

	for (argv++; *argv; argv++) {
		if (forbids_agent(*argv))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *words = getenv(variables[i]) ?: "";

		if (strstr(words, "libjitbpf-jvmti") || variable_forbids_agent(words))
			return true;
	}
	return false;
}

int java_command_make(char *const argv[], const char *agent, char ***ret)
{
	char *option, **made;
	size_t count = 0;

	*ret = NULL;
	if (!is_java(argv[0]) || options_forbid_agent(argv) || !can_load(agent))
		return 0;
	while (argv[count])
		count++;
	made = calloc(count + 2, sizeof(*made));
	if (!made || asprintf(&option, "-agentpath:%s", agent) < 0) {
		free(made);
		return -ENOMEM;
	}
	made[0] = argv[0];
	made[1] = option;
	memcpy(made + 2, argv + 1, (count - 1) * sizeof(*made));
	*ret = made;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* V8 (Node, Chromium). The option --perf-prof turns on its jitdump files. */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool wrote_jitdump(uint32_t reserved)
{
	return reserved == 0xdeadbeef;
}

/*
 * "JS:*name file:1:2" is code of TurboFan, "JS:+..." of Maglev. For other tiers ("^": Sparkplug,
 * "~": the interpreter), V8 computes the addresses of lines from bytecode offsets: they are not
 * machine addresses.
 */
static bool has_jitdump_lines(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && (colon[1] == '*' || colon[1] == '+');
}

/*
 * Scripts are paths, URLs ("node:fs") or "evalmachine.<anonymous>"; "<unknown>" has no name. V8 of
 * Node.js 20 writes some names from memory that it has freed: a few bytes of a pointer.
 */
static bool is_jitdump_source(const char *file)
{
	return strpbrk(file, "/:.") != NULL;
}

/* Returns true if a name ends with a position in a script: ":1:2", or ":1" of one number. */
static bool has_position(const char *name, int numbers)
{
	size_t bytes = strlen(name);

	for (int i = 0; i < numbers; i++) {
		size_t end = bytes;

		while (bytes && name[bytes - 1] >= '0' && name[bytes - 1] <= '9')
			bytes--;
		if (bytes == end || !bytes || name[--bytes] != ':')
			return false;
	}
	return bytes;
}

/*
 * What begins the name of a function. V8 of Node.js 18, which Debian 12 has, writes the others:
 * which one says how the function was compiled, so each tier has another. Their positions are
 * lines.
 */
static const struct {
	const char *text;
	int numbers; /* of a position */
} beginnings[] = {{"JS:", 2}, {"LazyCompile:", 1}, {"Function:", 1}, {"Script:", 1}, {"Eval:", 1}};

/* Put the name of a function, and where it is, behind each other: "name file:1:2". */
static void put_function(char *name, const char *function)
{
	static const char anonymous[] = "(anonymous)";
	size_t bytes = *function == ' ' ? strlen(anonymous) : 0;

	memmove(name + bytes, function, strlen(function) + 1);
	memcpy(name, anonymous, bytes);
}

/*
 * "JS:*name file:1:2" becomes "name file:1:2", as the functions are called that are read in memory
 * (runtimes/v8/v8_function.h), and "LazyCompile:*name file:1" "name file:1". Without a position,
 * all stays: functions of several scripts can have the name.
 */
static enum code_tier to_function(char *name)
{
	static const char marks[] = "*+^~";
	static const enum code_tier tiers[] = {CODE_TIER_OPTIMIZED, CODE_TIER_MIDDLE,
					       CODE_TIER_BASELINE, CODE_TIER_INTERPRETED};
	const char *mark = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(beginnings) && !mark; i++) {
		char *behind = name + strlen(beginnings[i].text);

		if (!begins_with(name, beginnings[i].text) || !*behind)
			continue;
		mark = strchr(marks, *behind);
		if (mark && has_position(name, beginnings[i].numbers))
			put_function(name, behind + 1);
	}
	return mark ? tiers[mark - marks] : CODE_TIER_PLAIN;
}

/* Distributions have a library, too: libnode.so.108. */
static bool is_runtime(const char *file)
{
	return !strcmp(file, "node") || !strcmp(file, "nodejs") ||
	       runtime_file_is_library(file, "libnode", "");
}

/* From the folder of a release, as nvm and the archives name it: v20.11.0, node-v20.11.0. */
static struct engine_version version(const char *path)
{
	struct engine_version version = runtime_file_version_behind(path, "/v");

	return version.parts ? version : runtime_file_version_behind(path, "/node-v");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	if (strstr(command, "--perf-prof"))
		return "Node.js could not write the jitdump file of --perf-prof, which belongs into "
		       "its current directory";
	if (strstr(command, "--perf-basic-prof"))
		return "--perf-basic-prof writes a perf map, which jitbpf does not read: use "
		       "--perf-prof";
	return "functions of Node.js 18 to 24 need no option; --perf-prof publishes the code of "
	       "all";
}

const struct engine engine_v8 = {
	.name = "V8",
	.runtime_name = "Node.js",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
	.to_function = to_function,
	.wrote_jitdump = wrote_jitdump,
	.jitdump_line_bias = 64, /* as behind the ELF header of the file that perf makes of it */
	.has_jitdump_lines = has_jitdump_lines,
	.is_jitdump_source = is_jitdump_source,
	.option = "Node.js: --perf-prof",
};

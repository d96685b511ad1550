/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/engines.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

#define DELETED " (deleted)"

static const struct engine *const engines[] = {
	&engine_jitapi,	      &engine_llvm,   &engine_numba,  &engine_julia, &engine_opencl,
	&engine_spidermonkey, &engine_php,    &engine_v8,     &engine_java,  &engine_cpython,
	&engine_ruby,	      &engine_erlang, &engine_dotnet, &engine_mono,  &engine_luajit,
	&engine_pypy,	      &engine_guile,  &engine_perl,
};

_Static_assert(ARRAY_SIZE(engines) < ENGINE_NUMBERS, "an index in a number");

const struct engine *engine_at(size_t index)
{
	return index < ARRAY_SIZE(engines) ? engines[index] : NULL;
}

const struct engine *engine_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	}
	return NULL;
}

struct engine_file engine_file_of(const char *path)
{
	const char *name = path_file(path);
	size_t bytes = strlen(name);
	char file[NAME_MAX + 1];

	if (ends_with(name, DELETED))
		bytes -= strlen(DELETED);
	if (bytes > NAME_MAX)
		return (struct engine_file){0};
	memcpy(file, name, bytes);
	file[bytes] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		const struct engine *engine = engines[i];
		struct engine_file found = {.engine = engine};

		if (engine->is_runtime && engine->is_runtime(file)) {
			found.is_library = strstr(file, ".so") != NULL;
			if (engine->version)
				found.version = engine->version(path);
			return found;
		}
		found.is_plugin = engine->is_plugin && engine->is_plugin(file);
		if (found.is_plugin)
			return found;
		if (engine->switches_stacks && engine->switches_stacks(file))
			return (struct engine_file){.switches_stacks = true};
	}
	return (struct engine_file){0};
}

#define PARTS_SHIFT  8
#define PARTS_BITS   2
#define STATUS_SHIFT 10
#define STATUS_BITS  6
#define PART_SHIFT   16
#define PART_BITS    12

_Static_assert(ENGINE_VERSION_PARTS < 1 << PARTS_BITS, "a number of parts in a number");
_Static_assert(ENGINE_STATUSES_MAX + 1 < 1 << STATUS_BITS, "a status plus 1 in a number");
_Static_assert(ENGINE_VERSION_PART_MAX < 1 << PART_BITS, "a part in a number");
_Static_assert(PART_SHIFT + ENGINE_VERSION_PARTS * PART_BITS <= 53, "exact as a double");

uint64_t engine_runtime_number(const struct engine_file *file)
{
	const struct engine_version *version = &file->version;
	uint64_t number = (uint64_t)version->parts << PARTS_SHIFT;
	size_t index = 0;

	if (!file->engine || file->is_plugin)
		return 0;
	while (engines[index] != file->engine)
		index++;
	for (int i = 0; i < version->parts; i++)
		number |= (uint64_t)version->part[i] << (PART_SHIFT + i * PART_BITS);
	return number | (index + 1);
}

struct engine_file engine_of_runtime_number(uint64_t number)
{
	size_t index = number % ENGINE_NUMBERS;
	struct engine_file file = {.engine = index ? engine_at(index - 1) : NULL};
	uint64_t parts = number >> PARTS_SHIFT & ((1 << PARTS_BITS) - 1);

	if (!file.engine)
		return file;
	file.version.parts = (uint16_t)parts;
	for (int i = 0; i < file.version.parts; i++)
		file.version.part[i] =
			number >> (PART_SHIFT + i * PART_BITS) & ((1 << PART_BITS) - 1);
	return file;
}

uint64_t engine_runtime_with_status(uint64_t number, uint32_t status)
{
	uint64_t mask = (1ull << STATUS_BITS) - 1;
	uint64_t kept = status < ENGINE_STATUSES_MAX ? status : ENGINE_STATUSES_MAX;

	number &= ~(mask << STATUS_SHIFT);
	return status == ENGINE_NO_STATUS ? number : number | (kept + 1) << STATUS_SHIFT;
}

uint32_t engine_runtime_status(uint64_t number)
{
	uint32_t status = number >> STATUS_SHIFT & ((1u << STATUS_BITS) - 1);

	return status ? status - 1 : ENGINE_NO_STATUS;
}

const char *engine_runtime_name(const struct engine *engine)
{
	return engine->runtime_name ?: engine->name;
}

void engine_version_text(const struct engine_version *version, char ret[ENGINE_VERSION_BYTES])
{
	size_t at = 0;

	*ret = 0;
	for (int i = 0; i < version->parts; i++)
		at += (size_t)snprintf(ret + at, ENGINE_VERSION_BYTES - at, i ? ".%u" : "%u",
				       version->part[i]);
}

uint32_t engine_code_number(const struct engine *engine)
{
	uint32_t hash = 2166136261u; /* FNV-1a: recordings keep it */

	for (const char *at = engine->name; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	return hash;
}

const struct engine *engine_of_code_number(uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engine_code_number(engines[i]) == number)
			return engines[i];
	}
	return NULL;
}

const struct engine *engine_of_publisher(enum jitbpf_publisher publisher)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->frames && engines[i]->publisher == publisher)
			return engines[i];
	}
	return NULL;
}

const struct engine *engine_of_jitdump(uint32_t reserved)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->wrote_jitdump && engines[i]->wrote_jitdump(reserved))
			return engines[i];
	}
	return NULL;
}

size_t engine_name_prefix_bytes(const char *name)
{
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(engines) && !bytes; i++) {
		if (engines[i]->name_prefix_bytes)
			bytes = engines[i]->name_prefix_bytes(name);
	}
	return bytes;
}

void engine_respell(char *name, bool had_prefix)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->respell)
			engines[i]->respell(name, had_prefix);
	}
}

enum code_tier engine_to_function(char *name)
{
	enum code_tier tier = CODE_TIER_PLAIN;

	for (size_t i = 0; i < ARRAY_SIZE(engines) && tier == CODE_TIER_PLAIN; i++) {
		if (engines[i]->to_function)
			tier = engines[i]->to_function(name);
	}
	return tier;
}

void engine_unnumber(char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->unnumber)
			engines[i]->unnumber(name);
	}
}

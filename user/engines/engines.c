/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/engines.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

static const struct engine *const engines[] = {
	&engine_jitapi,	      &engine_llvm, &engine_numba, &engine_julia, &engine_opencl,
	&engine_spidermonkey, &engine_php,  &engine_v8,	   &engine_java,
};

const struct engine *engine_at(size_t index)
{
	return index < ARRAY_SIZE(engines) ? engines[index] : NULL;
}

const struct engine *engine_of_host(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->is_host && engines[i]->is_host(path_file(path)))
			return engines[i];
	}
	return NULL;
}

const struct engine *engine_of_plugin(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (engines[i]->is_plugin && engines[i]->is_plugin(path_file(path)))
			return engines[i];
	}
	return NULL;
}

const struct engine *engine_of_process(const char *comm)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		for (const char *const *begin = engines[i]->processes; *begin; begin++) {
			if (begins_with(comm, *begin))
				return engines[i];
		}
	}
	return NULL;
}

enum engine_frames engine_frames_of(const char *name)
{
	enum engine_frames frames = ENGINE_FRAMES_ANY;

	for (size_t i = 0; i < ARRAY_SIZE(engines) && frames == ENGINE_FRAMES_ANY; i++) {
		if (engines[i]->frames)
			frames = engines[i]->frames(name);
	}
	return frames;
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

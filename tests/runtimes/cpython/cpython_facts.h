/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a memory image has of a struct cpython_file, in words of 8 bytes. */
#ifndef JITBPF_TESTS_CPYTHON_FACTS_H
#define JITBPF_TESTS_CPYTHON_FACTS_H

#include "runtimes/cpython/file.h"

#define CPYTHON_FACTS 17

static inline void cpython_facts_pack(const struct cpython_file *file, uint64_t ret[CPYTHON_FACTS])
{
	uint64_t facts[CPYTHON_FACTS] = {
		file->version.parts,   file->version.part[0], file->version.part[1],
		file->version.part[2], file->runtime,	      file->code_type,
		file->unsettled.start, file->unsettled.end,   file->loop_count,
	};

	for (uint32_t i = 0; i < RUNTIME_LOOPS_MAX; i++) {
		facts[9 + 2 * i] = file->loops[i].start;
		facts[10 + 2 * i] = file->loops[i].end;
	}
	memcpy(ret, facts, sizeof(facts));
}

static inline struct cpython_file cpython_facts_unpack(const uint8_t *bytes)
{
	uint64_t facts[CPYTHON_FACTS];
	struct cpython_file file;

	memcpy(facts, bytes, sizeof(facts));
	file = (struct cpython_file){
		.version = {{facts[1], facts[2], facts[3]}, facts[0]},
		.runtime = facts[4],
		.code_type = facts[5],
		.unsettled = {facts[6], facts[7]},
		.loop_count = facts[8],
	};
	for (uint32_t i = 0; i < RUNTIME_LOOPS_MAX; i++)
		file.loops[i] = (struct runtime_range){facts[9 + 2 * i], facts[10 + 2 * i]};
	return file;
}

#endif

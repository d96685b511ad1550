/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of runtimes and their functions, which come before samples with them. */
#include <string.h>

#include "pipeline/intake/intake_state.h"
#include "unwind/unwinder_runtimes.h"

static void put_name(char ret[16], const struct engine *engine)
{
	strncpy(ret, engine->name, 15);
}

static int emit_runtime(struct intake *intake, const struct runtime_news *news, uint64_t time_ns)
{
	uint64_t exit_ns = news->process->exit_ns; /* the pid may belong to another one since */
	struct jitbpf_runtime record = {
		.h = {.size_bytes = sizeof(record),
		      .type = JITBPF_RUNTIME,
		      .time_ns = exit_ns < time_ns ? exit_ns : time_ns},
		.pid = news->process->pid,
		.status = news->status,
		.start_ns = news->process->start_ns,
	};

	for (uint32_t i = 0; i < news->version.parts && i < ENGINE_VERSION_PARTS; i++)
		record.version[i] = news->version.part[i];
	put_name(record.name, news->engine);
	return intake_emit(intake, &record.h);
}

static int emit_function(struct intake *intake, const struct runtime_name *name, uint64_t time_ns)
{
	union {
		struct jitbpf_runtime_function record;
		uint8_t room[sizeof(struct jitbpf_runtime_function) + RUNTIME_NAME_MAX +
			     RUNTIME_FILE_MAX + 16];
	} u = {0};
	struct jitbpf_runtime_function *record = &u.record;
	size_t name_bytes = strnlen(name->name, RUNTIME_NAME_MAX);
	size_t file_bytes = strnlen(name->file, RUNTIME_FILE_MAX);

	*record = (struct jitbpf_runtime_function){
		.h = {.size_bytes = (uint32_t)(sizeof(*record) + name_bytes + file_bytes + 2),
		      .type = JITBPF_RUNTIME_FUNCTION,
		      .time_ns = time_ns},
		.number = name->number,
		.pid = name->pid,
		.first_line = name->first_line,
		.name_bytes = (uint32_t)name_bytes + 1,
		.file_bytes = (uint32_t)file_bytes + 1,
	};
	put_name(record->runtime, name->engine);
	memcpy(record->strings, name->name, name_bytes);
	memcpy(record->strings + name_bytes + 1, name->file, file_bytes);
	return intake_emit(intake, &record->h);
}

int intake_emit_runtimes(struct intake *intake, uint64_t time_ns)
{
	const struct runtime_name *name;
	struct runtime_news news;
	int err = 0;

	if (!intake->unwinder)
		return 0;
	while (!err && unwinder_take_runtime(intake->unwinder, &news))
		err = emit_runtime(intake, &news, time_ns);
	while (!err && (name = unwinder_take_function(intake->unwinder)))
		err = emit_function(intake, name, time_ns);
	return err;
}

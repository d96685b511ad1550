/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports code that was found in the memory of a process (unwind/code/found_code.h), as a load. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/record/code_event.h"
#include "engines/engines.h"
#include "pipeline/intake/intake_state.h"

/* Samples that are older wait no more. */
#define SINCE_NS 1000000000ull

/*
 * Returns the time from which the code may have run. If other code was found there before, it is
 * not known which one ran between the two.
 */
static uint64_t since(const struct found_news *news)
{
	uint64_t since_ns = news->found_ns > SINCE_NS ? news->found_ns - SINCE_NS : 0;

	if (news->replaces || news->program_ns > news->found_ns)
		return news->found_ns;
	return since_ns > news->program_ns ? since_ns : news->program_ns;
}

static struct code_string string_of(const char *text)
{
	return (struct code_string){.bytes = text, .size_bytes = strlen(text)};
}

static int emit(struct intake *intake, const struct found_news *news)
{
	const struct runtime_code *code = &news->code;
	const struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_FOUND,
			   .engine = engine_code_number(news->engine)},
		.pid = news->process->pid,
		.tid = news->process->pid,
		.start_ns = news->process->start_ns,
		.time_ns = news->found_ns,
		.reported_ns = news->read_ns,
		.since_ns = since(news),
		.kind = JITBPF_CODE_LOAD,
		.flags = JITBPF_EVENT_LATE | JITBPF_EVENT_LINE_STARTS,
		.address = code->start,
		.size_bytes = code->size_bytes,
		.name = string_of(code->name),
		.source = string_of(code->source),
		.scopes = code->scopes,
		.scope_bytes = code->scopes ? code->scope_bytes : 0,
	};
	AUTO_FREE struct jitbpf_code_event *record = malloc(code_event_record_bytes(&event));

	if (!record)
		return -ENOMEM;
	code_event_encode(&event, record);
	return intake_take_code_event(intake, record);
}

int intake_emit_found(struct intake *intake)
{
	struct found_news news;
	int err = intake_emit_verdicts(intake);

	while (!err && unwinder_take_found(intake->unwinder, &news)) {
		/* Code that was there before ends first. */
		err = intake_emit_verdicts(intake);
		err = err ?: emit(intake, &news);
		runtime_code_deinit(&news.code);
	}
	return err;
}

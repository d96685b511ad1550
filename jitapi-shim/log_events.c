/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/log_events.h"

#include "jitapi-shim/record.h"
#include "uapi/jit_journal.h"

static enum log_event_kind kind_of(const struct jitbpf_jit_header *header)
{
	if (header->event == JIT_EVENT_UNLOAD && header->method_id)
		return UNLOAD_ID;
	if (header->event == JIT_EVENT_JVM_THREAD)
		return THREAD;
	if (header->event == JIT_EVENT_JVM_THREAD_END)
		return THREAD_END;
	if (record_is_method(header))
		return METHOD;
	if (!header->address || header->address + header->code_bytes <= header->address)
		return NOTHING;
	if (jit_event_is_load(header->event))
		return header->method_id ? LOAD : NOTHING;
	switch (header->event) {
	case JIT_EVENT_INLINE_LOAD:
		return header->method_id ? INLINED : NOTHING;
	case JIT_EVENT_UNLOAD:
	case JIT_EVENT_JVM_UNLOAD:
		return UNLOAD_RANGE;
	case JIT_EVENT_UPDATE:
	case JIT_EVENT_UPDATE_V2:
		return UPDATE;
	}
	return NOTHING;
}

bool log_events_read(struct judge *judge, const void *log, struct caller_engines *engines)
{
	const struct jitbpf_journal_entry *entry = log;
	bool by_engine = false;

	for (uint32_t i = 1; i <= judge->count; i++) {
		struct log_event *event = &judge->events[i];

		*event = (struct log_event){
			.header = &entry->header,
			.start = entry->header.address,
			.end = entry->header.address + entry->header.code_bytes,
			.kind = (uint8_t)kind_of(&entry->header),
			.engine = caller_engines_index(engines, entry->header.caller),
			.id = entry->header.method_id,
		};
		judge_step(judge, i);
		by_engine |=
			event->kind == INLINED || event->kind == UNLOAD_ID || event->kind == METHOD;
		entry = (const void *)((const char *)entry + entry->size_bytes);
	}
	caller_engines_resolve(engines);
	for (uint32_t i = 1; i <= judge->count; i++)
		judge->events[i].engine = engines->callers[judge->events[i].engine].engine;
	return !(engines->unknown && by_engine);
}

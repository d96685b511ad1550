/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/media/jit_event.h"

#include <errno.h>
#include <stdbool.h>

#include "base/cursor.h"
#include "decode/record/event_fields.h"

int jit_part_decode(const void *bytes, size_t size_bytes, struct jitbpf_jit_header *ret)
{
	struct cursor c = cursor_of(bytes, size_bytes);
	struct jitbpf_jit_header header;
	int err = cursor_read(&c, &header, sizeof(header));

	if (err)
		return err;
	if (header.size_bytes < sizeof(header) || header.size_bytes > size_bytes)
		return -EBADMSG;
	if (header.version != JITBPF_JIT_VERSION)
		return -ENOTSUP;
	if (header.part >= header.part_count)
		return -EBADMSG;
	*ret = header;
	return 0;
}

static int take_number(struct cursor *c, size_t size_bytes, uint32_t *number)
{
	return size_bytes == sizeof(*number) ? cursor_read(c, number, sizeof(*number)) : -EBADMSG;
}

static int take_field(struct cursor *c, struct jit_event *event)
{
	struct jitbpf_jit_field field;
	uint32_t *unknown = &event->unknown_fields;
	int err = cursor_read(c, &field, sizeof(field));

	if (err)
		return err;
	switch (field.type) {
	case JITBPF_JIT_NAME:
		return event_take_string(c, field.size_bytes, &event->name, unknown);
	case JITBPF_JIT_CLASS:
		return event_take_string(c, field.size_bytes, &event->class_name, unknown);
	case JITBPF_JIT_SOURCE:
		return event_take_string(c, field.size_bytes, &event->source, unknown);
	case JITBPF_JIT_MODULE:
		return event_take_string(c, field.size_bytes, &event->module, unknown);
	case JITBPF_JIT_LINES:
		return event_take_items(c, field.size_bytes, sizeof(struct jitbpf_jit_line),
					&event->lines, &event->line_count, unknown);
	case JITBPF_JIT_SCOPES:
		return event_take_scopes(c, field.size_bytes, &event->scopes, &event->scope_bytes,
					 unknown);
	case JITBPF_JIT_ARCH:
		return take_number(c, field.size_bytes, &event->arch);
	case JITBPF_JIT_SEGMENT:
		return take_number(c, field.size_bytes, &event->segment);
	case JITBPF_JIT_FORMAT:
		return event_take_string(c, field.size_bytes, &event->format, unknown);
	default:
		event->unknown_fields++;
		return cursor_skip(c, field.size_bytes);
	}
}

int jit_fields_decode(const struct jitbpf_jit_header *header, const void *fields, size_t size_bytes,
		      struct jit_event *ret)
{
	struct cursor c = cursor_of(fields, size_bytes);
	struct jit_event event = {.header = *header};

	while (cursor_left(&c)) {
		int err = take_field(&c, &event);

		if (err)
			return err;
	}
	*ret = event;
	return 0;
}

/* --- conversion -------------------------------------------------------------------- */

/* A hit comes far sooner after the event. An older time is forged, or of another time namespace. */
#define REPORT_DELAY_MAX_NS 10000000000ull

/*
 * A Java virtual machine queues its reports of compiled code for a thread of its own. Code is
 * assumed to have run for at most this long before its report.
 */
#define JVM_DELAY_MAX_NS 1000000000ull

/* Returns the kind of code event for an event of the JIT API. */
static enum jitbpf_code_event_kind kind_of(uint16_t event)
{
	switch (event) {
	case JIT_EVENT_LOAD:
	case JIT_EVENT_LOAD_V2:
	case JIT_EVENT_LOAD_V3:
	case JIT_EVENT_JVM_LOAD:
		return JITBPF_CODE_LOAD;
	case JIT_EVENT_UNLOAD:
	case JIT_EVENT_JVM_UNLOAD:
		return JITBPF_CODE_UNLOAD;
	case JIT_EVENT_JVM_THREAD:
		return JITBPF_CODE_THREAD;
	case JIT_EVENT_JVM_THREAD_END:
		return JITBPF_CODE_THREAD_END;
	case JIT_EVENT_INLINE_LOAD:
		return JITBPF_CODE_INLINE;
	case JIT_EVENT_UPDATE:
	case JIT_EVENT_UPDATE_V2:
		return JITBPF_CODE_UPDATE;
	case JIT_EVENT_SHUTDOWN:
		return JITBPF_CODE_CLOSE;
	case JIT_EVENT_ENTER_NIDS:
	case JIT_EVENT_LEAVE_NIDS:
		return JITBPF_CODE_NOTHING;
	default:
		return JITBPF_CODE_UNKNOWN;
	}
}

/* The times of recovered events were clamped by the reader of the journal. */
static void set_times(struct code_event *event, uint64_t time_ns, uint64_t reported_ns)
{
	bool recovered = event->flags & JITBPF_EVENT_RECOVERED;

	event->reported_ns = event->time_ns = reported_ns;
	if (time_ns <= reported_ns && (recovered || reported_ns - time_ns <= REPORT_DELAY_MAX_NS))
		event->time_ns = time_ns;
	else if (!recovered)
		event->flags |= JITBPF_EVENT_TIME_CORRECTED;
}

/* Events of the agent have a publisher of their own, and one engine. */
static void set_jvm_origin(struct code_event *event, uint16_t kind)
{
	if (!jit_event_is_jvm(kind))
		return;
	event->origin.publisher = JITBPF_PUBLISHER_JVMTI;
	event->origin.engine = 0;
	if (kind != JIT_EVENT_JVM_LOAD)
		return;
	event->flags |= JITBPF_EVENT_LATE | JITBPF_EVENT_LINE_STARTS;
	event->since_ns = event->time_ns > JVM_DELAY_MAX_NS ? event->time_ns - JVM_DELAY_MAX_NS : 0;
}

/*
 * The agent knows only tids of its own PID namespace. A live record has the reporting thread's tid
 * in our namespace. If the two namespaces differ, other threads cannot be translated: method_id
 * becomes 0. The reader of a journal has translated all tids.
 */
static void set_thread(struct code_event *event, const struct jitbpf_jit_header *header)
{
	bool own = header->method_id == header->tid;

	if (!code_event_is_thread(event->kind))
		return;
	if (event->name.size_bytes > JITBPF_THREAD_NAME_MAX)
		event->name.size_bytes = JITBPF_THREAD_NAME_MAX;
	if (!(event->flags & JITBPF_EVENT_RECOVERED) && header->tid != event->tid)
		event->method_id = own ? event->tid : 0;
	event->tid =
		own && !(event->flags & JITBPF_EVENT_BEFORE_RUN) ? (uint32_t)event->method_id : 0;
}

void jit_event_convert(const struct jit_event *jit, const struct jitbpf_jit *record,
		       struct code_event *ret)
{
	const struct jitbpf_jit_header *header = &jit->header;
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM,
			   .engine = header->caller,
			   .sequence = header->sequence},
		.pid = record->pid,
		.tid = record->tid,
		.start_ns = record->start_ns,
		.kind = (uint16_t)kind_of(header->event),
		.arch = jit->arch,
		.segment = jit->segment,
		.unknown_fields = jit->unknown_fields,
		.method_id = header->method_id,
		.parent_id = header->parent_id,
		.address = header->address,
		.size_bytes = header->code_bytes,
		.name = jit->name,
		.class_name = jit->class_name,
		.source = jit->source,
		.module = jit->module,
		.lines = jit->lines,
		.line_count = jit->line_count,
		.scopes = jit->scopes,
		.scope_bytes = jit->scope_bytes,
	};

	if (header->event == JIT_EVENT_UPDATE_V2)
		event.flags |= JITBPF_EVENT_SEGMENT;
	if (header->flags & JITBPF_JIT_TRUNCATED)
		event.flags |= JITBPF_EVENT_TRUNCATED;
	if (record->h.flags & JITBPF_JIT_FROM_JOURNAL)
		event.flags |= JITBPF_EVENT_RECOVERED;
	if (record->h.flags & JITBPF_JIT_LATE)
		event.flags |= JITBPF_EVENT_BEFORE_RUN;
	set_times(&event, header->time_ns, record->h.time_ns);
	set_jvm_origin(&event, header->event);
	set_thread(&event, header);
	*ret = event;
}

_Static_assert(sizeof(struct jitbpf_jit_line) == sizeof(struct jitbpf_code_line) &&
		       offsetof(struct jitbpf_jit_line, line) ==
			       offsetof(struct jitbpf_code_line, line),
	       "line tables are passed on as they are");

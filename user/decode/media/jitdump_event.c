/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/media/jitdump_event.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "engines/engines.h"

#define LINES_MAX  (1u << 16) /* limit of the lines of one load; the rest is left out */
#define LINES_KEPT 4096	      /* memory for so many lines is kept for the next load */

void jitdump_events_deinit(struct jitdump_events *events)
{
	vec_deinit(&events->source);
	vec_deinit(&events->keys);
	vec_deinit(&events->lines);
}

static int set_source(struct jitdump_events *events, const char *file)
{
	size_t bytes = strlen(file);

	if (vec_reserve(&events->source, bytes + 1))
		return -ENOMEM;
	memcpy(events->source.data, file, bytes + 1);
	events->source.size = bytes;
	return 0;
}

/*
 * Returns true if a name can be that of a source file: it has no control characters, and has the
 * form that the engine gives to such names.
 */
static bool is_source(const struct jitdump_events *events, const char *file)
{
	const struct engine *engine = engine_of_jitdump(events->header.reserved);
	uint32_t bytes;

	for (const char *at = file; *at; at += bytes) {
		uint32_t code = utf8_next(at, &bytes);

		if (code == UTF8_INVALID || utf8_is_control(code))
			return false;
	}
	return *file && (!engine || engine->is_jitdump_source(file));
}

/*
 * A code event has lines of one source file: that of the first line with a file. A line of another
 * file (inlined code) becomes line 0, so that its code has no line rather than a wrong one.
 */
static int take_debug_info(struct jitdump_events *events, const struct jitdump_record *record)
{
	struct jitdump_lines lines = record->lines;
	struct jitdump_line line = {0};
	int more = 0, err = 0;

	events->debug_address = 0;
	events->keys.size = events->source.size = 0;
	while (!err && events->keys.size < LINES_MAX &&
	       (more = jitdump_line_next(&lines, &line)) > 0) {
		uint64_t offset = line.address - record->address;
		bool same = events->source.size && !strcmp(line.file, events->source.data);

		if (line.address < record->address || offset > UINT32_MAX)
			continue;
		if (!events->source.size && is_source(events, line.file)) {
			err = set_source(events, line.file);
			same = true;
		}
		err = err
			      ?: vec_push(&events->keys, ((struct sort_key){
								 .key = offset,
								 .item = same ? line.line : 0,
							 }));
	}
	if (!err && more < 0)
		err = more;
	if (!err && events->source.size)
		events->debug_address = record->address;
	return err;
}

static int take_lines(struct jitdump_events *events, const struct jitdump_record *record,
		      struct code_event *event)
{
	const struct engine *engine = engine_of_jitdump(events->header.reserved);
	uint64_t bias = engine ? engine->jitdump_line_bias : 0;
	int err;

	if (events->debug_address != record->address ||
	    (engine && !engine->has_jitdump_lines(record->name)))
		return 0;
	err = sort_keys(events->keys.data, events->keys.size);
	if (err)
		return err;
	events->lines.size = 0;
	vec_for_each (key, &events->keys) {
		struct jitbpf_code_line line = {(uint32_t)(key->key - bias), key->item};

		if (key->key < bias || line.offset >= record->size_bytes)
			continue;
		err = vec_push(&events->lines, line);
		if (err)
			return err;
	}
	event->flags |= JITBPF_EVENT_LINE_STARTS;
	event->source = (struct code_string){events->source.data, events->source.size};
	event->lines = events->lines.data;
	event->line_count = events->lines.size;
	return 0;
}

static int take_load(struct jitdump_events *events, const struct jitdump_record *record,
		     struct code_event *event)
{
	int err;

	event->kind = JITBPF_CODE_LOAD;
	event->name = (struct code_string){record->name, strlen(record->name)};
	err = take_lines(events, record, event);
	events->debug_address = 0;
	return err;
}

int jitdump_events_convert(struct jitdump_events *events, const struct jitdump_record *record,
			   struct code_event *ret)
{
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_JITDUMP},
		.pid = record->pid,
		.time_ns = record->time_ns,
		.address = record->address,
		.old_address = record->old_address,
		.size_bytes = record->size_bytes,
	};
	int err = 0;

	if (!events->debug_address && events->keys.capacity > LINES_KEPT) {
		vec_deinit(&events->keys);
		vec_deinit(&events->lines);
	}
	switch (record->kind) {
	case JITDUMP_LOAD:
		err = take_load(events, record, &event);
		break;
	case JITDUMP_MOVE:
		event.kind = JITBPF_CODE_MOVE;
		break;
	case JITDUMP_CLOSE:
		event.pid = events->header.pid;
		event.kind = JITBPF_CODE_CLOSE;
		break;
	case JITDUMP_DEBUG_INFO:
		return take_debug_info(events, record);
	case JITDUMP_UNWINDING_INFO:
		return 0; /* unwind rows are made of the code itself */
	default:
		event.pid = events->header.pid;
		event.kind = JITBPF_CODE_UNKNOWN;
	}
	if (err)
		return err;
	*ret = event;
	return 1;
}

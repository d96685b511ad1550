/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_record.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "uapi/record.h"

uint64_t journal_record_time(struct journal_origin *origin, uint64_t event_ns)
{
	if (event_ns > origin->most_ns)
		origin->most_ns = clock_now_ns();
	if (event_ns > origin->most_ns)
		return origin->beyond_is_least ? origin->least_ns : origin->most_ns;
	return event_ns < origin->least_ns ? origin->least_ns : event_ns;
}

static void translate_thread(struct journal_origin *origin, struct jitbpf_jit_header *header)
{
	bool own = header->tid == header->method_id;

	if (header->event != JIT_EVENT_JVM_THREAD && header->event != JIT_EVENT_JVM_THREAD_END)
		return;
	header->method_id = journal_threads_tid(origin->threads, origin->pid, header->method_id);
	header->tid = own ? header->method_id : origin->pid;
}

int journal_record_send(struct journal_origin *origin, const struct jit_journal_entry *entry,
			journal_room *room)
{
	struct jitbpf_jit_header header = entry->header;
	struct jitbpf_jit head = {
		.h =
			{
				.size_bytes = (uint32_t)sizeof(head) + header.size_bytes,
				.type = JITBPF_JIT,
				.flags = JITBPF_JIT_FROM_JOURNAL | origin->flags,
			},
		.pid = origin->pid,
		.tid = origin->pid,
		.start_ns = origin->start_ns,
		.data_bytes = header.size_bytes,
	};
	uint8_t *to;

	if (vec_reserve(room, head.h.size_bytes))
		return -ENOMEM;
	header.time_ns = journal_record_time(origin, header.time_ns);
	head.h.time_ns = origin->most_ns;
	if (origin->inherited)
		header.sequence = JITBPF_JIT_INHERITED;
	translate_thread(origin, &header);
	to = room->data;
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), entry->data, header.size_bytes);
	memcpy(to + sizeof(head), &header, sizeof(header));
	return origin->take(origin->take_context, (const struct jitbpf_record *)to);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns the records of one jitdump file into code events. A LOAD gets the lines of the DEBUG_INFO
 * before it.
 */
#ifndef JITBPF_DECODE_MEDIA_JITDUMP_EVENT_H
#define JITBPF_DECODE_MEDIA_JITDUMP_EVENT_H

#include "base/sort_keys.h"
#include "base/vec.h"
#include "decode/media/jitdump.h"
#include "decode/record/code_event.h"

struct engine;

/* Zero-initialized except for header. The owner calls jitdump_events_deinit(). */
struct jitdump_events {
	struct jitdump_header header;
	uint64_t debug_address; /* of the code to which the lines below belong; 0: no lines */
	VEC(char) source;
	VEC(struct sort_key) keys; /* key: offset from debug_address; item: line */
	VEC(struct jitbpf_code_line) lines;
};

/*
 * Convert a record. *ret borrows from the record and from events until the next call. Only
 * publisher, kind, pid, time_ns, and the members and flags that describe the code are set. pid is
 * as the process sees itself: that of the header, or of a process that inherited the file.
 *
 * Returns 1 with *ret set; 0: the record makes no event; -EBADMSG: malformed; or -ENOMEM.
 */
int jitdump_events_convert(struct jitdump_events *events, const struct jitdump_record *record,
			   struct code_event *ret);

void jitdump_events_deinit(struct jitdump_events *events);

#endif

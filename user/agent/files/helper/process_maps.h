/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads /proc/PID/maps of other processes through openers (file_helper.h). A process can hold the
 * lock of its memory map for as long as it likes, and a reader of its maps waits for it. So each
 * call waits for a limited time; the answer is taken by a later call.
 *
 * Event loop only, or another single thread.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_PROCESS_MAPS_H
#define JITBPF_AGENT_FILES_HELPER_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/helper/file_helper.h"
#include "agent/roles/broker.h"
#include "base/vec.h"

/* Enough for 100,000 typical mappings. Paths of a hostile process may have 4 KB each. */
#define PROCESS_TEXT_MAX (16u << 20)

typedef VEC(char) process_text; /* not NUL-terminated */

/*
 * Replace text by the contents of /proc/PID/name, at most PROCESS_TEXT_MAX bytes, without an
 * opener: it may wait for the process. Returns 0 or a negative errno.
 */
int process_text_read(process_text *text, uint32_t pid, const char *name);

#define MAPS_TURN_NS	 40000000ull   /* from the start of a turn of the event loop */
#define MAPS_READ_NS	 30000000ull   /* limit of the wait in one call */
#define MAPS_PATIENCE_NS 2000000000ull /* after it, a process counts as unanswered */
#define MAPS_PENDING_MAX 8	       /* requests without an answer, each with an opener */

struct process_maps; /* see process_maps.c */

/* broker is borrowed. Returns 0 or -ENOMEM. */
int process_maps_create(const struct broker *broker, struct process_maps **ret);
void process_maps_destroy(struct process_maps *maps); /* NULL is allowed */

/*
 * A turn of the event loop begins: all calls until the next turn wait until MAPS_TURN_NS from now.
 * Without turns, each call waits for MAPS_PATIENCE_NS.
 */
void process_maps_begin_turn(struct process_maps *maps);

/* Returns true if the time of the turn is used up. */
bool process_maps_turn_is_over(const struct process_maps *maps);

/*
 * Replace text by the maps of a process, at most PROCESS_TEXT_MAX bytes. If its leader has ended,
 * they are those of another thread. Returns 0; -EINPROGRESS if there is no answer yet: call it
 * again in a later turn; -ETIMEDOUT after MAPS_PATIENCE_NS; or the negative errno of reading. maps
 * NULL: this process reads the file itself, which is allowed for its own maps only.
 */
int process_maps_read(struct process_maps *maps, uint32_t pid, process_text *text);

/* Returns the number of processes, up to 64, that have not answered so far. */
uint64_t process_maps_unanswered(const struct process_maps *maps);

/* Returns the pid of such a process, by number from 0; 0 if there are no more. */
uint32_t process_maps_silent(const struct process_maps *maps, uint32_t number);

/*
 * For the opener: send the maps of request->pid in replies of up to FILE_PIECE_MAX bytes, of which
 * the last one has file_bytes 0. The opener ends when the other end of the lifeline, a socket that
 * the requester sent with the request, is closed. Returns 0 or the negative errno of sending.
 */
int process_maps_serve(int socket, int lifeline, const struct file_request *request,
		       struct file_reply *reply);

#endif

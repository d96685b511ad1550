/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that the threads of one process have in its language runtime, over time. The kernel's
 * own names (comm) have 15 bytes. Names come from the process, so they are hostile: their number,
 * their length and their memory are bounded, and every tid is possible.
 *
 * A name is valid from its event on, until one of these: the thread ends, gets another name or
 * renames itself, or a new thread has its tid. HotSpot passes a name to the kernel when the thread
 * begins, and when it renames itself. So the first comm after the begin may be an abbreviation of
 * the name. Any other comm means that the thread has a new name, of which only the comm is known.
 * Look-ups of earlier times find an ended name until thread_names_forget(). Zero-initialized is
 * empty. Single-threaded.
 *
 * A thread may have renamed itself between an event from before the run and the run. Then its comm
 * is not an abbreviation of the name. That is so as well for a thread to which HotSpot did not pass
 * the name: one that native code has created. It often has the comm of its process.
 */
#ifndef JITBPF_STATE_PROCESS_THREAD_NAMES_H
#define JITBPF_STATE_PROCESS_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "decode/record/code_event.h"
#include "state/code/code_account.h"

#define THREAD_NAMES_MAX 131072 /* of a process, with the ended ones */

/*
 * A thread exits some time after it has reported its end. It keeps its name until then, for at most
 * this long.
 */
#define THREAD_NAMES_GRACE_NS 1000000000ull

struct thread_name {
	uint32_t tid;
	uint32_t previous;	    /* place + 1 of the tid's name before; 0: none */
	uint64_t from_ns, until_ns; /* [from, until); UINT64_MAX: still valid */
	uint64_t sequence;	    /* of its event, whose publisher is JVMTI */
	bool awaits_comm;	    /* the thread has just begun, and will set its name as comm */
	bool before_run;	    /* its event is from before the run */
	char *text;		    /* owned */
};

struct thread_names {
	VEC(struct thread_name) names; /* of each tid in order of time */
	struct index_map index;	       /* of the latest name of each tid */
	uint32_t ended;		       /* number of names that have ended */
};

/*
 * Apply an event of kind THREAD or THREAD_END. After the latter, the thread keeps its name for
 * THREAD_NAMES_GRACE_NS at most. Memory is charged to the account. An event that is
 * older than the latest name of its thread changes nothing. Returns 0, -ENOMEM, or -EDQUOT (no
 * room: the thread has no name from then on).
 */
int thread_names_apply(struct thread_names *names, struct code_account *account,
		       const struct code_event *event);

/* The kernel has set the name of a thread. */
void thread_names_comm(struct thread_names *names, uint32_t tid, const char *comm,
		       uint64_t time_ns);

/* A new thread has the tid: the name that it had ends. */
void thread_names_end(struct thread_names *names, uint32_t tid, uint64_t time_ns);

/* The process executes a new program: all names end. */
void thread_names_end_all(struct thread_names *names, uint64_t time_ns);

/*
 * Events were lost: names end at time_ns, except those whose events are in `live`, which has
 * sequence numbers in ascending order.
 */
void thread_names_gap(struct thread_names *names, const uint64_t *live, size_t live_count,
		      uint64_t time_ns);

/*
 * Returns the name of a thread at a time, borrowed until the next change; or NULL. Its comm was
 * `comm` then, and that of the process process_comm: a name from before the run of which `comm` is
 * no abbreviation is returned only if the two are equal.
 */
const char *thread_names_at(const struct thread_names *names, uint32_t tid, const char *comm,
			    const char *process_comm, uint64_t time_ns);

/* Drop names that ended before time_ns. May keep some of them. */
void thread_names_forget(struct thread_names *names, struct code_account *account,
			 uint64_t time_ns);

void thread_names_deinit(struct thread_names *names, struct code_account *account);

/*
 * Returns true if HotSpot abbreviates `name` to `comm`: to its first 15 bytes, or in newer versions
 * to the first 7 and the last 6 with ".." between them. It does so before surrogates become
 * characters of four bytes, so a comm may differ from the name there.
 */
bool thread_names_is_abbreviation(const char *comm, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A jitdump file that is followed, and the processes that write to it: the process that mapped it,
 * and its heirs, which inherited it by a fork. Heirs write records of their code with their own
 * pids: PHP-FPM opens its file before it forks its workers.
 *
 * An inner pid is a pid in the pid namespace of its process. Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_FOLLOWED_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_FOLLOWED_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/jitdump_file.h"
#include "base/owner_budget.h"
#include "uapi/record.h"

#define JITDUMP_HEIRS_MAX 4096 /* limit for one file; records of further heirs are refused */

struct jitdump_heir {
	uint32_t pid;
	uint32_t inner_pid; /* 0: not known */
	bool is_gone;	    /* it ended before its inner pid was read */
	uint64_t ended_ns;  /* time of its exit or exec; 0: none */
	uint64_t sequence;  /* of its next event */
};

struct jitdump_followed {
	struct jitdump_file file;
	uint32_t pid;
	uint32_t number;     /* of the file in the run */
	uint64_t mapped_ns;  /* start of the run if it was mapped before */
	uint64_t ended_ns;   /* time of the process's exit or exec; 0: none */
	uint64_t forked_ns;  /* time of the last fork of a writer; 0: none */
	uint64_t sequence;   /* of the process's next event */
	uint64_t read_ns;    /* start of the last reading that reached the end; 0: none */
	uint64_t settled_ns; /* start of the last round that has ended and needed the file; 0: none
			      */
	uint64_t silent_ns;  /* since when readings time out; 0: the last one did not */
	uint64_t waits_ns;   /* since when the next record waits for its writer; 0: it does not */
	struct budget_owner *owner; /* charged for the file; set by the caller */
	bool open;
	bool late_done;
	bool done; /* read in the current round, as far as that needs it */
	bool late; /* the last round that needed it has ended without it */
	VEC(struct jitdump_heir) heirs;
	size_t last_writer;	    /* index of the heir found last; may be beyond the last heir */
	struct jitdump_counts told; /* counts that were emitted */
};

/* The mapping is copied; the caller sets number and owner. Returns 0 or -ENOMEM. */
int jitdump_followed_create(const struct jitbpf_mapping *mapping, struct jitdump_followed **ret);
void jitdump_followed_destroy(struct jitdump_followed *followed);

/* Returns true if a mapping is of the file. */
bool jitdump_followed_is(const struct jitdump_followed *followed,
			 const struct jitbpf_mapping *mapping);

/* Note a fork: the child of a writer is an heir. Returns 0 or -ENOMEM. */
int jitdump_followed_fork(struct jitdump_followed *followed, const struct jitbpf_task *fork);

/* Add an heir that was forked before the run. Returns 0 or -ENOMEM. */
int jitdump_followed_add_heir(struct jitdump_followed *followed, uint32_t pid);

/* Note the exit or exec of a process. */
void jitdump_followed_end(struct jitdump_followed *followed, uint32_t pid, uint64_t time_ns);

/* Returns true if all writers have ended. */
bool jitdump_followed_is_over(const struct jitdump_followed *followed);

/*
 * Returns the pid of the writer with an inner pid, the newest of several heirs; 0 if there is none.
 * Unknown inner pids are read from /proc, once; text is a buffer. *ret_sequence is the sequence
 * number of the writer's next event, for the caller to change; ret_sequence may be NULL. The cost
 * is in proportion to the heirs, except for the writer of the call before.
 */
uint32_t jitdump_followed_writer(struct jitdump_followed *followed, process_text *text,
				 uint32_t inner_pid, uint64_t **ret_sequence);

/* Drop the heirs whose records were all read. */
void jitdump_followed_forget(struct jitdump_followed *followed);

#endif

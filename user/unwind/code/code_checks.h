/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides whether memory still holds the JIT code that was reported there. The side-band reports
 * new executable mappings and changes of protection by the same event, which does not say whether
 * the code was replaced. From such an event on, the code of that memory is in doubt. When code in
 * doubt is sampled, a check reads its memory and compares it with the copy of the code as of its
 * load. A check that passes vouches for the code up to the time of the read. After a check that
 * fails, the code is unknown from the first event on that comes after the last check that passed.
 * Samples wait for the result.
 *
 * A sample has the bytes around its innermost frame in such memory. Bytes that equal the copy vouch
 * for the code as well. Bytes that differ put the code in doubt without an event: an engine may
 * write or move code in memory that stays executable. Then a check compares them as instructions,
 * within the rest of the copy. So code in which the engine has only linked calls passes.
 *
 * Engines have functions with equal bytes, so a replaced function can pass. If many checks fail in
 * the memory of an event, all of this memory counts as replaced, and its code is unknown.
 *
 * A publisher may report the end of all its code, as the agent of a virtual machine does. Such code
 * is put in doubt by samples only: its memory grows by mappings, and the side-band reports each of
 * them for the whole memory. After a check that fails, the code is unknown for CODE_DOUBT_NS. If it
 * was replaced, the report of its end arrives in that time. Else the virtual machine has changed
 * its own code in an unknown way: the code is vouched for again, and the bytes that differed become
 * part of the copy.
 *
 * The checks are divided among the owners of the processes (base/owner_slots.h). If samples wait
 * for as many checks as an owner may have, further code of that owner is unknown at once.
 *
 * Code that was found in memory (unwind/code/found_code.h) has words that tell it from what takes
 * its place, and nobody reports its end. A sample in it waits for a check of these words that is
 * newer than the sample, and than its rows: if they are the same, the code was there all the time.
 * Its memory cannot be read any more when its process has ended: what it may have run since the
 * last check is decided by the sample (code_successors.h). Its memory is not compared: an identity
 * is never used again, while a virtual machine changes its code.
 *
 * Only private memory is checked. Code in shared memory is found by the mapped object
 * (state/process/shared_code.h). Code without a copy is trusted when it is first read.
 */
#ifndef JITBPF_UNWIND_CODE_CODE_CHECKS_H
#define JITBPF_UNWIND_CODE_CODE_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_slots.h"
#include "base/vec.h"
#include "state/process/process_table.h"
#include "unwind/code/code_copies.h"
#include "unwind/code/code_doubts.h"
#include "unwind/code/found_pieces.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_regions.h"
#include "unwind/unwind_service.h"

#define CODE_CHECKS_MAX	      (1u << 12)
#define CODE_CHECKS_PER_S     1000	   /* of a process */
#define CODE_IDENTITIES_PER_S 4000	   /* the same, of code that was found: a few words each */
#define CODE_CHECK_PAUSE_NS   50000000ull  /* between reads of a region, times the passed checks */
#define CODE_CHECK_PAUSE_MAX  200000000ull /* below INTAKE_DEFER_NS */

/* A virtual machine that frees all its code at once may report that for a few seconds. */
#define CODE_DOUBT_NS 5000000000ull

/* The state of checks of a region that is or was in doubt. */
struct code_check {
	uint64_t identity; /* code_region_identity(); 0: the slot is empty */
	const struct process *process;
	uint64_t address, size_bytes;
	enum jitbpf_publisher publisher;
	uint64_t vouched_ns; /* the code is vouched for up to this time; 0: up to its first event */
	uint64_t since_ns;   /* samples from this time on wait; 0: none do */
	uint64_t next_ns;    /* earliest time of the next check */
	uint32_t passed;     /* number of checks */
	/* The time in which code is unknown whose region goes on, after a failed check; 0: none. */
	uint64_t unknown_ns, unknown_until_ns;
	bool differed; /* the bytes that failed are in `seen`, and not yet in the copy */
	/*
	 * Times of the first and the last sample whose bytes differ from the copy, since the code
	 * was last vouched for; 0: none. seen has the bytes of the last one.
	 */
	uint64_t doubt_ns, seen_ns;
	struct jitbpf_code_bytes seen;
	/* Of found code: words that are compared in place of the code. */
	struct runtime_identity words;
	/* The pending request, if `asked` is set. */
	uint8_t *copy; /* NULL: the region has no copy */
	uint8_t *is;   /* the copy with the bytes of `seen`; NULL: the memory is to be read */
	uint64_t asked_seen_ns; /* seen_ns of these bytes */
	uint32_t copy_bytes;
	bool asked;
	bool listed; /* in code_checks.unasked */
};

/* A region whose code is unknown from since_ns on, as decided at decided_ns. */
struct code_verdict {
	const struct process *process;
	uint64_t address, size_bytes;
	uint64_t since_ns, decided_ns;
	enum jitbpf_publisher publisher;
	bool unchecked; /* its memory could not be read in time */
};

struct code_checks {
	struct code_check *slots;
	struct found_pieces *found;	      /* borrowed; NULL: there is none */
	const struct unwind_regions *regions; /* borrowed; NULL: the same */
	struct unwind_woken *woken;	      /* gets UNWIND_KEY_CHECK of ended waits; or NULL */
	struct owner_slots owners;	      /* of the slots; busy: asked, or samples wait */
	struct index_map index;		      /* by identity and process */
	VEC(struct code_doubts *) doubts;     /* by slot of the process, or NULL */
	VEC(struct code_verdict) verdicts;
	size_t verdicts_taken;
	VEC(uint32_t) unasked; /* slots of checks that samples wait for, to be requested */
	uint64_t now_ns;       /* all events up to here have been reported */
	bool ends;	       /* no events come any more: checks do not pause */
	uint64_t trusted;      /* regions without a copy that were trusted */
};

enum code_trust {
	CODE_VOUCHED, /* also: there is no code, or code that is not checked */
	CODE_WAITS,   /* for a check, which the caller may have to request: code_checks_request() */
	CODE_UNKNOWN, /* replaced, or not checked in time; its region ends before that time */
	CODE_DOUBTED, /* the same, and its region goes on */
	CODE_ENDED,   /* not checked in time, and an event has ended its region */
};

/* Returns 0 or -ENOMEM. */
int code_checks_init(struct code_checks *checks);
void code_checks_deinit(struct code_checks *checks); /* zero-initialized is allowed */

/* Returns the doubts about code of a process, or NULL if there are none. */
struct code_doubts *code_checks_of(const struct code_checks *checks, const struct process *process);

/*
 * Memory of a process was mapped or became executable: its code is in doubt from time_ns on. The
 * event has been applied to the process. Returns 0 or -ENOMEM.
 */
int code_checks_mapped(struct code_checks *checks, const struct process *process, uint64_t start,
		       uint64_t end, uint64_t time_ns);

/*
 * Compare the bytes that a sample at time_ns saw around a frame at an address with the copy. Equal
 * bytes vouch for the code up to time_ns; different bytes put it in doubt from then on. Beyond the
 * part that is in copies, only equal bytes count: large has more of the code of large regions.
 * Returns 0 or -ENOMEM.
 */
int code_checks_seen(struct code_checks *checks, struct code_copies *copies,
		     struct code_copies *large, const struct process *process, uint64_t address,
		     uint64_t time_ns, const struct jitbpf_code_bytes *seen);

/*
 * Returns whether the code at an address of a process at time_ns is vouched for. With CODE_WAITS,
 * *ret is the check that the sample waits for from now on. If memory for the check is short, the
 * result is CODE_ENDED; beyond the owner's share of the checks, CODE_UNKNOWN or CODE_DOUBTED.
 */
enum code_trust code_checks_trust(struct code_checks *checks, struct code_doubts *doubts,
				  uint64_t address, uint64_t time_ns, struct code_check **ret);

/*
 * Prepare the request of a check if it is due and within the budget. It borrows a copy of the code,
 * as it is in copies, until code_checks_take() or code_checks_drop_request(). Returns true if
 * *ret is to be sent.
 */
bool code_checks_request(struct code_checks *checks, struct code_check *check,
			 struct code_copies *copies, struct unwind_request *ret);
void code_checks_drop_request(struct code_checks *checks, struct code_check *check);

/* Returns the key of a check, which is woken when no sample waits for the check any more. */
uint64_t code_checks_key(const struct code_checks *checks, const struct code_check *check);

/* Add a check that is to be requested later to checks->unasked. Without memory, it is not. */
void code_checks_list(struct code_checks *checks, struct code_check *check);

/*
 * Apply the answer of a check. If the check passed, the code that was compared replaces its copy.
 */
void code_checks_take(struct code_checks *checks, struct code_copies *copies,
		      const struct unwind_answer *answer);

/*
 * Give up a check that a sample of time_ns waits for: its code is unknown from then on. If its
 * publisher reports all ends, the code is unknown for the samples up to time_ns only. Returns
 * CODE_UNKNOWN or CODE_DOUBTED.
 */
enum code_trust code_checks_give_up(struct code_checks *checks, struct code_check *check,
				    uint64_t time_ns);

/*
 * Call it before an event about code is applied to a process at time_ns; event NULL: an event that
 * may end any code. Gives up the pending checks of code that the event may end, since they cannot
 * pass any more.
 */
void code_checks_code_changes(struct code_checks *checks, const struct process *process,
			      const struct jitbpf_code_event *event, uint64_t time_ns);

/*
 * A region of found code has ended, since other code was found there: put a verdict on it, as of
 * its last check.
 */
void code_checks_end_found(struct code_checks *checks, const struct process *process,
			   const struct code_region *region);

/* A process has ended: samples wait no more for checks of code that was found in it. */
void code_checks_exited(struct code_checks *checks, const struct process *process);

/* Returns the last time at which code that was found is known to have been there; 0: none. */
uint64_t code_checks_seen_until(const struct code_checks *checks, const struct process *process,
				const struct code_region *region);

/* Take the oldest verdict. Returns false if there is none. */
bool code_checks_take_verdict(struct code_checks *checks, struct code_verdict *ret);

/* Drop the pointers to processes that were retired. */
void code_checks_forget_retired(struct code_checks *checks);

#endif

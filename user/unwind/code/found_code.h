/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that no publisher has reported, and that the reader of a runtime finds in the memory of a
 * process (runtimes/runtime_code.h), on demand: by an address of a sample.
 *
 * This part keeps which addresses were asked for, what was found and is not reported yet, and the
 * pieces that were (unwind/code/found_pieces.h).
 *
 * All is bounded, and divided by the owners of the processes. Single-threaded.
 */
#ifndef JITBPF_UNWIND_CODE_FOUND_CODE_H
#define JITBPF_UNWIND_CODE_FOUND_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_slots.h"
#include "base/vec.h"
#include "runtimes/runtime_code.h"
#include "unwind/code/found_pieces.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_service.h"

#define FOUND_PLACES_MAX (1u << 12)

/* An address is asked for at most so often in a second. */
#define FOUND_TRIES	8
#define FOUND_SECOND_NS 1000000000ull
/* How long an address without code of the runtime is not asked for. */
#define FOUND_NONE_NS 100000000ull

enum found_state {
	FOUND_NEW,   /* to be requested, followed by found_code_asked() */
	FOUND_WAITS, /* for the answer, or for the events up to the search */
	FOUND_NONE,  /* there is no code of the runtime, or it is asked for too often */
};

/* An address that was asked for. */
struct found_place {
	const struct process *process; /* NULL: the slot is free, or the process has ended */
	uint64_t address;
	bool asked;	/* or what was found is not reported yet */
	uint32_t tries; /* since second_ns */
	uint64_t second_ns, none_until_ns;
};

/* Code that was found and is not reported yet. */
struct found_news {
	uint32_t number;	       /* of the request */
	const struct process *process; /* NULL: it was retired */
	uint64_t program_ns;
	const struct engine *engine;
	uint64_t found_ns, read_ns;
	bool replaces;		  /* other code that was found there */
	struct runtime_code code; /* its own */
};

struct found_code {
	struct found_place *places;
	struct owner_slots owners; /* of the places; busy: asked */
	struct index_map index;	   /* of the places, by process and address */
	struct found_pieces pieces;
	VEC(struct found_news) news; /* in order of arrival */
	size_t news_taken;
	struct unwind_woken *woken; /* gets UNWIND_KEY_CODE of ended waits; or NULL */
	uint64_t now_ns;	    /* all events up to here have been reported */
};

/* Returns 0 or -ENOMEM. */
int found_code_init(struct found_code *found);
void found_code_deinit(struct found_code *found); /* zero-initialized is allowed */

/* Returns the key of an address, which is woken by its answer. */
uint64_t found_code_key(const struct process *process, uint64_t address);

enum found_state found_code_at(const struct found_code *found, const struct process *process,
			       uint64_t address);

/*
 * An address that is FOUND_NEW is being requested. Returns 0 with the number of the request; -EBUSY
 * (the owner's share of the places is asked for) or -ENOMEM.
 */
int found_code_asked(struct found_code *found, const struct process *process, uint64_t address,
		     uint32_t *ret_number);

/* The request was not sent after all. */
void found_code_drop_request(struct found_code *found, uint32_t number);

/* Take the answer to a request, with its code. Returns 0 or -ENOMEM. */
int found_code_take(struct found_code *found, const struct unwind_answer *answer);

/*
 * Take the oldest news whose process has had all its events up to the read applied. News of an
 * earlier program are dropped. Returns false if there is none. The caller ends the code of *ret.
 */
bool found_code_next(struct found_code *found, struct found_news *ret);

/* What was found, just now, is not reported: its address is not asked for again so soon. */
void found_code_refuse(struct found_code *found, const struct found_news *news);

/*
 * Keep the identity of a piece that is about to be reported, in place of one with the same start.
 * Returns 0, -EDQUOT (the owner has no room) or -ENOMEM.
 */
int found_code_keep(struct found_code *found, const struct found_news *news);

/* Drop all of the processes that were retired. */
void found_code_forget_retired(struct found_code *found);

#endif

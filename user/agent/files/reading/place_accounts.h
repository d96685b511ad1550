/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time accounts of places (file_place.h): the time that was spent on slow answers of each place. A
 * place whose time is used up is given up. Callers pass the time, CLOCK_MONOTONIC.
 */
#ifndef JITBPF_AGENT_FILES_READING_PLACE_ACCOUNTS_H
#define JITBPF_AGENT_FILES_READING_PLACE_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/reading/file_place.h"
#include "base/vec.h"

#define FILE_QUICK_MS 10	    /* faster answers are not charged */
#define FILE_LATE_NS  2000000000ull /* age of a request whose late answer still counts */

/*
 * Each place that is given up may have cost a helper process, and an owner can mount any number of
 * file systems. So while an owner has so many given-up places, requests for the owner's other
 * places fail, too, except for places that have answered this owner. A place counts for
 * FILE_FORGIVE_NS. Other owners have accounts of their own.
 */
#define FILE_OWNER_PLACES_MAX	2
#define FILE_UNKNOWN_PLACES_MAX 8 /* the same of FILE_OWNER_UNKNOWN */
#define FILE_FORGIVE_NS		3600000000000ull

/* Limit of an owner's time for slow answers of all places together, in those of one place. */
#define FILE_OWNER_SHARE 4

#define FILE_GOOD_PLACES 32 /* places of an owner that answered, and are remembered */
#define FILE_NAMED_MAX	 8  /* given-up places that messages name */

struct file_patience {
	uint32_t answer_ms; /* limit for one answer */
	uint32_t place_ms;  /* limit for all slow answers of one place */
	/*
	 * For places that are used during the whole run: the percentage of elapsed time that is
	 * credited to a place. If it is not 0, a slow place is not given up: its requests fail
	 * until it has time again.
	 */
	uint32_t refill_percent;
	/*
	 * Number of requests without an answer before a place is given up. More than 0 because a
	 * helper may have waited for a CPU.
	 */
	uint32_t unanswered_max;
};

struct place_account {
	struct file_place place;
	uint64_t spent_ms;
	uint64_t refilled_ns; /* time at which spent_ms was last reduced */
	uint32_t unanswered;  /* requests */
	bool given_up;
	uint64_t given_up_ns;
	const char *what; /* if given up: in place_accounts.given_up, or NULL */
	/* Socket for the late answer to the last request before it was given up; -1: none. */
	int late_socket;
	struct late_request *late_request; /* NULL: none is kept */
};

/* A request without an answer in time. */
struct late_request {
	uint64_t sent_ns;
	size_t size_bytes;
	uint8_t bytes[];
};

/* An owner of processes that need places. */
struct place_owner {
	struct owner_key key;
	uint64_t spent_ms;			  /* for all places */
	uint64_t refilled_ns;			  /* time at which spent_ms was last reduced */
	struct file_place good[FILE_GOOD_PLACES]; /* a ring */
	uint32_t good_count;
};

/* Empty if zero-initialized. */
struct place_accounts {
	VEC(struct place_account) accounts; /* of places with slow answers only */
	VEC(struct place_owner) owners;
	char *given_up[FILE_NAMED_MAX]; /* what was requested, for messages */
	uint32_t given_up_count;
	uint32_t gone; /* places that are given up */
	uint32_t late; /* places with a late_socket */
};

/*
 * Returns the limit for the next answer of a place in ms; 0 if it was given up, or too slow, or if
 * its owner has used up the time for all places.
 */
uint64_t place_accounts_left_ms(struct place_accounts *accounts, struct file_place place,
				const struct file_patience *patience, uint64_t now_ns);

/*
 * Charge the time of a request; `answered` is false if it timed out. Returns 0; 1 if the place must
 * be given up, by place_accounts_give_up(); or -ENOMEM.
 */
int place_accounts_charge(struct place_accounts *accounts, struct file_place place,
			  const struct file_patience *patience, uint64_t spent_ms, bool answered,
			  uint64_t now_ns);

/*
 * Give up a place after place_accounts_charge() returned 1. Takes over `what`, for messages, and
 * socket, from which the answer did not come in time; -1: there is none.
 */
void place_accounts_give_up(struct place_accounts *accounts, struct file_place place, char *what,
			    int socket, uint64_t now_ns);

/* Returns true if the place was given up, and was not restored. */
bool place_accounts_gave_up(const struct place_accounts *accounts, struct file_place place);

/* Returns true if the place has answered its owner. */
bool place_accounts_is_good(const struct place_accounts *accounts, struct file_place place);

/* Keep a copy of the request for which a place was given up. Without memory, none is kept. */
void place_accounts_set_request(struct place_accounts *accounts, struct file_place place,
				const void *bytes, size_t size_bytes, uint64_t sent_ns);

/* Returns the socket of a place that was given up, or -1. */
int place_accounts_late_socket(const struct place_accounts *accounts, struct file_place place);

/*
 * Restore all places whose late answers have arrived: they are slow, but they work. Their answers
 * can still be taken, up to FILE_LATE_NS after the place was given up. Then the socket is closed,
 * which ends the helper process: nobody may ask about the place again, such as the memory of a
 * process that has ended. Call it from time to time while accounts->late is not 0.
 */
void place_accounts_see_answers(struct place_accounts *accounts, uint64_t now_ns);

/*
 * Take the late answer of a place. Returns the socket that has it, which the caller closes, and
 * sets *ret_request, which the caller frees; or returns -1 if there is none.
 */
int place_accounts_take_answer(struct place_accounts *accounts, struct file_place place,
			       struct late_request **ret_request);

/* Returns `what` of place `number` that was given up; NULL if there are no more. */
const char *place_accounts_given_up(const struct place_accounts *accounts, uint32_t number);

void place_accounts_deinit(struct place_accounts *accounts);

#endif

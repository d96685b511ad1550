/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows by pages of code, in the array that the kernel's programs walk by: what stands
 * here is published. Files have most of the array, the code of processes the rest, so that
 * code that comes and goes leaves files alone.
 *
 * All memory is bounded, and taken as it is used.
 */
#ifndef JITBPF_UNWIND_UNWIND_PAGES_H
#define JITBPF_UNWIND_UNWIND_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "unwind/unwind_arena.h"
#include "unwind/unwind_feed.h"

struct unwind_page_slot {
	struct unwind_page_key key;
	struct unwind_page page; /* count 0: its rows have been asked for, or it is reserved */
	uint64_t span;
	bool published;			       /* the feed took it */
	struct unwind_page_slot *next, **link; /* of the owner's list, where it is in one */
};

struct unwind_pages {
	const struct unwind_feed *feed; /* borrowed */
	struct unwind_page_slot *slots;
	uint32_t used;	 /* slots that ever were */
	uint32_t vacant; /* one that is free again, + 1; the others behind it */
	struct index_map index;
	struct unwind_arena files, code;
	uint64_t evicted;
};

/* Returns 0 or -ENOMEM. */
int unwind_pages_init(struct unwind_pages *pages, const struct unwind_feed *feed);
void unwind_pages_deinit(struct unwind_pages *pages); /* zero-initialized is allowed */

/* NULL where neither rows of it are there nor asked for. Good until the next change. */
struct unwind_page_slot *unwind_pages_find(const struct unwind_pages *pages,
					   struct unwind_page_key key);

/* Note that rows have been asked for; it is not there yet. Returns 0, -EBUSY or -ENOMEM. */
int unwind_pages_ask(struct unwind_pages *pages, struct unwind_page_key key);

/* The most rows that a page of the owner can have. */
uint32_t unwind_pages_rows_max(const struct unwind_pages *pages, uint32_t owner);

/*
 * Reserve a page of code: whatever is known of it from now on, rows that are made later are
 * published only if nothing has changed there meanwhile. What it had is withdrawn. Returns the
 * slot, in no list, or NULL where there is no room.
 */
struct unwind_page_slot *unwind_pages_reserve(struct unwind_pages *pages,
					      struct unwind_page_key key);

/* Publish the rows of a page that is reserved; where that holds no longer, it is dropped. */
void unwind_pages_fill(struct unwind_pages *pages, struct unwind_page_slot *slot,
		       const struct unwind_row *rows, uint32_t count);

/*
 * Keep and publish the rows of a file's page, 1..unwind_pages_rows_max() of them, which take the
 * place of those it had; others are evicted for them. Returns the slot, NULL where there is no
 * memory.
 */
struct unwind_page_slot *unwind_pages_put(struct unwind_pages *pages, struct unwind_page_key key,
					  const struct unwind_row *rows, uint32_t count);

/* Enter a slot that is in no list into one, which it leaves when it is dropped. */
void unwind_pages_link(struct unwind_page_slot *slot, struct unwind_page_slot **list);

/* Publish what the feed did not take. */
void unwind_pages_publish(struct unwind_pages *pages, struct unwind_page_slot *slot);

/* The row that holds in a page that has rows. */
struct unwind_row unwind_pages_row(const struct unwind_pages *pages,
				   const struct unwind_page_slot *slot, uint16_t pc);

/* Withdraw a page, or what was asked for. */
void unwind_pages_drop(struct unwind_pages *pages, struct unwind_page_slot *slot);

#endif

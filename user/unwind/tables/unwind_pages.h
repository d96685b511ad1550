/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows by page of code (64 KB), kept in the row array of struct unwind_tables and
 * published from there. Three quarters of the array hold rows of files, the rest holds rows of
 * JIT code, so that short-lived code never evicts a file's rows.
 *
 * Memory is bounded, and allocated when it is first used. Single-threaded.
 */
#ifndef JITBPF_UNWIND_TABLES_UNWIND_PAGES_H
#define JITBPF_UNWIND_TABLES_UNWIND_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "unwind/tables/unwind_arena.h"
#include "unwind/tables/unwind_tables.h"

struct unwind_page_slot {
	struct unwind_page_key key;
	struct unwind_page page; /* count 0: the rows are requested, or the page is reserved */
	uint64_t span;		 /* of the rows, in the arena */
	bool published;
	bool asked; /* for a file's page with rows: those that are UNWIND_NOT_MADE are requested */
	/* list of the owner; link is NULL if the slot is in no list */
	struct unwind_page_slot *next, **link;
};

struct unwind_pages {
	const struct unwind_tables *tables; /* borrowed */
	struct unwind_page_slot *slots;
	uint32_t used;	 /* slots[used] and later were never used */
	uint32_t vacant; /* head of the free list, as slot number + 1; 0: empty */
	struct index_map index;
	struct unwind_arena files, code;
	uint64_t evicted; /* pages dropped to make room for others */
	/*
	 * the slot whose rows are being replaced; NULL once its old rows were evicted for the new
	 * ones
	 */
	struct unwind_page_slot *renewed;
};

/* Returns 0 or -ENOMEM. */
int unwind_pages_init(struct unwind_pages *pages, const struct unwind_tables *tables);
void unwind_pages_deinit(struct unwind_pages *pages); /* zero-initialized is allowed */

/* Returns the slot of a page, or NULL. Valid until the next change. */
struct unwind_page_slot *unwind_pages_find(const struct unwind_pages *pages,
					   struct unwind_page_key key);

/* Add a slot for a page whose rows are requested. Returns 0, -EBUSY (no slot free), -ENOMEM. */
int unwind_pages_ask(struct unwind_pages *pages, struct unwind_page_key key);

/* The largest number of rows that a page of this owner can have. */
uint32_t unwind_pages_rows_max(const struct unwind_pages *pages, uint32_t owner);

/*
 * Publish an empty page of code in place of its rows. A BPF program that sees
 * code change in the page removes it. So unwind_pages_fill() publishes rows
 * only if nothing has changed since. Returns the slot, in no list, or NULL if
 * there is no free slot.
 */
struct unwind_page_slot *unwind_pages_reserve(struct unwind_pages *pages,
					      struct unwind_page_key key);

/* Publish rows for a reserved page. If a BPF program has removed it, the slot is dropped. */
void unwind_pages_fill(struct unwind_pages *pages, struct unwind_page_slot *slot,
		       const struct unwind_row *rows, uint32_t count);

/*
 * Publish new rows of a published page of code in place of its rows. A BPF program that sees code
 * change in the page removes it. So if the page is still there, no code has changed since its rows
 * were published, and the new rows only add code that was analyzed since. A walk that has looked up
 * the old rows may still use them: they stay correct, and their space is not reused at once
 * (unwind_arena.h). The callers that walks have found stay valid.
 *
 * The slot is dropped if the page was removed, or if the new rows contradict the old ones. Returns
 * true if the new rows are published.
 */
bool unwind_pages_renew(struct unwind_pages *pages, struct unwind_page_slot *slot,
			const struct unwind_row *rows, uint32_t count);

/*
 * Store and publish 1..unwind_pages_rows_max() rows of a file's page. They replace the page's
 * old rows, and may evict other pages. Returns the slot, or NULL if memory is short.
 */
struct unwind_page_slot *unwind_pages_put(struct unwind_pages *pages, struct unwind_page_key key,
					  const struct unwind_row *rows, uint32_t count);

/* Add a slot that is in no list to *list. unwind_pages_drop() removes it. */
void unwind_pages_link(struct unwind_page_slot *slot, struct unwind_page_slot **list);

/* Try again to publish a page; failure leaves slot->published false. */
void unwind_pages_publish(struct unwind_pages *pages, struct unwind_page_slot *slot);

/* Returns the row for pc, an offset in the page. The page must have rows. */
struct unwind_row unwind_pages_row(const struct unwind_pages *pages,
				   const struct unwind_page_slot *slot, uint16_t pc);

/* Unpublish a page or cancel its request, and free the slot. */
void unwind_pages_drop(struct unwind_pages *pages, struct unwind_page_slot *slot);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/tables/unwind_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"

/* Together less than UNWIND_PAGES_MAX, the size of the kernel's table. */
#define FILE_PAGES_MAX (UNWIND_PAGES_MAX / 4 * 3)
#define CODE_PAGES_MAX (UNWIND_PAGES_MAX / 8)
#define SLOTS_MAX      (FILE_PAGES_MAX + CODE_PAGES_MAX + UNWIND_PAGES_MAX / 16)

int unwind_pages_init(struct unwind_pages *pages, const struct unwind_tables *tables)
{
	uint32_t for_files = tables->row_count / 4 * 3;
	int err;

	*pages = (struct unwind_pages){.tables = tables};
	pages->slots = calloc(SLOTS_MAX, sizeof(*pages->slots));
	if (!pages->slots)
		return -ENOMEM;
	err = unwind_arena_init(&pages->files, 0, for_files, FILE_PAGES_MAX);
	return err
		       ?: unwind_arena_init(&pages->code, for_files, tables->row_count - for_files,
					    CODE_PAGES_MAX);
}

void unwind_pages_deinit(struct unwind_pages *pages)
{
	unwind_arena_deinit(&pages->files);
	unwind_arena_deinit(&pages->code);
	index_map_deinit(&pages->index);
	free(pages->slots);
}

static uint64_t hash_of(struct unwind_page_key key)
{
	return hash_mix(key.owner, key.page);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return !memcmp(&((const struct unwind_page_slot *)items)[item].key, key,
		       sizeof(struct unwind_page_key));
}

struct unwind_page_slot *unwind_pages_find(const struct unwind_pages *pages,
					   struct unwind_page_key key)
{
	uint32_t number = index_map_find(&pages->index, hash_of(key), equal, pages->slots, &key);

	return number == INDEX_MAP_NONE ? NULL : &pages->slots[number];
}

static struct unwind_arena *arena_of(struct unwind_pages *pages, uint32_t owner)
{
	return owner & UNWIND_OWNER_CODE ? &pages->code : &pages->files;
}

uint32_t unwind_pages_rows_max(const struct unwind_pages *pages, uint32_t owner)
{
	uint32_t most = unwind_arena_most(arena_of((struct unwind_pages *)pages, owner));

	return most < UNWIND_PAGE_ROWS_MAX ? most : UNWIND_PAGE_ROWS_MAX;
}

int unwind_pages_ask(struct unwind_pages *pages, struct unwind_page_key key)
{
	struct unwind_page_slot *slot;
	uint32_t number;

	if (pages->vacant)
		number = pages->vacant - 1;
	else if (pages->used < SLOTS_MAX)
		number = pages->used;
	else
		return -EBUSY;
	if (index_map_insert(&pages->index, hash_of(key), number))
		return -ENOMEM;
	slot = &pages->slots[number];
	if (pages->vacant)
		pages->vacant = slot->page.first;
	else
		pages->used++;
	*slot = (struct unwind_page_slot){.key = key};
	return 0;
}

/* Free a slot, but not its span: after an eviction the span is no longer the slot's. */
static void forget(struct unwind_pages *pages, struct unwind_page_slot *slot)
{
	uint32_t number = (uint32_t)(slot - pages->slots);

	if (slot->published)
		pages->tables->unpublish_page(pages->tables->context, slot->key);
	if (slot->link) {
		*slot->link = slot->next;
		if (slot->next)
			slot->next->link = slot->link;
	}
	index_map_remove(&pages->index, hash_of(slot->key), number);
	*slot = (struct unwind_page_slot){.page.first = pages->vacant};
	pages->vacant = number + 1;
}

void unwind_pages_drop(struct unwind_pages *pages, struct unwind_page_slot *slot)
{
	if (slot->page.count)
		unwind_arena_give_back(arena_of(pages, slot->key.owner), slot->span);
	forget(pages, slot);
}

static void evict(void *context, uint32_t holder)
{
	struct unwind_pages *pages = context;
	struct unwind_page_slot *slot = &pages->slots[holder];

	pages->evicted++;
	if (slot == pages->renewed) { /* its slot stays, for the new rows */
		pages->tables->unpublish_page(pages->tables->context, slot->key);
		pages->renewed = NULL;
		return;
	}
	forget(pages, slot);
}

void unwind_pages_publish(struct unwind_pages *pages, struct unwind_page_slot *slot)
{
	slot->published =
		!pages->tables->publish_page(pages->tables->context, slot->key, slot->page);
}

static void place(struct unwind_pages *pages, struct unwind_page_slot *slot,
		  const struct unwind_row *rows, uint32_t count)
{
	slot->span =
		unwind_arena_take(arena_of(pages, slot->key.owner), count,
				  (uint32_t)(slot - pages->slots), evict, pages, &slot->page.first);
	slot->page.count = count;
	memcpy(pages->tables->rows + slot->page.first, rows, count * sizeof(*rows));
}

struct unwind_page_slot *unwind_pages_reserve(struct unwind_pages *pages,
					      struct unwind_page_key key)
{
	struct unwind_page_slot *slot = unwind_pages_find(pages, key);

	if (slot)
		unwind_pages_drop(pages, slot);
	if (unwind_pages_ask(pages, key))
		return NULL;
	slot = unwind_pages_find(pages, key);
	unwind_pages_publish(pages, slot);
	if (slot->published)
		return slot;
	unwind_pages_drop(pages, slot);
	return NULL;
}

void unwind_pages_fill(struct unwind_pages *pages, struct unwind_page_slot *slot,
		       const struct unwind_row *rows, uint32_t count)
{
	place(pages, slot, rows, count);
	if (pages->tables->replace_page(pages->tables->context, slot->key, slot->page))
		unwind_pages_drop(pages, slot);
}

static bool is_same(const struct unwind_row *a, const struct unwind_row *b)
{
	const int32_t not_made = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);

	return a->cfa == not_made || b->cfa == not_made || (a->cfa == b->cfa && a->rbp == b->rbp);
}

/* Returns true if no offset has different rows in both of two pages. */
static bool agree(const struct unwind_row *a, uint32_t a_count, const struct unwind_row *b,
		  uint32_t b_count)
{
	const struct unwind_row *a_last = a + a_count - 1, *b_last = b + b_count - 1;

	for (;;) {
		uint32_t a_end = a < a_last ? a[1].pc : UNWIND_PAGE_BYTES;
		uint32_t b_end = b < b_last ? b[1].pc : UNWIND_PAGE_BYTES;

		if (!is_same(a, b))
			return false;
		if (a_end == UNWIND_PAGE_BYTES && b_end == UNWIND_PAGE_BYTES)
			return true;
		a += a_end <= b_end;
		b += b_end <= a_end;
	}
}

bool unwind_pages_renew(struct unwind_pages *pages, struct unwind_page_slot *slot,
			const struct unwind_row *rows, uint32_t count)
{
	const struct unwind_page_slot old = *slot;
	bool renewed = false;

	if (agree(pages->tables->rows + old.page.first, old.page.count, rows, count)) {
		pages->renewed = slot;
		place(pages, slot, rows, count);
		if (pages->renewed)
			unwind_arena_give_back(&pages->code, old.span);
		pages->renewed = NULL;
		renewed =
			!pages->tables->replace_page(pages->tables->context, slot->key, slot->page);
	}
	if (!renewed)
		unwind_pages_drop(pages, slot);
	return renewed;
}

struct unwind_page_slot *unwind_pages_put(struct unwind_pages *pages, struct unwind_page_key key,
					  const struct unwind_row *rows, uint32_t count)
{
	struct unwind_page_slot *slot = unwind_pages_find(pages, key);

	if (slot && slot->page.count) {
		unwind_pages_drop(pages, slot);
		slot = NULL;
	}
	if (!slot && unwind_pages_ask(pages, key))
		return NULL;
	slot = slot ?: unwind_pages_find(pages, key);
	place(pages, slot, rows, count);
	unwind_pages_publish(pages, slot);
	return slot;
}

void unwind_pages_link(struct unwind_page_slot *slot, struct unwind_page_slot **list)
{
	slot->next = *list;
	if (slot->next)
		slot->next->link = &slot->next;
	slot->link = list;
	*list = slot;
}

struct unwind_row unwind_pages_row(const struct unwind_pages *pages,
				   const struct unwind_page_slot *slot, uint16_t pc)
{
	const struct unwind_row *rows = pages->tables->rows + slot->page.first;

	return rows[partition_point(1, slot->page.count, i, rows[i].pc <= pc) - 1];
}

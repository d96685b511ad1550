/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "unwind/code/code_page.h"
#include "unwind/tables/mapping_list.h"
#include "unwind/unwinder_found.h"
#include "unwind/unwinder_runtimes_state.h"

/* Limit of pages that are looked up one by one; beyond it, all pages of the process are dropped. */
#define CHANGED_PAGES_MAX 256

/* Limit of regions and gaps that code_page_rows() visits per round. */
#define ROUND_STRETCHES_MAX 16384

static struct unwind_page_slot *code_slot(const struct unwinder *u, const struct process *process,
					  uint64_t address)
{
	return unwind_pages_find(&u->pages, unwind_page_key(unwind_code_owner(process), address));
}

/* Returns true if the published rows of a page have a row for an address. */
static bool is_made(const struct unwinder *u, const struct unwind_page_slot *slot, uint64_t address)
{
	return slot && slot->published && slot->page.count &&
	       unwind_pages_row(&u->pages, slot, (uint16_t)address).cfa !=
		       UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
}

/* Returns true if the page was not scheduled before. */
static bool want_page(struct unwinder *u, const struct process *process, uint64_t address)
{
	struct unwind_page_key key;

	if (address >= USER_ADDRESS_END || is_made(u, code_slot(u, process, address), address))
		return false;
	key = unwind_page_key(unwind_code_owner(process), address);
	for (uint32_t i = 0; i < u->wanted_count; i++) {
		if (!memcmp(&u->wanted[i].key, &key, sizeof(key)))
			return false;
	}
	if (u->wanted_count == WANTED_PAGES_MAX)
		return false;
	u->wanted[u->wanted_count++] =
		(struct wanted_page){.process = process, .address = address, .key = key};
	return true;
}

void unwind_want_page(struct unwinder *u, const struct process *process, uint64_t address,
		      const struct code_region *region)
{
	uint64_t at = region ? region->address : 0, end = at;

	if (!want_page(u, process, address) || !region ||
	    engine_host_frames(region) != ENGINE_FRAMES_INTERPRETER)
		return;
	end += region->size_bytes;
	for (uint32_t i = 0; at < end && i < WANTED_PAGES_MAX; i++, at += UNWIND_PAGE_BYTES)
		want_page(u, process, at);
	want_page(u, process, end - 1);
}

void unwinder_process_changed(struct unwinder *u, const struct process *process)
{
	struct walked_process *walked = unwind_processes_find(&u->processes, process);

	u->changes[process->number % UNWIND_CHANGES]++;
	runtime_recipes_changed(&u->recipes, process, u->known_ns);
	if (process->exit_ns != UINT64_MAX)
		code_checks_exited(&u->checks, process);
	if (!walked)
		return;
	if (!walked_process_is_current(walked) || unwind_processes_mark(&u->processes, walked))
		unwind_processes_drop(&u->processes, walked);
}

/* Returns true if JIT code replaced file code, so that the mapping must be published as memory. */
static bool takes_files_place(const struct unwinder *u, const struct walked_process *walked,
			      uint64_t address)
{
	const struct unwind_mapping *mapping =
		unwind_processes_mapping(&u->processes, walked, address);

	return mapping && !(mapping->owner & UNWIND_OWNER_CODE);
}

void unwinder_forget_processes(struct unwinder *u, struct process *const *processes, size_t count)
{
	uint32_t kept = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		struct walked_process *walked = unwind_processes_find(&u->processes, processes[i]);

		if (walked)
			unwind_processes_drop(&u->processes, walked);
		runtime_recipes_forget(&u->recipes, processes[i], u->known_ns);
	}
	for (uint32_t i = 0; i < u->wanted_count; i++) {
		if (u->wanted[i].process->mappings)
			u->wanted[kept++] = u->wanted[i];
	}
	u->wanted_count = kept;
	unwind_regions_forget_retired(&u->regions);
	code_checks_forget_retired(&u->checks);
	found_code_forget_retired(&u->found);
}

void unwinder_code_changed(struct unwinder *u, const struct process *process, uint64_t address,
			   uint64_t size_bytes)
{
	struct walked_process *walked = unwind_processes_find(&u->processes, process);
	uint64_t page = address >> UNWIND_PAGE_SHIFT;
	uint64_t last = (address + size_bytes - 1) >> UNWIND_PAGE_SHIFT;

	u->changes[process->number % UNWIND_CHANGES]++;
	u->shared_changes += u->processes.sharing != NULL;
	if (!walked || !size_bytes)
		return;
	if (takes_files_place(u, walked, address))
		unwinder_process_changed(u, process);
	if (!walked->pages)
		return;
	if (last < page || last - page >= CHANGED_PAGES_MAX) {
		unwind_processes_drop_code(&u->processes, walked);
		return;
	}
	for (; page <= last && walked->pages; page++) {
		struct unwind_page_slot *slot = code_slot(u, process, page << UNWIND_PAGE_SHIFT);

		if (slot)
			unwind_pages_drop(&u->pages, slot);
	}
}

/* Make the rows of a page as far as they are known. Returns 0 with u->room set, or -ENOMEM. */
static int make_rows(struct unwinder *u, const struct wanted_page *wanted, uint32_t *ret_count)
{
	uint64_t start = (uint64_t)wanted->key.page << UNWIND_PAGE_SHIFT;
	int err;

	u->page_rows.rows.size = 0;
	err = code_page_rows(&u->regions, wanted->process, start,
			     unwind_finds_code(u, wanted->process), &u->stretches, &u->page_rows);
	if (!err)
		*ret_count = unwind_rows_page(&u->page_rows, 0, u->room,
					      unwind_pages_rows_max(&u->pages, wanted->key.owner));
	return err;
}

/* Publish rows for a page that was reserved in the previous round. */
static int fill_page(struct unwinder *u, struct wanted_page *wanted)
{
	struct unwind_page_slot *slot = unwind_pages_find(&u->pages, wanted->key);
	uint32_t count;
	int err;

	wanted->reserved = false;
	if (!slot || slot->page.count)
		return 0; /* the code or the process has changed since */
	err = make_rows(u, wanted, &count);
	if (!err)
		unwind_pages_fill(&u->pages, slot, u->room, count);
	return err;
}

/*
 * Publish the page again, with the rows that were made since. Returns 1 if that is done, 0 if the
 * page has to be reserved, or -ENOMEM.
 */
static int renew_page(struct unwinder *u, const struct wanted_page *wanted)
{
	struct unwind_page_slot *slot = unwind_pages_find(&u->pages, wanted->key);
	uint32_t count;
	int err;

	if (!slot || !slot->published || !slot->page.count)
		return 0;
	err = make_rows(u, wanted, &count);
	return err ?: unwind_pages_renew(&u->pages, slot, u->room, count);
}

/*
 * Renew a page, or reserve it. The kernel looks up only pages of JIT memory in published processes.
 */
static int prepare_page(struct unwinder *u, struct wanted_page *wanted)
{
	struct walked_process *walked = unwind_processes_find(&u->processes, wanted->process);
	const struct unwind_mapping *mapping;
	struct unwind_page_slot *slot;
	int done;

	if (!walked || !walked->published ||
	    is_made(u, code_slot(u, wanted->process, wanted->address), wanted->address))
		return 0;
	mapping = unwind_processes_mapping(&u->processes, walked, wanted->address);
	if (!mapping || !(mapping->owner & UNWIND_OWNER_CODE))
		return 0;
	done = renew_page(u, wanted);
	if (done)
		return done < 0 ? done : 0;
	slot = unwind_pages_reserve(&u->pages, wanted->key);
	if (!slot)
		return 0;
	unwind_processes_add_code(&u->processes, walked, slot);
	wanted->reserved = true;
	return 0;
}

/* Keep the reserved pages, which get their rows in the next round. */
static void keep_reserved(struct unwinder *u)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < u->wanted_count; i++) {
		if (u->wanted[i].reserved)
			u->wanted[kept++] = u->wanted[i];
	}
	u->wanted_count = kept;
}

int unwinder_publish(struct unwinder *u, uint64_t known_ns)
{
	int err = 0;

	if (known_ns > u->known_ns)
		u->known_ns = known_ns;
	unwind_processes_publish(&u->processes, u->known_ns);
	u->stretches = ROUND_STRETCHES_MAX;
	for (uint32_t i = 0; i < u->wanted_count && u->stretches && !err; i++) {
		err = u->wanted[i].reserved ? fill_page(u, &u->wanted[i])
					    : prepare_page(u, &u->wanted[i]);
	}
	keep_reserved(u);
	return err ?: unwind_runtimes_go_on(u);
}

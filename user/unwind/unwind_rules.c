/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>

#include "base/hash.h"
#include "runtimes/engine_host.h"
#include "unwind/tables/mapping_list.h"
#include "unwind/unwinder_found.h"
#include "state/code/code_region.h"
#include "state/process/process_code.h"

const struct unwind_row unwind_frame_pointer_row = {
	.cfa = UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER),
	.rbp = UNWIND_RBP_KEPT,
};

static const struct unwind_row row_not_made = {
	.cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE),
	.rbp = UNWIND_RBP_KEPT,
};

bool unwind_may_ask(const struct unwind_account *account, uint32_t limit)
{
	struct unwinder *u = account->unwinder;
	struct budget_owner *owner;
	bool may;

	if (owner_budget_get(&u->outstanding, process_owner_key(&account->process->owner), &owner))
		return false;
	/* A slot may be full of requests of other owners, whose pids share it. */
	may = (owner->used < limit ||
	       u->asked[account->process->pid % UNWIND_ASKED_SLOTS] < limit) &&
	      owner_budget_allows(&u->outstanding, owner, 1);
	owner_budget_put(&u->outstanding, owner);
	return may;
}

int unwind_ask(struct unwinder *u, const struct unwind_request *request)
{
	struct unwind_request paid = *request;
	int err = owner_budget_get(&u->outstanding, request->owner, &paid.payer);

	if (err)
		return err;
	err = u->service.request(u->service.context, &paid);
	if (err) {
		owner_budget_put(&u->outstanding, paid.payer);
		return err;
	}
	owner_budget_add(&u->outstanding, paid.payer, 1);
	u->asked[request->pid % UNWIND_ASKED_SLOTS]++;
	return 0;
}

void unwind_answered(struct unwinder *u, const struct unwind_request *request)
{
	u->asked[request->pid % UNWIND_ASKED_SLOTS]--;
	owner_budget_release(&u->outstanding, request->payer, 1);
	owner_budget_put(&u->outstanding, request->payer);
}

static int request_page(const struct unwind_account *account, const struct module *module,
			uint32_t page, bool slow)
{
	struct unwind_request request = {
		.kind = UNWIND_PAGE_ROWS,
		.pid = account->process->pid,
		.owner = process_owner_key(&account->process->owner),
		.page = {.module = module, .page = page, .slow = slow},
	};

	return unwind_ask(account->unwinder, &request);
}

static uint32_t slot_of(const struct module *module)
{
	return module->number & ((1u << MODULE_SLOT_BITS) - 1);
}

static bool was_walked(const struct unwinder *u, const struct module *module)
{
	uint32_t slot = slot_of(module);

	return slot < u->walked.size && u->walked.data[slot] == module->number + 1;
}

/* Note that a walk is in a module. Returns 0 or -ENOMEM. */
static int note_walked(struct unwinder *u, const struct module *module)
{
	while (u->walked.size <= slot_of(module)) {
		if (vec_push(&u->walked, 0))
			return -ENOMEM;
	}
	u->walked.data[slot_of(module)] = module->number + 1;
	return 0;
}

static int waits_for(struct unwinder *u, uint64_t key)
{
	u->key = key;
	return UNWIND_RULE_WAITS;
}

/* A request was not allowed. Each answer makes room for one. */
static int waits_for_room(struct unwinder *u)
{
	return waits_for(u, unwind_key(UNWIND_KEY_ROOM, 0, 0));
}

static int waits_for_page(struct unwinder *u, struct unwind_page_key key)
{
	return waits_for(u, unwind_key(UNWIND_KEY_PAGE, key.owner, key.page));
}

static int ask_page(const struct unwind_account *account, const struct module *module,
		    struct unwind_page_key key)
{
	struct unwinder *u = account->unwinder;
	int err;

	if (!unwind_may_ask(account, UNWIND_ASKED_MAX))
		return waits_for_room(u);
	if (account->ahead && !was_walked(u, module))
		return UNWIND_RULE_WAITS;
	if (!account->ahead && note_walked(u, module))
		return -ENOMEM;
	err = unwind_pages_ask(&u->pages, key);
	if (err)
		return err == -EBUSY ? waits_for_room(u) : err;
	err = request_page(account, module, key.page, false);
	if (err)
		unwind_pages_drop(&u->pages, unwind_pages_find(&u->pages, key));
	return err ?: waits_for_page(u, key);
}

/* Request the rest of a page's rows. */
static int ask_rest(const struct unwind_account *account, const struct module *module,
		    struct unwind_page_slot *slot)
{
	int err;

	if (slot->asked || account->ahead)
		return waits_for_page(account->unwinder, slot->key);
	if (!unwind_may_ask(account, UNWIND_ASKED_MAX))
		return waits_for_room(account->unwinder);
	err = request_page(account, module, slot->key.page, true);
	slot->asked = !err;
	return err ?: waits_for_page(account->unwinder, slot->key);
}

static int rule_of_file(const struct unwind_account *account, const struct code_site *site,
			struct unwind_row *ret)
{
	struct unwinder *u = account->unwinder;
	const struct module *module = module_table_get(u->modules, site->module);
	struct unwind_page_key key = unwind_page_key(site->module, site->offset);
	struct unwind_page_slot *slot;

	*ret = unwind_frame_pointer_row;
	if (!module || module == u->modules->rest || !unwind_offset_fits(site->offset))
		return 0;
	slot = unwind_pages_find(&u->pages, key);
	if (!slot || !slot->page.count) {
		*ret = row_not_made;
		return slot ? waits_for_page(u, key) : ask_page(account, module, key);
	}
	if (!slot->published)
		unwind_pages_publish(&u->pages, slot);
	*ret = unwind_pages_row(&u->pages, slot, (uint16_t)site->offset);
	return ret->cfa == row_not_made.cfa ? ask_rest(account, module, slot) : 0;
}

/* A number that no file has. */
static uint32_t memory_of(const struct process *process)
{
	return UNWIND_OWNER_CODE | (uint32_t)hash_mix(process->pid, process->start_ns);
}

enum return_site_state unwind_return_at(const struct unwind_account *account,
					const struct code_site *site, uint64_t return_address)
{
	struct unwinder *u = account->unwinder;
	struct unwind_request request = {
		.kind = UNWIND_RETURN_SITE,
		.pid = account->process->pid,
		.owner = process_owner_key(&account->process->owner),
		.return_site = {.to = return_address, .owner = memory_of(account->process)},
	};
	struct unwind_return_request *place = &request.return_site;
	enum return_site_state state;

	if (site->kind == LOCATION_NATIVE) {
		*place = (struct unwind_return_request){
			.module = module_table_get(u->modules, site->module),
			.to = site->offset + 1,
			.owner = site->module,
		};
		if (!place->module || place->module == u->modules->rest)
			return RETURN_SITE_CAN_NOT;
	}
	state = return_sites_find(&u->return_sites, place->owner, place->to);
	u->key = return_sites_key(place->owner, place->to);
	if (state != RETURN_SITE_NEW)
		return state;
	if (unwind_may_ask(account, UNWIND_ASKED_MAX) && !unwind_ask(u, &request))
		return_sites_asked(&u->return_sites, place->owner, place->to);
	else
		waits_for_room(u);
	return RETURN_SITE_WAITS;
}

/* Returns true if the code of a region can still be read from the process. */
static bool stands_there(const struct process *process, const struct code_region *region,
			 uint64_t address)
{
	struct code_site site = code_site_at(process, address, UINT64_MAX);

	return process->exit_ns == UINT64_MAX && site.kind == LOCATION_JIT &&
	       code_region_identity(site.region) == code_region_identity(region);
}

/*
 * Returns the copy of a region's code if it is complete, or if the code cannot
 * be read from the process any more; otherwise NULL.
 */
static const struct code_copy *copy_of(struct unwinder *u, const struct code_region *region,
				       bool stands)
{
	const struct code_copy *copy = NULL;

	if (unwind_regions_has_room(&u->regions))
		copy = code_copies_find(&u->large, code_region_identity(region));
	copy = copy ?: code_copies_find(&u->copies, code_region_identity(region));
	return copy && (copy->size_bytes == region->size_bytes || !stands) ? copy : NULL;
}

static int waits_for_region(struct unwinder *u, uint64_t identity)
{
	return waits_for(u, unwind_key(UNWIND_KEY_REGION, identity, 0));
}

static int ask_region(const struct unwind_account *account, const struct code_site *site,
		      uint64_t address)
{
	const struct process *process = account->process;
	const struct code_region *region = site->region;
	struct unwinder *u = account->unwinder;
	struct unwind_request request = {
		.kind = UNWIND_CODE_ROWS,
		.pid = process->pid,
		.owner = process_owner_key(&process->owner),
		.code = {.region = code_region_identity(region),
			 .address = address - site->offset,
			 .size_bytes = region->size_bytes},
	};
	struct unwind_code_request *code = &request.code;
	const struct code_copy *copy;
	bool stands;
	int err;

	if (!unwind_may_ask(account, UNWIND_ASKED_MAX))
		return waits_for_room(u);
	code->host = engine_host_find(process, u->modules, region);
	err = unwind_regions_ask(&u->regions, code->region, process, code->address);
	if (err)
		return err == -EBUSY ? waits_for_room(u) : err;
	stands = stands_there(process, region, address);
	copy = copy_of(u, region, stands);
	if (copy) {
		code->copy_bytes = copy->size_bytes;
		code->copy = unwind_regions_copied(&u->regions, code->region, copy->bytes,
						   copy->size_bytes);
		if (!code->copy) {
			unwind_regions_refuse(&u->regions, code->region);
			return -ENOMEM;
		}
	} else if (!stands) {
		unwind_regions_refuse(&u->regions, code->region);
		return 0;
	}
	err = unwind_ask(u, &request);
	if (err)
		unwind_regions_refuse(&u->regions, code->region);
	return err ?: waits_for_region(u, code->region);
}

static int rule_of_code(const struct unwind_account *account, const struct code_site *site,
			uint64_t address, struct unwind_row *ret)
{
	const struct unwind_region *region = unwind_regions_find(
		&account->unwinder->regions, code_region_identity(site->region));

	*ret = unwind_frame_pointer_row;
	if (!region || unwind_regions_is_due(&account->unwinder->regions, region))
		return ask_region(account, site, address);
	if (region->state == UNWIND_REGION_UNREAD || region->state == UNWIND_REGION_LATE ||
	    site->offset > UINT32_MAX)
		return 0;
	if (region->state != UNWIND_REGION_KNOWN)
		return waits_for_region(account->unwinder, region->identity);
	*ret = unwind_rows_at(&region->rows, (uint32_t)site->offset);
	return 0;
}

int unwind_rule_at(const struct unwind_account *account, const struct code_site *site,
		   uint64_t address, struct unwind_row *ret)
{
	switch (site->kind) {
	case LOCATION_NATIVE:
		return rule_of_file(account, site, ret);
	case LOCATION_JIT:
		return rule_of_code(account, site, address, ret);
	case LOCATION_ANON:
		*ret = unwind_frame_pointer_row;
		if (process_code_is_late(account->process))
			return waits_for(account->unwinder, 0);
		return unwind_find_code(account, address);
	default:
		*ret = unwind_frame_pointer_row;
		return 0;
	}
}

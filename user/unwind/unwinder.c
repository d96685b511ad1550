/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/record/sample_parts.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_ahead.h"
#include "unwind/unwinder_found.h"
#include "unwind/unwinder_runtimes_state.h"
#include "state/code/code_region.h"

DEFINE_CLEANUP(struct unwinder *, unwinder_destroy);

int unwinder_create(const struct unwind_service *service, const struct unwind_tables *tables,
		    const struct module_table *modules, struct unwinder **ret)
{
	CLEANUP(unwinder_destroyp) struct unwinder *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->service = *service;
	u->tables = *tables;
	u->modules = modules;
	u->outstanding.limit = UNWIND_OUTSTANDING_MAX;
	u->recipes.tables = &u->tables;
	u->recipes.budget.limit = RUNTIME_PROCESSES_MAX;
	u->functions.budget.limit = RUNTIME_FUNCTIONS_BYTES_MAX;
	u->room = calloc(UNWIND_PAGE_ROWS_MAX, sizeof(*u->room));
	if (!u->room)
		return -ENOMEM;
	u->return_sites.woken = u->recipes.woken = &u->woken;
	err = unwind_pages_init(&u->pages, &u->tables);
	err = err ?: unwind_processes_init(&u->processes, &u->tables, modules, &u->pages);
	err = err ?: unwind_regions_init(&u->regions);
	err = err ?: code_copies_init(&u->copies);
	err = err ?: code_copies_init(&u->large);
	err = err ?: code_checks_init(&u->checks);
	err = err ?: found_code_init(&u->found);
	if (err)
		return err;
	u->regions.woken = u->checks.woken = u->found.woken = &u->woken;
	u->checks.found = &u->found.pieces;
	u->checks.regions = &u->regions;
	u->large.budget.limit = UNWIND_LARGE_BYTES_MAX;
	u->large.copy_bytes_max = JITBPF_KEPT_CODE_MAX;
	*ret = TAKE_PTR(u);
	return 0;
}

void unwinder_destroy(struct unwinder *u)
{
	if (!u)
		return;
	sampled_functions_deinit(&u->functions);
	known_stacks_deinit(&u->known_stacks);
	runtime_recipes_deinit(&u->recipes);
	recipe_templates_deinit(&u->templates);
	code_checks_deinit(&u->checks);
	found_code_deinit(&u->found);
	code_copies_deinit(&u->large);
	code_copies_deinit(&u->copies);
	unwind_regions_deinit(&u->regions);
	owner_budget_deinit(&u->outstanding);
	vec_deinit(&u->walked);
	vec_deinit(&u->woken.keys);
	unwind_processes_deinit(&u->processes);
	unwind_pages_deinit(&u->pages);
	unwind_rows_deinit(&u->page_rows);
	free(u->room);
	free(u);
}

/* Publish the process again if it was published for another program or without some ranges. */
static int bring_up_to_date(struct unwinder *u, struct walked_process *walked,
			    const struct jitbpf_sample *sample, uint64_t stack_top)
{
	bool has_settled = replaced_mappings_forget(&walked->replaced_mappings, u->known_ns);

	if (sample->h.time_ns < walked->program_ns ||
	    (walked->published && walked->stack_top == stack_top && !has_settled))
		return 0;
	walked->stack_top = stack_top;
	return unwind_processes_mark(&u->processes, walked);
}

int unwinder_finish(struct unwinder *u, const struct process *process,
		    const struct jitbpf_sample *sample, bool last, struct unwind_wait *wait,
		    struct finished_stack *ret)
{
	struct unwind_account account = {.unwinder = u, .process = process};
	const struct jitbpf_stack_copy *copy = stack_copy_of(sample);
	uint64_t outstanding = u->outstanding.used;
	struct walked_process *walked;
	int err;

	if (!copy)
		return -EINVAL;
	err = unwind_processes_add(&u->processes, process, &walked);
	if (!err)
		err = bring_up_to_date(u, walked, sample, copy->stack_top);
	if (err && err != -ENOENT)
		return err;
	err = stack_walk(&account, sample, copy, last, wait, ret);
	if (!err) {
		u->finished += !wait->finished;
		wait->finished = true;
	} else if (u->outstanding.used > outstanding) {
		unwind_ask_ahead(u, process, sample, copy);
	}
	return err;
}

/* Append a piece of a site's code to its copy. */
static void add_piece(struct code_copies *copies, const struct code_site *site,
		      const struct process *process, const struct jitbpf_code *code)
{
	code_copies_add(copies, code_region_identity(site->region),
			process_owner_key(&process->owner), code);
}

void unwinder_code_copied(struct unwinder *u, const struct process *process,
			  const struct jitbpf_code *code)
{
	struct code_site site = code_site_at(process, code->address, code->h.time_ns);
	const struct code_claim *claim;

	/* The load may have been rejected: invalid, over a budget, or already replaced. */
	if (site.kind != LOCATION_JIT || site.offset || site.region->size_bytes != code->size_bytes)
		return;
	claim = code_region_claim(site.region, code->h.flags);
	if (!claim || claim->origin.sequence != code->sequence)
		return;
	add_piece(&u->copies, &site, process, code);
	if (code->size_bytes > CODE_COPIES_COPY_MAX)
		add_piece(&u->large, &site, process, code);
}

/*
 * The rows of a file's page cannot be made. Set u->room to the rows that the page has, with the
 * frame pointer rule where it has none. Returns their number.
 */
static uint32_t guess_rest(struct unwinder *u, const struct unwind_page_slot *slot)
{
	uint32_t count = slot->page.count;

	if (!count) {
		u->room[0] = unwind_frame_pointer_row;
		return 1;
	}
	memcpy(u->room, u->tables.rows + slot->page.first, count * sizeof(*u->room));
	for (uint32_t i = 0; i < count; i++) {
		if (u->room[i].cfa == UNWIND_CFA_COMMAND(UNWIND_NOT_MADE))
			u->room[i].cfa = unwind_frame_pointer_row.cfa;
	}
	return count;
}

static int take_page(struct unwinder *u, const struct unwind_answer *answer)
{
	const struct unwind_page_request *page = &answer->request.page;
	struct unwind_page_key key = {.owner = page->module->number, .page = page->page};
	struct unwind_page_slot *slot = unwind_pages_find(&u->pages, key);
	uint32_t count;

	unwind_wake(&u->woken, unwind_key(UNWIND_KEY_PAGE, key.owner, key.page));
	if (!slot || (slot->page.count && !page->slow))
		return 0;
	if (answer->error == -ETIMEDOUT) { /* not for good: the next stack requests it again */
		unwind_pages_drop(&u->pages, slot);
		return 0;
	}
	if (answer->error)
		count = guess_rest(u, slot);
	else
		count = unwind_rows_page(&answer->rows, 0, u->room,
					 unwind_pages_rows_max(&u->pages, key.owner));
	u->file_pages += !page->slow;
	return unwind_pages_put(&u->pages, key, u->room, count) ? 0 : -ENOMEM;
}

struct collecting {
	struct unwinder *unwinder;
	uint32_t came;
	bool answered;
};

/* Rows of a region. Code that was read is kept, to be compared with later. */
static int take_code(struct unwinder *u, const struct unwind_answer *answer)
{
	uint64_t region = answer->request.code.region;

	if (answer->bytes)
		code_copies_put(&u->copies, region, answer->bytes, answer->bytes_read);
	if (answer->bytes && u->keeps_code && answer->bytes_read > CODE_COPIES_COPY_MAX)
		code_copies_put(&u->large, region, answer->bytes, answer->bytes_read);
	return unwind_regions_take(&u->regions, answer);
}

static int take_answer(void *context, const struct unwind_answer *answer)
{
	const struct unwind_request *request = &answer->request;
	struct collecting *collecting = context;
	struct unwinder *u = collecting->unwinder;

	unwind_answered(u, request);
	collecting->answered = true;
	/* Code that was read waits for unwind_regions_settle(), which counts it. */
	collecting->came +=
		request->kind != UNWIND_CODE_ROWS || request->code.copy || answer->error;
	switch (request->kind) {
	case UNWIND_PAGE_ROWS:
		return take_page(u, answer);
	case UNWIND_CODE_ROWS:
		u->copies.payer = u->large.payer = request->owner;
		return take_code(u, answer);
	case UNWIND_CODE_CHECK:
		u->copies.payer = u->large.payer = request->owner;
		code_checks_take(&u->checks, &u->copies, answer);
		return 0;
	case UNWIND_RETURN_SITE:
		return_sites_take(&u->return_sites, request->return_site.owner,
				  request->return_site.to, answer->error, answer->can_return);
		return 0;
	case UNWIND_RUNTIME_CODE:
		return unwind_take_found(u, answer);
	case UNWIND_RUNTIME_FUNCTION:
		return unwind_take_function(u, answer);
	case UNWIND_RUNTIME_RECIPE:
		return unwind_take_recipe(u, answer);
	case UNWIND_PROGRAM:
		program_runtimes_take(&u->recipes.programs, request->program.module->number,
				      answer->engine, answer->error);
		return 0;
	}
	return 0;
}

int unwinder_collect(struct unwinder *u, uint64_t wait_ns, uint64_t known_ns)
{
	struct collecting collecting = {.unwinder = u};
	int err;

	if (known_ns > u->known_ns)
		u->known_ns = known_ns;
	u->checks.now_ns = u->regions.now_ns = u->found.now_ns = u->known_ns;
	err = u->service.collect(u->service.context, wait_ns, take_answer, &collecting);
	collecting.came += unwind_regions_settle(&u->regions, u->known_ns);
	if (collecting.answered || collecting.came)
		unwind_wake(&u->woken, unwind_key(UNWIND_KEY_ROOM, 0, 0));
	unwind_request_checks(u);
	return err ?: (int)collecting.came;
}

bool unwinder_take_woken(struct unwinder *u, uint64_t *ret, bool *ret_all)
{
	struct unwind_woken *woken = &u->woken;

	*ret_all = woken->all;
	woken->all = false;
	if (woken->taken == woken->keys.size) {
		woken->taken = woken->keys.size = 0;
		return *ret_all;
	}
	*ret = woken->keys.data[woken->taken++];
	return true;
}

void unwinder_keep_code(struct unwinder *u)
{
	u->large.budget.limit = UNWINDER_KEPT_BYTES_MAX;
	u->keeps_code = true;
}

/*
 * A region with rows has a copy of its load, or was in force when its code was read
 * (unwind_regions.h). Other copies may be of code that replaced it.
 */
bool unwinder_code_at(struct unwinder *u, const struct process *process, uint64_t address,
		      uint64_t time_ns, struct known_code *ret)
{
	struct code_site site = code_site_at(process, address, time_ns);
	const struct unwind_region *region;
	const struct code_copy *copy = NULL;
	uint64_t identity;

	if (site.kind != LOCATION_JIT)
		return false;
	identity = code_region_identity(site.region);
	region = unwind_regions_find(&u->regions, identity);
	if (!region || region->state != UNWIND_REGION_KNOWN)
		return false;
	copy = code_copies_find(&u->large, identity);
	copy = copy ?: code_copies_find(&u->copies, identity);
	if (!copy || !copy->size_bytes || copy->size_bytes > site.region->size_bytes)
		return false;
	*ret = (struct known_code){
		.identity = identity,
		.address = address - site.offset,
		.size_bytes = site.region->size_bytes,
		.bytes = copy->bytes,
		.bytes_known = copy->size_bytes,
	};
	return true;
}

struct unwinder_counts unwinder_counts(const struct unwinder *u)
{
	return (struct unwinder_counts){
		.finished = u->finished,
		.file_pages = u->file_pages,
		.code_regions = u->regions.known,
		.code_unread = u->regions.unread,
		.evicted = u->pages.evicted,
		.mappings_left_out = u->processes.left_out,
		.functions_unknown = u->functions_unknown,
	};
}

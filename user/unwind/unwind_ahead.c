/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwind_ahead.h"

#include <string.h>

#include "decode/record/sample_parts.h"
#include "unwind/unwinder_found.h"

#define PAGE_BITS	12
#define EMPTY_PAGES_MAX 64

/* Pages in which nothing is mapped that may be executed, by their numbers. */
struct empty_pages {
	uint64_t pages[EMPTY_PAGES_MAX];
	bool finds_code; /* code without a region can be found (unwind/code/found_code.h) */
};

/*
 * Most words that are no return addresses point to the same few pages of data. Returns false if
 * nothing is executable where a word points to.
 */
static bool may_be_code(struct empty_pages *empty, const struct process *process, uint64_t address,
			uint64_t time_ns, struct code_site *ret)
{
	uint64_t page = address >> PAGE_BITS, *slot = &empty->pages[page % EMPTY_PAGES_MAX];

	if (*slot == page)
		return false;
	*ret = code_site_at(process, address, time_ns);
	if (ret->kind == LOCATION_UNKNOWN)
		*slot = page;
	return ret->kind == LOCATION_NATIVE || ret->kind == LOCATION_JIT ||
	       (ret->kind == LOCATION_ANON && empty->finds_code);
}

/* Returns true if a request was made. Without memory, the walk itself fails. */
static bool ask(const struct unwind_account *account, const struct code_site *site,
		uint64_t address)
{
	const struct owner_budget *outstanding = &account->unwinder->outstanding;
	uint64_t before = outstanding->used;
	struct unwind_row row;

	return unwind_rule_at(account, site, address, &row) > 0 && outstanding->used > before;
}

void unwind_ask_ahead(struct unwinder *unwinder, const struct process *process,
		      const struct jitbpf_sample *sample, const struct jitbpf_stack_copy *copy)
{
	const struct unwind_account account = {unwinder, process, .ahead = true};
	bool may_ask = unwind_may_ask(&account, UNWIND_ASKED_MAX / 2);
	uint32_t asked = 0, size_bytes = copy->size_bytes;
	uint64_t time_ns = sample->h.time_ns, word;
	/* Page 0 has no code. */
	struct empty_pages empty = {.finds_code = unwind_finds_code(unwinder, process)};
	struct code_site site;

	for (uint32_t at = 0; may_ask && size_bytes - at >= sizeof(word); at += sizeof(word)) {
		if (copy->missing && stack_copy_misses(copy, at, sizeof(word)))
			continue;
		memcpy(&word, copy->data + at, sizeof(word));
		if (!word || word >= USER_ADDRESS_END ||
		    !may_be_code(&empty, process, word - 1, time_ns, &site) ||
		    !ask(&account, &site, word - 1))
			continue;
		may_ask = ++asked < UNWIND_AHEAD_MAX &&
			  unwind_may_ask(&account, UNWIND_ASKED_MAX / 2);
	}
}

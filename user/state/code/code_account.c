/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_account.h"

#include <errno.h>
#include <stdlib.h>

#include "state/code/code_map.h"
#include "state/space/space_history.h"

const struct code_budget code_budget_default = {
	.methods = 4u << 20,
	.name_bytes = 1u << 30,
	.lines = 64u << 20,
	.inlines = 4u << 20,
	.waiting = 64u << 10,
	.waiting_bytes = 16u << 20,
	.depth = CODE_LEVELS_MAX - 1,
};

int code_account_create(const struct code_budget *budget, struct code_account **ret)
{
	struct code_account *account = calloc(1, sizeof(*account));

	if (!account)
		return -ENOMEM;
	account->refs = 1;
	account->budget = *budget;
	if (account->budget.depth >= CODE_LEVELS_MAX)
		account->budget.depth = CODE_LEVELS_MAX - 1;
	*ret = account;
	return 0;
}

void code_account_put(struct code_account *account)
{
	if (!account || --account->refs)
		return;
	if (account->owner)
		owner_budget_put(account->memory, account->owner);
	code_text_set_deinit(&account->texts);
	free(account);
}

int code_account_set_owner(struct code_account *account, struct owner_budget *memory,
			   struct owner_key key)
{
	struct budget_owner *before = account->owner, *owner;
	int err = owner_budget_get(memory, key, &owner);

	if (err)
		return err;
	if (before) {
		owner_budget_move(memory, before, owner, account->bytes);
		owner_budget_put(memory, before);
	} else {
		owner_budget_add(memory, owner, account->bytes);
	}
	account->memory = memory;
	account->owner = owner;
	return 0;
}

/*
 * What the allocator takes for an object, and its entries in trees. When the object has ended, it
 * has an entry in the history instead, which is smaller.
 */
static uint64_t allocated_bytes(uint64_t bytes)
{
	return (bytes + sizeof(size_t) + 15) / 16 * 16 + CODE_ENTRY_BYTES;
}

_Static_assert(4 * sizeof(struct space_entry) / 3 <= CODE_ENTRY_BYTES,
	       "an entry of a history that is three quarters full");

int code_account_charge(struct code_account *account, uint64_t bytes)
{
	return code_account_charge_with(account, bytes, 0);
}

int code_account_charge_with(struct code_account *account, uint64_t bytes, uint64_t shared_bytes)
{
	bytes = allocated_bytes(bytes) + shared_bytes;
	account->starved =
		(account->charges && charge_log_refuses(account->charges)) ||
		(account->owner && owner_budget_charge(account->memory, account->owner, bytes));
	if (account->charges)
		charge_log_note(account->charges, account->starved);
	if (account->starved)
		return -EDQUOT;
	account->bytes += bytes;
	return 0;
}

void code_account_skip_charge(struct code_account *account)
{
	if (account->charges)
		charge_log_note(account->charges, true);
}

void code_account_count_refused(struct code_account *account)
{
	account->counts.over_budget++;
	if (account->starved && account->owner)
		account->owner->refused++;
}

void code_account_release(struct code_account *account, uint64_t bytes)
{
	code_account_release_shared(account, allocated_bytes(bytes));
}

void code_account_release_shared(struct code_account *account, uint64_t shared_bytes)
{
	if (account->owner)
		owner_budget_release(account->memory, account->owner, shared_bytes);
	account->bytes -= shared_bytes;
}

/* The sums cannot overflow: each term is a size of something in memory. */
bool code_account_fits(const struct code_account *account, uint64_t name_bytes, uint64_t lines)
{
	return account->name_bytes + name_bytes <= account->budget.name_bytes &&
	       account->lines + lines <= account->budget.lines && name_bytes <= UINT32_MAX &&
	       lines <= CODE_OWN_LINES_MAX;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch/shared_rows.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "pipeline/analysis/epoch/epoch.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct shared_row *row = (const struct shared_row *)items + item, *key = key_;

	return !memcmp(&row->key, &key->key, sizeof(key->key));
}

static uint64_t hash_of(const struct shared_row_key *key)
{
	return hash_bytes(key, sizeof(*key), 0);
}

static struct shared_row *find(const struct epoch *epoch, const struct shared_row_key *key)
{
	const struct shared_row wanted = {.key = *key};
	uint32_t item = index_map_find(&epoch->shared_index, hash_of(key), equal,
				       epoch->shared.data, &wanted);

	return item == INDEX_MAP_NONE ? NULL : &epoch->shared.data[item];
}

/* The memory of a shared_row is part of EPOCH_ROW_BYTES. */
static int find_or_add(struct epoch *epoch, const struct shared_row_key *key,
		       struct shared_row **ret)
{
	const struct shared_row wanted = {.key = *key};
	uint32_t item;

	if (vec_intern(&epoch->shared, &epoch->shared_index, hash_of(key), equal, &wanted, &item) <
	    0)
		return -ENOMEM;
	*ret = &epoch->shared.data[item];
	return 0;
}

bool shared_rows_wanted(const struct epoch *epoch, const struct shared_row_key *key)
{
	const struct shared_row *row;

	if (!key->comm || !epoch_uses_16ths(epoch, 4)) /* without a name, none can be shared */
		return false;
	row = find(epoch, key);
	return (row && row->owned >= SHARED_ROWS_MANY) || epoch_uses_16ths(epoch, 14) ||
	       (row && row->owned >= SHARED_ROWS_SOME && epoch_uses_16ths(epoch, 8));
}

bool shared_rows_join_threads(const struct epoch *epoch)
{
	return epoch_uses_16ths(epoch, 14);
}

int shared_rows_note(struct epoch *epoch, const struct shared_row_key *key)
{
	struct shared_row *row;
	int err = find_or_add(epoch, key, &row);

	if (!err)
		row->owned++;
	return err;
}

static int add_row(struct epoch *epoch, const struct shared_row_key *key, uint32_t *ret)
{
	const struct ledger_process added = {
		.comm = key->comm,
		.container = key->container,
		.unit = key->unit,
	};

	return epoch_new_row(epoch, &added, ret);
}

/* Get the row of all processes of a payer that have no other row. */
static int row_of_others(struct epoch *epoch, uint32_t payer, uint32_t *ret)
{
	struct shared_row_key key = {.payer = payer};
	uint32_t number = epoch->payers.data[payer].row;
	int err = 0;

	if (!number) {
		err = epoch_others(epoch, payer, &key.comm);
		err = err ?: add_row(epoch, &key, &number);
		if (err)
			return err;
		epoch->payers.data[payer].row = ++number;
	}
	*ret = number - 1;
	return 0;
}

/* Returns -EDQUOT if there is no room for a row. */
static int row_of(struct epoch *epoch, const struct shared_row_key *key, uint32_t *ret)
{
	struct shared_row *shared = find(epoch, key);
	int err = 0;

	if (!shared || !shared->row) {
		if (!key->comm || !epoch_pay(epoch, EPOCH_ROW_BYTES))
			return -EDQUOT;
		err = find_or_add(epoch, key, &shared);
		err = err ?: add_row(epoch, key, ret);
		if (err)
			return err;
		shared->row = *ret + 1;
	}
	*ret = shared->row - 1;
	return 0;
}

int shared_rows_enter(struct epoch *epoch, const struct shared_row_key *key, uint32_t *row)
{
	uint32_t now;
	int err = row_of(epoch, key, &now);

	if (err == -EDQUOT)
		err = row_of_others(epoch, key->payer, &now);
	if (!err && now != *row)
		epoch->ledger.processes.data[now].processes++;
	if (!err)
		*row = now;
	return err;
}

bool shared_rows_is_of(const struct epoch *epoch, uint32_t row, const struct shared_row_key *key)
{
	const struct shared_row *shared = find(epoch, key);

	return shared && shared->row == row + 1;
}

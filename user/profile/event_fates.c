/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/event_fates.h"

#include <errno.h>
#include <string.h>

int event_rows_get(struct event_rows *rows, uint32_t row, struct event_fates **ret)
{
	bool added;

	while (rows->places.size <= row) {
		if (vec_push(&rows->places, 0u))
			return -ENOMEM;
	}
	added = !rows->places.data[row];
	if (added) {
		if (vec_push(&rows->rows, (struct event_fates){0}))
			return -ENOMEM;
		rows->places.data[row] = (uint32_t)rows->rows.size;
	}
	*ret = &rows->rows.data[rows->places.data[row] - 1];
	return added;
}

static struct ledger_process with_fates(struct ledger_process row, const struct event_fates *fates)
{
	row.samples = fates->samples;
	row.changed_round = (uint32_t)fates->changed_round;
	return row;
}

int event_rows_ledger(const struct event_rows *rows, const struct ledger *from, struct ledger *ret)
{
	static const struct event_fates none;
	__typeof__(ret->processes) own;

	if (vec_reserve(&ret->processes, from->processes.size))
		return -ENOMEM;
	own = ret->processes;
	own.size = 0;
	vec_for_each (process, &from->processes) {
		uint32_t place = own.size < rows->places.size ? rows->places.data[own.size] : 0;

		own.data[own.size++] =
			with_fates(*process, place ? &rows->rows.data[place - 1] : &none);
	}
	*ret = *from;
	ret->processes = own;
	memset(&ret->changed_blocks, 0, sizeof(ret->changed_blocks));
	ret->samples = rows->all.samples;
	return 0;
}

void event_rows_deinit(struct event_rows *rows)
{
	vec_deinit(&rows->places);
	vec_deinit(&rows->rows);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/event_fields.h"

#include <errno.h>

#include "decode/record/scope_table.h"

int event_take_string(struct cursor *c, size_t size_bytes, struct code_string *ret,
		      uint32_t *unknown)
{
	const void *bytes;
	int err = cursor_take(c, size_bytes, &bytes);

	if (err)
		return err;
	if (ret->bytes)
		(*unknown)++;
	else
		*ret = (struct code_string){.bytes = bytes, .size_bytes = size_bytes};
	return 0;
}

int event_take_items(struct cursor *c, size_t size_bytes, size_t item_bytes, const void **ret,
		     size_t *ret_count, uint32_t *unknown)
{
	const void *items;
	int err = cursor_take(c, size_bytes, &items);

	if (err)
		return err;
	if (size_bytes % item_bytes)
		return -EBADMSG;
	if (*ret) {
		(*unknown)++;
		return 0;
	}
	*ret = items;
	*ret_count = size_bytes / item_bytes;
	return 0;
}

int event_take_scopes(struct cursor *c, size_t size_bytes, const void **ret, size_t *ret_bytes,
		      uint32_t *unknown)
{
	struct scope_table table;
	const void *scopes;
	int err = cursor_take(c, size_bytes, &scopes);

	err = err ?: scope_table_decode(scopes, size_bytes, &table);
	if (err)
		return err;
	if (*ret) {
		(*unknown)++;
		return 0;
	}
	*ret = scopes;
	*ret_bytes = size_bytes;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_blob.h"

#include <errno.h>
#include <string.h>

#include "runtimes/hotspot/hotspot_stubs.h"

static int read_int(const struct process_memory *memory, uint64_t address, int32_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

/* Where the instructions are: two addresses, or two offsets. */
static int read_code(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		     struct hotspot_blob *blob)
{
	int32_t from, to;
	int err;

	if (layout->form == HOTSPOT_CODE_ADDRESSES) {
		err = process_memory_word(memory, blob->start + layout->code_start,
					  &blob->code_start);
		return err
			       ?: process_memory_word(memory, blob->start + layout->code_end,
						      &blob->code_end);
	}
	err = read_int(memory, blob->start + layout->code_start, &from);
	err = err ?: read_int(memory, blob->start + layout->code_end, &to);
	if (err)
		return err;
	blob->code_start = blob->start + (uint32_t)from;
	blob->code_end = blob->start + (uint32_t)to;
	return 0;
}

static int read_kind(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		     struct hotspot_blob *blob)
{
	uint64_t name;
	uint8_t kind;
	int err = 0;

	if (layout->form == HOTSPOT_CODE_OFFSETS) {
		err = process_memory_read(memory, blob->start + layout->blob_kind, &kind,
					  sizeof(kind));
		blob->is_compiled = !err && kind == layout->kind_compiled;
		if (err || blob->is_compiled)
			return err;
	}
	err = process_memory_word(memory, blob->start + layout->blob_name, &name);
	err = err ?: hotspot_read_name(memory, name, blob->name, HOTSPOT_BLOB_NAME_MAX);
	if (!err && layout->form == HOTSPOT_CODE_ADDRESSES)
		blob->is_compiled =
			!strcmp(blob->name, "nmethod") || !strcmp(blob->name, "native nmethod");
	return err;
}

int hotspot_blob_read(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		      const struct hotspot_block *block, struct hotspot_blob *ret)
{
	struct hotspot_blob blob = {.start = block->start};
	int32_t bytes;
	int err = read_int(memory, blob.start + layout->blob_size, &bytes);

	if (!err && (bytes <= 0 || (uint64_t)bytes > block->end - block->start))
		return -EBADMSG;
	err = err ?: read_code(memory, layout, &blob);
	err = err ?: read_kind(memory, layout, &blob);
	if (err)
		return err;
	blob.end = blob.start + (uint32_t)bytes;
	if (blob.code_start < blob.start || blob.code_start > blob.code_end ||
	    blob.code_end > blob.end)
		return -EBADMSG;
	*ret = blob;
	return 0;
}

/* Set a part to [from, to) behind an address; empty if that is outside of [0, bytes). */
static void set_part(struct hotspot_part *part, uint64_t start, int64_t from, int64_t to,
		     int64_t bytes)
{
	*part = (struct hotspot_part){0};
	if (from >= 0 && from < to && to <= bytes)
		*part = (struct hotspot_part){start + (uint64_t)from, (uint64_t)(to - from)};
}

/* Its tables are behind its instructions. */
static int read_tables_inside(const struct process_memory *memory,
			      const struct hotspot_code_layout *layout,
			      const struct hotspot_blob *blob, struct hotspot_compiled *ret)
{
	int64_t bytes = (int64_t)(blob->end - blob->start);
	int32_t pcs, pcs_end, metadata;
	uint64_t data;
	int err = read_int(memory, blob->start + layout->scopes_pcs, &pcs);

	err = err ?: read_int(memory, blob->start + layout->scopes_pcs_end, &pcs_end);
	err = err ?: read_int(memory, blob->start + layout->metadata, &metadata);
	err = err ?: process_memory_word(memory, blob->start + layout->scopes_data, &data);
	if (err)
		return err;
	if (data < blob->start || data > blob->end)
		return 0;
	set_part(&ret->metadata, blob->start, metadata, (int64_t)(data - blob->start), bytes);
	set_part(&ret->data, blob->start, (int64_t)(data - blob->start), pcs, bytes);
	set_part(&ret->pcs, blob->start, pcs, pcs_end, bytes);
	return 0;
}

/* Its tables are in memory of their own, but for the metadata, which are beside relocations. */
static int read_tables_outside(const struct process_memory *memory,
			       const struct hotspot_code_layout *layout,
			       const struct hotspot_blob *blob, struct hotspot_compiled *ret)
{
	uint64_t immutable, mutable;
	int32_t pcs, data, bytes, relocation_bytes, mutable_bytes;
	int err = read_int(memory, blob->start + layout->scopes_pcs, &pcs);

	err = err ?: read_int(memory, blob->start + layout->scopes_data_offset, &data);
	err = err ?: read_int(memory, blob->start + layout->immutable_bytes, &bytes);
	err = err ?: read_int(memory, blob->start + layout->relocation_bytes, &relocation_bytes);
	err = err ?: read_int(memory, blob->start + layout->mutable_bytes, &mutable_bytes);
	err = err ?: process_memory_word(memory, blob->start + layout->immutable, &immutable);
	err = err ?: process_memory_word(memory, blob->start + layout->mutable, &mutable);
	if (err)
		return err;
	set_part(&ret->metadata, mutable, relocation_bytes, mutable_bytes, mutable_bytes);
	set_part(&ret->pcs, immutable, pcs, data, bytes);
	set_part(&ret->data, immutable, data, bytes, bytes);
	return 0;
}

int hotspot_compiled_read(const struct process_memory *memory,
			  const struct hotspot_code_layout *layout, const struct hotspot_blob *blob,
			  struct hotspot_compiled *ret)
{
	struct hotspot_compiled compiled = {0};
	int err = process_memory_word(memory, blob->start + layout->compiled_method,
				      &compiled.method);

	if (!err && !compiled.method)
		return -ENOENT;
	err = err
		      ?: process_memory_read(memory, blob->start + layout->compile_id,
					     &compiled.compile_id, sizeof(compiled.compile_id));
	if (!err)
		err = layout->form == HOTSPOT_CODE_ADDRESSES
			      ? read_tables_inside(memory, layout, blob, &compiled)
			      : read_tables_outside(memory, layout, blob, &compiled);
	if (!err)
		*ret = compiled;
	return err;
}

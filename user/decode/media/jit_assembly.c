/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/media/jit_assembly.h"

#include <errno.h>
#include <string.h>

/* A decoded part: its header and the fields behind it. */
struct part {
	struct jitbpf_jit_header header;
	const uint8_t *fields;
	size_t field_bytes;
};

static struct jit_assembly_slot *find(struct jit_assembly *assembly, uint32_t tid)
{
	vec_for_each (slot, &assembly->slots) {
		if (slot->tid == tid)
			return slot;
	}
	return NULL;
}

static void drop_fields(struct jit_assembly *assembly, struct jit_assembly_slot *slot)
{
	assembly->bytes -= slot->fields.size;
	vec_deinit(&slot->fields);
}

/* Remove a slot. The last slot moves to its place. */
static void remove_slot(struct jit_assembly *assembly, struct jit_assembly_slot *slot)
{
	drop_fields(assembly, slot);
	*slot = assembly->slots.data[--assembly->slots.size];
}

/* Drop a record and count it once; its later parts are skipped. */
static void give_up(struct jit_assembly *assembly, struct jit_assembly_slot *slot, uint64_t *count)
{
	drop_fields(assembly, slot);
	if (!slot->given_up)
		(*count)++;
	slot->given_up = true;
}

/* Returns the stalest slot with fields, except for `but`; or NULL. */
static struct jit_assembly_slot *stalest(struct jit_assembly *assembly,
					 const struct jit_assembly_slot *but)
{
	struct jit_assembly_slot *found = NULL;

	vec_for_each (slot, &assembly->slots) {
		if (slot != but && slot->fields.size && (!found || slot->touched < found->touched))
			found = slot;
	}
	return found;
}

/* Add a slot for a thread that has none. */
static int add_slot(struct jit_assembly *assembly, uint32_t tid,
		    const struct jitbpf_jit_header *header, struct jit_assembly_slot **ret)
{
	struct jit_assembly_slot *oldest = assembly->slots.data;

	if (assembly->slots.size >= JIT_ASSEMBLY_THREADS) {
		vec_for_each (slot, &assembly->slots) {
			if (slot->touched < oldest->touched)
				oldest = slot;
		}
		give_up(assembly, oldest, &assembly->over_budget);
		remove_slot(assembly, oldest);
	}
	if (vec_push(&assembly->slots, ((struct jit_assembly_slot){.tid = tid, .header = *header})))
		return -ENOMEM;
	*ret = &assembly->slots.data[assembly->slots.size - 1];
	return 0;
}

/* Append a part's fields to its record, or drop the record if it becomes too large. */
static int append(struct jit_assembly *assembly, struct jit_assembly_slot *slot,
		  const struct part *part)
{
	if (part->field_bytes > JIT_ASSEMBLY_BYTES - slot->fields.size) {
		give_up(assembly, slot, &assembly->over_budget);
		return 0;
	}
	if (vec_reserve(&slot->fields, slot->fields.size + part->field_bytes))
		return -ENOMEM;
	while (assembly->bytes + part->field_bytes > JIT_ASSEMBLY_BYTES) {
		struct jit_assembly_slot *other = stalest(assembly, slot);

		if (!other)
			break;
		give_up(assembly, other, &assembly->over_budget);
	}
	if (part->field_bytes)
		memcpy(slot->fields.data + slot->fields.size, part->fields, part->field_bytes);
	slot->fields.size += part->field_bytes;
	assembly->bytes += part->field_bytes;
	return 0;
}

/*
 * Find or add the slot of the record that a part belongs to. If the part does not follow the
 * previous one, parts are missing: of the thread's unfinished record, of this one, or of both.
 */
static int slot_of(struct jit_assembly *assembly, uint32_t tid,
		   const struct jitbpf_jit_header *header, struct jit_assembly_slot **ret)
{
	struct jit_assembly_slot *slot = find(assembly, tid);
	int err;

	if (slot && header->part && slot->header.sequence == header->sequence &&
	    slot->header.part_count == header->part_count) {
		if (slot->next_part != header->part)
			give_up(assembly, slot, &assembly->incomplete);
		*ret = slot;
		return 0;
	}
	if (slot) {
		give_up(assembly, slot, &assembly->incomplete);
		remove_slot(assembly, slot);
	}
	err = add_slot(assembly, tid, header, &slot);
	if (err)
		return err;
	if (header->part)
		give_up(assembly, slot, &assembly->incomplete);
	*ret = slot;
	return 0;
}

static int complete(struct jit_assembly *assembly, const struct jitbpf_jit_header *header,
		    const void *fields, size_t size_bytes, struct jit_event *ret_event,
		    bool *ret_complete)
{
	int err = jit_fields_decode(header, fields ? fields : "", size_bytes, ret_event);

	if (err)
		assembly->malformed++;
	else
		*ret_complete = true;
	return err;
}

/* Add a part of a record that has several. */
static int add_to_record(struct jit_assembly *assembly, uint32_t tid, const struct part *part,
			 struct jit_event *ret_event, bool *ret_complete)
{
	struct jit_assembly_slot *slot;
	struct jitbpf_jit_header header;
	bool given_up;
	int err = slot_of(assembly, tid, &part->header, &slot);

	if (err)
		return err;
	if (!slot->given_up)
		err = append(assembly, slot, part);
	if (err)
		return err;
	slot->touched = assembly->parts;
	slot->next_part = part->header.part + 1u;
	if (slot->next_part < slot->header.part_count) {
		*ret_complete = false;
		return 0;
	}
	header = slot->header;
	given_up = slot->given_up;
	/* The event points into the fields, which are kept until the next call. */
	assembly->bytes -= slot->fields.size;
	assembly->done.data = slot->fields.data;
	assembly->done.size = slot->fields.size;
	assembly->done.capacity = slot->fields.capacity;
	*slot = assembly->slots.data[--assembly->slots.size];
	if (given_up) {
		*ret_complete = false;
		return 0;
	}
	return complete(assembly, &header, assembly->done.data, assembly->done.size, ret_event,
			ret_complete);
}

int jit_assembly_add(struct jit_assembly *assembly, uint32_t tid, const void *bytes,
		     size_t size_bytes, struct jit_event *ret_event, bool *ret_complete)
{
	struct jit_assembly_slot *slot;
	struct part part;
	int err = jit_part_decode(bytes, size_bytes, &part.header);

	vec_deinit(&assembly->done);
	if (err) {
		assembly->malformed++;
		return err;
	}
	assembly->parts++;
	part.fields = (const uint8_t *)bytes + sizeof(part.header);
	part.field_bytes = part.header.size_bytes - sizeof(part.header);
	if (part.header.part_count > 1)
		return add_to_record(assembly, tid, &part, ret_event, ret_complete);
	slot = find(assembly, tid);
	if (slot) {
		give_up(assembly, slot, &assembly->incomplete);
		remove_slot(assembly, slot);
	}
	return complete(assembly, &part.header, part.fields, part.field_bytes, ret_event,
			ret_complete);
}

void jit_assembly_flush(struct jit_assembly *assembly)
{
	while (assembly->slots.size) {
		struct jit_assembly_slot *slot = &assembly->slots.data[assembly->slots.size - 1];

		give_up(assembly, slot, &assembly->incomplete);
		remove_slot(assembly, slot);
	}
	vec_deinit(&assembly->slots);
	vec_deinit(&assembly->done);
}

void jit_assembly_deinit(struct jit_assembly *assembly)
{
	vec_for_each (slot, &assembly->slots)
		vec_deinit(&slot->fields);
	vec_deinit(&assembly->slots);
	vec_deinit(&assembly->done);
	*assembly = (struct jit_assembly){0};
}

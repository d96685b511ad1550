/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/code/code_layout.h"

struct code_usage *code_usage_create(void)
{
	struct code_usage *usage = calloc(1, sizeof(*usage));

	if (usage)
		usage->refs = 1;
	return usage;
}

void code_usage_put(struct code_usage *usage)
{
	if (!--usage->refs)
		free(usage);
}

/* No sum can wrap, since each term is in memory. */
bool code_usage_fits(const struct code_usage *usage, const struct code_budget *budget,
		     uint64_t name_bytes, uint64_t lines)
{
	return usage->name_bytes + name_bytes <= budget->name_bytes &&
	       usage->lines + lines <= budget->lines && name_bytes <= UINT32_MAX &&
	       lines < UINT32_MAX;
}

size_t code_string_bytes(const struct code_string *string)
{
	size_t length = string->bytes ? strnlen(string->bytes, string->size_bytes) : 0;

	return length ? length + 1 : 0;
}

const char *code_string_put(const struct code_string *string, char **at)
{
	size_t bytes = code_string_bytes(string);
	char *copy = *at;

	if (!bytes)
		return "";
	memcpy(copy, string->bytes, bytes - 1);
	copy[bytes - 1] = 0;
	*at += bytes;
	return copy;
}

static void record_free(struct space_value *value)
{
	struct code_record *record = code_record_of(value);

	record->usage->methods--;
	record->usage->name_bytes -= record->own_name_bytes;
	record->usage->lines -= record->own_lines;
	code_usage_put(record->usage);
	code_layout_destroy(record->region.layout);
	if (record->lender)
		code_record_put(record->lender);
	free(record);
}

/* A record with room behind it, of which the first lines are for a table. */
static struct code_record *record_alloc(struct code_usage *usage, struct code_record *lender,
					uint64_t lines, uint64_t name_bytes)
{
	struct code_record *record;

	record = malloc(sizeof(*record) + lines * sizeof(struct jitbpf_jit_line) + name_bytes);
	if (!record)
		return NULL;
	*record = (struct code_record){
		.region.value = {.refs = 1, .free = record_free},
		.usage = usage,
		.lender = lender,
		.own_name_bytes = (uint32_t)name_bytes,
		.own_lines = (uint32_t)lines,
	};
	if (lender)
		space_value_get(&lender->region.value);
	usage->refs++;
	usage->methods++;
	usage->name_bytes += name_bytes;
	usage->lines += lines;
	return record;
}

/* The strings that a record holds itself: a method's first report, or just another source. */
static void put_strings(struct code_record *record, const struct jit_event *event, char *at)
{
	struct code_region *region = &record->region;
	const struct code_region *first = record->lender ? &record->lender->region : NULL;
	const char *source = code_string_put(&event->source, &at);

	region->source = *source || !first ? source : first->source;
	region->name = first ? first->name : code_string_put(&event->name, &at);
	region->class_name = first ? first->class_name : code_string_put(&event->class_name, &at);
	region->module = first ? first->module : code_string_put(&event->module, &at);
	region->arch = first ? first->arch : event->arch;
}

/* Bytes of what put_strings() will put. */
static size_t name_bytes_of(const struct jit_event *event, const struct code_record *first)
{
	size_t source = code_string_bytes(&event->source);

	if (!first)
		return source + code_string_bytes(&event->name) +
		       code_string_bytes(&event->class_name) + code_string_bytes(&event->module);
	return source;
}

int code_record_create(const struct jit_event *event, struct code_record *first,
		       const struct code_line_rules *rules, const struct code_budget *budget,
		       struct code_usage *usage, struct code_record **ret)
{
	size_t line_room = code_lines_room(event->line_count), names;
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	struct jitbpf_jit_line *table;
	struct code_region *region;
	int err;

	/* The one that got the method its names: only that needs to stay for them. */
	while (first && first->lender)
		first = first->lender;
	names = name_bytes_of(event, first);
	if (usage->methods >= budget->methods || !code_usage_fits(usage, budget, names, line_room))
		return -EDQUOT;
	record = record_alloc(usage, first, line_room, names);
	if (!record)
		return -ENOMEM;
	region = &record->region;
	table = (struct jitbpf_jit_line *)(record + 1);
	put_strings(record, event, (char *)(table + line_room));
	err = code_lines_copy(table, event->lines, event->line_count);
	if (err)
		return err;
	region->address = event->header.address;
	region->size_bytes = event->header.code_bytes;
	region->sequence = event->header.sequence;
	region->method_id = event->header.method_id;
	region->lines = table;
	region->line_count = code_lines_settle(table, event->line_count, region->size_bytes,
					       code_line_rules_find(rules, region->module));
	*ret = TAKE_PTR(record);
	return 0;
}

int code_record_copy(struct code_record *record, const struct code_budget *budget,
		     struct code_usage *usage, struct code_record **ret)
{
	/* Versions of versions would be a chain: all share what the first one has. */
	struct code_record *lender = record->own_name_bytes || record->own_lines || !record->lender
					     ? record
					     : record->lender;
	CLEANUP(code_record_putp) struct code_record *copy = NULL;
	int err;

	if (usage->methods >= budget->methods)
		return -EDQUOT;
	copy = record_alloc(usage, lender, 0, 0);
	if (!copy)
		return -ENOMEM;
	copy->region = record->region;
	copy->region.value.refs = 1;
	copy->region.layout = NULL;
	copy->method_key = record->method_key;
	copy->origin = record->origin;
	err = code_layout_copy(record->region.layout, &copy->region.layout);
	if (err)
		return err;
	*ret = TAKE_PTR(copy);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* What one string takes: its bytes and a NUL, or nothing where it is empty. */
static size_t string_bytes(const struct jit_string *string)
{
	size_t length = string->bytes ? strnlen(string->bytes, string->size_bytes) : 0;

	return length ? length + 1 : 0;
}

static size_t name_bytes(const struct jit_event *event)
{
	return string_bytes(&event->name) + string_bytes(&event->class_name) +
	       string_bytes(&event->source) + string_bytes(&event->module);
}

static const char *put_string(const struct jit_string *string, char **at)
{
	size_t bytes = string_bytes(string);
	char *copy = *at;

	if (!bytes)
		return "";
	memcpy(copy, string->bytes, bytes - 1);
	copy[bytes - 1] = 0;
	*at += bytes;
	return copy;
}

static size_t region_name_bytes(const struct code_region *region)
{
	const char *strings[] = {region->name, region->class_name, region->source, region->module};
	size_t sum = 0;

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		sum += *strings[i] ? strlen(strings[i]) + 1 : 0;
	return sum;
}

static void record_free(struct space_value *value)
{
	struct code_record *record = (struct code_record *)value;

	record->usage->methods--;
	record->usage->name_bytes -= region_name_bytes(&record->region);
	record->usage->lines -= record->region.line_count;
	code_usage_put(record->usage);
	free(record);
}

/* Whether more fits under the limit; neither sum can wrap, since each term is in memory. */
static bool fits(uint64_t used, uint64_t more, uint64_t limit)
{
	return used + more <= limit;
}

int code_record_create(const struct jit_event *event, uint64_t time_ns,
		       const struct code_budget *budget, struct code_usage *usage,
		       struct code_record **ret)
{
	size_t names = name_bytes(event);
	size_t line_bytes = event->line_count * sizeof(struct jitbpf_jit_line);
	struct code_record *record;
	char *at;

	if (event->line_count > UINT32_MAX || !fits(usage->methods, 1, budget->methods) ||
	    !fits(usage->name_bytes, names, budget->name_bytes) ||
	    !fits(usage->lines, event->line_count, budget->lines))
		return -EDQUOT;
	record = malloc(sizeof(*record) + line_bytes + names);
	if (!record)
		return -ENOMEM;
	at = (char *)(record + 1) + line_bytes;
	if (line_bytes)
		memcpy(record + 1, event->lines, line_bytes);
	record->region = (struct code_region){
		.value = {.refs = 1, .free = record_free},
		.address = event->header.address,
		.size_bytes = event->header.code_bytes,
		.loaded_ns = time_ns,
		.caller = event->header.caller,
		.method_id = event->header.method_id,
		.name = put_string(&event->name, &at),
		.class_name = put_string(&event->class_name, &at),
		.source = put_string(&event->source, &at),
		.module = put_string(&event->module, &at),
		.lines = (const struct jitbpf_jit_line *)(record + 1),
		.line_count = (uint32_t)event->line_count,
	};
	record->method_key = 0;
	record->usage = usage;
	usage->refs++;
	usage->methods++;
	usage->name_bytes += names;
	usage->lines += event->line_count;
	*ret = record;
	return 0;
}

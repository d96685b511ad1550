/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "state/code/code_layout.h"

size_t code_string_bytes(const struct code_string *string)
{
	size_t length = code_string_length(string);

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

enum line_offsets code_event_line_offsets(const struct code_event *event,
					  const struct code_line_rules *rules, const char *module)
{
	return event->flags & JITBPF_EVENT_LINE_STARTS ? LINE_OFFSETS_START
						       : code_line_rules_find(rules, module);
}

const struct code_claim *code_region_claim(const struct code_region *region,
					   enum jitbpf_publisher publisher)
{
	for (uint32_t i = 0; i < region->claim_count; i++) {
		if (region->claims[i].origin.publisher == publisher)
			return &region->claims[i];
	}
	return NULL;
}

bool code_region_dso(const struct code_region *region, uint32_t *ret)
{
	const struct code_claim *claim = code_region_claim(region, JITBPF_PUBLISHER_SHIM);

	if (!claim || !(claim->origin.engine & CODE_ENGINE_KNOWN))
		return false;
	*ret = (uint32_t)claim->origin.engine;
	return true;
}

static void free_claims(struct code_record *record)
{
	if (record->region.claims != &record->own_claim)
		free((struct code_claim *)record->region.claims);
}

int code_record_set_claims(struct code_record *record, const struct code_claim *claims,
			   uint32_t count)
{
	struct code_claim *copy = &record->own_claim;

	if (count > 1)
		copy = calloc(count, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, claims, count * sizeof(*copy));
	free_claims(record);
	record->region.claims = copy;
	record->region.claim_count = count & 7;
	return 0;
}

int code_record_take_claims(struct code_record *record, const struct code_record *old,
			    uint64_t first_number)
{
	struct code_claim claims[JITBPF_PUBLISHER_COUNT];
	const struct code_region *region = &old->region;

	for (uint32_t i = 0; i < region->claim_count; i++) {
		claims[i] = region->claims[i];
		claims[i].inherited |= region->number < first_number;
	}
	return code_record_set_claims(record, claims, region->claim_count);
}

static uint64_t head_bytes(bool is_version)
{
	return sizeof(struct code_record) + (is_version ? sizeof(struct code_version) : 0);
}

static uint64_t record_bytes(bool is_version, uint64_t line_room, uint64_t name_bytes)
{
	return head_bytes(is_version) + line_room * sizeof(struct jitbpf_code_line) + name_bytes;
}

uint64_t code_record_bytes(const struct code_record *record)
{
	return record_bytes(record->region.is_version, record->own_lines, record->own_name_bytes);
}

/* Returns the tables of a record: scopes, then lines. */
static const char *tables_of(const struct code_record *record)
{
	const struct code_version *version = code_record_version(record);

	if (version && version->tables)
		return version->tables;
	return (const char *)record + head_bytes(version);
}

const void *code_region_scopes(const struct code_region *region)
{
	return region->scope_bytes ? tables_of(code_record_of(&region->value)) : NULL;
}

const struct jitbpf_code_line *code_region_lines(const struct code_region *region)
{
	const char *tables = tables_of(code_record_of(&region->value));

	return region->line_count ? (const void *)(tables + code_scopes_room(region->scope_bytes))
				  : NULL;
}

static void put_texts(struct code_record *record)
{
	struct code_account *account = record->account;
	uint64_t bytes;

	if (!record->region.has_texts)
		return;
	code_account_release_shared(account,
				    code_texts_put(&account->texts, record->region.texts, &bytes));
	account->name_bytes -= bytes;
}

static void record_free(struct space_value *value)
{
	struct code_record *record = code_record_of(value);

	put_texts(record);
	code_account_release(record->account, code_record_bytes(record));
	record->account->methods--;
	record->account->name_bytes -= record->own_name_bytes;
	record->account->lines -= record->own_lines;
	code_record_drop_layout(record);
	code_account_put(record->account);
	free_claims(record);
	if (record->region.is_version && code_record_version(record)->lender)
		code_record_put(code_record_version(record)->lender);
	free(record);
}

/*
 * Allocate a record, with a version if it is not NULL, and room for line_room lines and then
 * name_bytes behind it. Its texts are charged, too. Returns 0, -EDQUOT or -ENOMEM.
 */
static int record_alloc(struct code_account *account, const struct code_version *version,
			uint64_t line_room, uint64_t name_bytes, uint64_t text_memory,
			struct code_record **ret)
{
	uint64_t bytes = record_bytes(version, line_room, name_bytes);
	struct code_record *record;

	if (code_account_charge_with(account, bytes, text_memory))
		return -EDQUOT;
	record = malloc(bytes);
	if (!record) {
		code_account_release(account, bytes);
		code_account_release_shared(account, text_memory);
		return -ENOMEM;
	}
	*record = (struct code_record){
		.region.value = {.refs = 1, .free = record_free},
		.region.is_version = version != NULL,
		.region.claims = &record->own_claim,
		.account = code_account_get(account),
		.own_name_bytes = (uint32_t)name_bytes,
		.own_lines = line_room & CODE_OWN_LINES_MAX,
	};
	if (version)
		*code_record_version(record) = *version;
	if (version && version->lender)
		space_value_get(&version->lender->region.value);
	account->methods++;
	account->name_bytes += name_bytes;
	account->lines += line_room;
	*ret = record;
	return 0;
}

static struct code_string borrowed(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

/*
 * Set *ret to the texts of a load's region. Returns true if they are its own: in a method's first
 * report, or if it has a source of its own. Other regions borrow those of the first one.
 */
static bool get_texts(const struct code_event *event, const struct code_record *first,
		      struct code_string ret[CODE_TEXTS])
{
	ret[0] = first ? borrowed(code_region_class(&first->region)) : event->class_name;
	ret[1] = event->source;
	ret[2] = first ? borrowed(code_region_module(&first->region)) : event->module;
	return !first || code_string_length(&event->source);
}

/* Give a record texts of its own, for which text_memory is charged. Returns 0 or -ENOMEM. */
static int take_texts(struct code_record *record, const struct code_string texts[CODE_TEXTS],
		      uint64_t text_memory, uint64_t text_bytes)
{
	int err = code_texts_get(&record->account->texts, texts, &record->region.texts);

	if (err) {
		code_account_release_shared(record->account, text_memory);
		return err;
	}
	record->region.has_texts = true;
	record->account->name_bytes += text_bytes;
	return 0;
}

static void put_name(struct code_record *record, const struct code_event *event,
		     const struct code_record *first, char *at)
{
	record->region.name = at;
	if (first)
		record->region.name = first->region.name;
	else if (!*code_string_put(&event->name, &at))
		*at = 0;
}

/* Put the tables and the name behind a record. Returns 0 or -ENOMEM. */
static int put_parts(struct code_record *record, const struct code_event *event,
		     const struct code_record *first, size_t line_room,
		     const struct code_line_rules *rules)
{
	struct code_region *region = &record->region;
	char *tables = (char *)record + head_bytes(region->is_version);
	uint32_t arch = first ? first->region.arch : event->arch;
	struct jitbpf_code_line *lines = (void *)(tables + code_scopes_room(event->scope_bytes));
	int err = code_lines_copy(lines, event->lines, event->line_count);

	if (err)
		return err;
	put_name(record, event, first, (char *)(lines + line_room));
	region->arch = arch <= UINT8_MAX ? arch : UINT8_MAX;
	if (event->scope_bytes)
		memcpy(tables, event->scopes, event->scope_bytes);
	region->scope_bytes = (uint32_t)event->scope_bytes;
	region->line_count = code_lines_settle(
		lines, event->line_count, region->size_bytes,
		code_event_line_offsets(event, rules, code_region_module(region)));
	record->line_publisher = event->origin.publisher;
	return 0;
}

/* A layout, with the first cell of each of its trees' pools. */
#define LAYOUT_BYTES (sizeof(struct code_layout) + 3 * (COW_CELL_BYTES + 128))

int code_record_add_layout(struct code_record *record)
{
	int err = code_account_charge(record->account, LAYOUT_BYTES);

	if (err)
		return err;
	err = code_layout_create(&record->region.layout);
	if (err)
		code_account_release(record->account, LAYOUT_BYTES);
	else
		record->layout_charged = true;
	return err;
}

void code_record_drop_layout(struct code_record *record)
{
	if (record->layout_charged)
		code_account_release(record->account, LAYOUT_BYTES);
	record->layout_charged = false;
	code_layout_destroy(record->region.layout);
	record->region.layout = NULL;
}

int code_record_create(const struct code_event *event, struct code_record *first, uint64_t identity,
		       const struct code_line_rules *rules, struct code_account *account,
		       struct code_record **ret)
{
	size_t line_room = code_lines_room(event->line_count);
	size_t names = code_scopes_room(event->scope_bytes);
	uint64_t text_bytes = 0, text_memory = 0;
	struct code_string texts[CODE_TEXTS];
	bool own_texts;
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	struct code_claim claim = {
		.origin = event->origin,
		.method_id = event->method_id,
		.time_ns = event->time_ns,
		.before_run = !!(event->flags & JITBPF_EVENT_BEFORE_RUN),
	};
	struct code_version version = {.identity = identity};
	int err;

	/* Use the record that owns the strings, so that the others can be freed. */
	version.lender = first = first ? code_record_namer(first) : NULL;
	if (!first)
		names += code_string_length(&event->name) + 1;
	own_texts = get_texts(event, first, texts);
	if (own_texts)
		text_memory = code_texts_needed(&account->texts, texts, &text_bytes);
	if (account->methods >= account->budget.methods ||
	    !code_account_fits(account, names + text_bytes, line_room))
		return -EDQUOT;
	err = record_alloc(account, first || identity ? &version : NULL, line_room, names,
			   text_memory, &record);
	if (err)
		return err;
	if (own_texts)
		err = take_texts(record, texts, text_memory, text_bytes);
	else
		record->region.texts = first->region.texts;
	if (err)
		return err;
	record->region.address = event->address;
	record->region.size_bytes = event->size_bytes;
	record->region.loaded_ns = event->time_ns;
	err = put_parts(record, event, first, line_room, rules);
	err = err ?: code_record_set_claims(record, &claim, 1);
	if (!err)
		*ret = TAKE_PTR(record);
	return err;
}

int code_record_copy(struct code_record *record, struct code_account *account,
		     uint64_t first_number, struct code_record **ret)
{
	/* All versions borrow from the first one, which avoids chains of lenders. */
	const struct code_version *old = code_record_version(record);
	struct code_version version = {
		.lender = record->own_name_bytes || record->own_lines || record->region.has_texts ||
					  !old || !old->lender
				  ? record
				  : old->lender,
		.tables = record->region.line_count || record->region.scope_bytes
				  ? tables_of(record)
				  : NULL,
		.identity = code_region_identity(&record->region),
	};
	CLEANUP(code_record_putp) struct code_record *copy = NULL;
	int err;

	if (account->methods >= account->budget.methods)
		return -EDQUOT;
	err = record_alloc(account, &version, 0, 0, 0, &copy);
	if (err)
		return err;
	copy->region = record->region;
	copy->region.value.refs = 1;
	copy->region.is_version = true;
	copy->region.has_texts = false;
	copy->region.layout = NULL;
	copy->region.claims = &copy->own_claim;
	copy->line_publisher = record->line_publisher;
	err = code_record_take_claims(copy, record, first_number);
	err = err ?: code_layout_copy(record->region.layout, &copy->region.layout);
	if (!err)
		*ret = TAKE_PTR(copy);
	return err;
}

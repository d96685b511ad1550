/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Creates regions of code and their versions, and charges their memory to accounts. */
#ifndef JITBPF_STATE_CODE_CODE_REGION_H
#define JITBPF_STATE_CODE_CODE_REGION_H

#include <stdint.h>

#include "base/scope.h"
#include "state/code/code_map.h"

/* What a region has in common with an earlier one. */
struct code_version {
	struct code_record *lender; /* owner of what is borrowed; a reference; NULL: none */
	const void *tables;	    /* borrowed; NULL: the record's own */
	uint64_t identity;	    /* as code_region_identity(); 0: that of a first version */
};

/*
 * A region, allocated together with its struct code_version (if is_version is set), scope table,
 * line table and name.
 */
struct code_record {
	struct code_region region;
	struct code_account *account; /* the account that is charged; a reference */
	uint32_t own_name_bytes;      /* of the name, and of the scope table with its padding */
	uint32_t own_lines : CODE_OWN_LINES_BITS;
	uint32_t line_publisher : 3; /* enum jitbpf_publisher of the line table */
	uint32_t layout_charged : 1;
	struct code_claim own_claim; /* region.claims, if there is only one */
};

_Static_assert(sizeof(struct code_record) == 152, "there may be millions");
_Static_assert(JITBPF_PUBLISHER_COUNT <= 8, "line_publisher has 3 bits");

static inline struct code_record *code_record_of(const struct space_value *value)
{
	return (struct code_record *)value;
}

/* Returns what a record has in common with an earlier one, or NULL. */
static inline struct code_version *code_record_version(const struct code_record *record)
{
	return record->region.is_version ? (struct code_version *)(record + 1) : NULL;
}

/*
 * Returns a number that all versions of a region share, and no other region has: that of its first
 * version, plus 1. Versions have the same machine code.
 */
static inline uint64_t code_region_identity(const struct code_region *region)
{
	const struct code_version *version = code_record_version(code_record_of(&region->value));

	return version && version->identity ? version->identity : region->number + 1;
}

/* Returns the record whose strings a record has, which may be itself. */
static inline struct code_record *code_record_namer(struct code_record *record)
{
	const struct code_version *version = code_record_version(record);

	return version && version->lender ? code_record_namer(version->lender) : record;
}

/* Returns the size of the allocation of a record. */
uint64_t code_record_bytes(const struct code_record *record);

static inline void code_record_put(struct code_record *record)
{
	space_value_put(&record->region.value);
}

DEFINE_CLEANUP(struct code_record *, code_record_put);

/* Returns the bytes of a copy of a string, with the NUL; 0 for an empty string. */
size_t code_string_bytes(const struct code_string *string);

/* Copy a string to *at, and move *at behind it. Returns the copy, or "" for an empty string. */
const char *code_string_put(const struct code_string *string, char **at);

/* Returns the form of the line table of an event. */
enum line_offsets code_event_line_offsets(const struct code_event *event,
					  const struct code_line_rules *rules, const char *module);

/*
 * Create the record of a load, with one claim. The caller sets the claim's key. first is a record
 * in force of the same method, or NULL. The record has no number until it is entered; it is a
 * version of the region with that identity, if it is not 0. Returns 0, -EDQUOT (over budget) or
 * -ENOMEM.
 */
int code_record_create(const struct code_event *event, struct code_record *first, uint64_t identity,
		       const struct code_line_rules *rules, struct code_account *account,
		       struct code_record **ret);

/*
 * Create another version of a record, which shares strings and lines. first_number: that of the
 * map. Returns as above.
 */
int code_record_copy(struct code_record *record, struct code_account *account,
		     uint64_t first_number, struct code_record **ret);

/*
 * Create the layout of a record without one. Returns 0, -EDQUOT or -ENOMEM.
 */
int code_record_add_layout(struct code_record *record);
void code_record_drop_layout(struct code_record *record); /* no-op without one */

/* Replace the claims of a record by copies of count claims. Returns 0 or -ENOMEM. */
int code_record_set_claims(struct code_record *record, const struct code_claim *claims,
			   uint32_t count);

/* Give a version the claims of an earlier one. first_number as above. Returns 0 or -ENOMEM. */
int code_record_take_claims(struct code_record *record, const struct code_record *old,
			    uint64_t first_number);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes regions of code and their versions, and charges their memory to accounts. */
#ifndef JITBPF_STATE_CODE_CODE_REGION_H
#define JITBPF_STATE_CODE_CODE_REGION_H

#include <stdint.h>

#include "base/scope.h"
#include "state/code/code_map.h"

/* A region as it is allocated: in one piece with its line table and strings. */
struct code_record {
	struct code_region region;
	struct code_account *account; /* that it is charged to; held */
	struct code_record *lender;   /* whose strings and lines it uses; NULL: none; held */
	uint64_t identity;	      /* number of its first version, + 1; 0: not entered yet */
	uint32_t own_name_bytes, own_lines;
	uint32_t line_publisher;     /* who gave the line table */
	struct code_claim own_claim; /* where there is but one; else an array of its own */
};

static inline struct code_record *code_record_of(const struct space_value *value)
{
	return (struct code_record *)value;
}

/* The same for all versions of a region, and for nothing else: they share their code. Not 0. */
static inline uint64_t code_region_identity(const struct code_region *region)
{
	return code_record_of(&region->value)->identity;
}

static inline void code_record_put(struct code_record *record)
{
	space_value_put(&record->region.value);
}

DEFINE_CLEANUP(struct code_record *, code_record_put);

/* Bytes that a copy of a string takes, its NUL included; 0 where it is empty. */
size_t code_string_bytes(const struct code_string *string);

/* Copy a string to *at, and move *at behind it. Returns the copy, "" where it is empty. */
const char *code_string_put(const struct code_string *string, char **at);

/* How the line offsets of an event are to be read. */
enum line_offsets code_event_line_offsets(const struct code_event *event,
					  const struct code_line_rules *rules, const char *module);

/*
 * Make the record of a load with one claim, whose key is to be set. first is a record
 * of the same method that is in force, or NULL. The record has no number yet.
 * Returns 0, -EDQUOT (over budget) or -ENOMEM.
 */
int code_record_create(const struct code_event *event, struct code_record *first,
		       const struct code_line_rules *rules, struct code_account *account,
		       struct code_record **ret);

/* Make another version of a record, which shares all it can. Returns as above. */
int code_record_copy(struct code_record *record, struct code_account *account,
		     struct code_record **ret);

/* Replace the claims of a record by a copy of count ones. Returns 0 or -ENOMEM. */
int code_record_set_claims(struct code_record *record, const struct code_claim *claims,
			   uint32_t count);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes regions of code and their versions, and accounts for the memory that they take. */
#ifndef JITBPF_STATE_CODE_CODE_REGION_H
#define JITBPF_STATE_CODE_CODE_REGION_H

#include <stdint.h>

#include "base/scope.h"
#include "state/code/code_map.h"

/* What the regions of one code map take. They outlive it, and so does this. */
struct code_usage {
	uint32_t refs; /* the map and all that is counted */
	uint64_t methods, name_bytes, lines, inlines;
};

/* A region, as it is allocated: in one piece with its line table and strings. */
struct code_record {
	struct code_region region;
	struct code_usage *usage;
	struct code_record *lender; /* whose strings and lines are used; NULL: none; held */
	uint64_t method_key;	    /* in the code map's index of methods */
	uint64_t origin;	    /* number of its first version, + 1; 0: not entered yet */
	uint32_t own_name_bytes, own_lines;
};

static inline struct code_record *code_record_of(const struct space_value *value)
{
	return (struct code_record *)value;
}

/* The same for all versions of a region, and for nothing else: they share their code. Not 0. */
static inline uint64_t code_region_origin(const struct code_region *region)
{
	return code_record_of(&region->value)->origin;
}

static inline void code_record_put(struct code_record *record)
{
	space_value_put(&record->region.value);
}

DEFINE_CLEANUP(struct code_record *, code_record_put);

/* NULL where there is no memory. */
struct code_usage *code_usage_create(void);
void code_usage_put(struct code_usage *usage);

/* Whether strings and lines of an event fit beside what is used. */
bool code_usage_fits(const struct code_usage *usage, const struct code_budget *budget,
		     uint64_t name_bytes, uint64_t lines);

/* What a string takes: its bytes and a NUL, or nothing where it is empty. */
size_t code_string_bytes(const struct code_string *string);

/* Copy a string to *at, and move that behind it. Returns the copy, "" where it is empty. */
const char *code_string_put(const struct code_string *string, char **at);

/*
 * Make the record of a load, counted in usage until it is freed. first is a
 * record of the same method that is in force, or NULL. number and method_key are
 * the caller's to fill in.
 * Returns 0, -EDQUOT (over budget) or -ENOMEM.
 */
int code_record_create(const struct jit_event *event, struct code_record *first,
		       const struct code_line_rules *rules, const struct code_budget *budget,
		       struct code_usage *usage, struct code_record **ret);

/* Another version of a record, which shares all it can. number is to be filled in. The same. */
int code_record_copy(struct code_record *record, const struct code_budget *budget,
		     struct code_usage *usage, struct code_record **ret);

#endif

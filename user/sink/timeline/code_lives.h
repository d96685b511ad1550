/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of each region of JIT code: what it is, when it was loaded and when it ended. A method
 * that is compiled again has several lives.
 *
 * Lives have a budget of bytes, which the owners of processes share. When it is full, the owners
 * with the largest part lose the lives of their smallest regions, which are counted. Names are the
 * engine's bytes, untrusted. Single-threaded.
 */
#ifndef JITBPF_SINK_TIMELINE_CODE_LIVES_H
#define JITBPF_SINK_TIMELINE_CODE_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "sink/sink.h"

#define CODE_LIVES_MAX	    (64u << 20) /* bytes of a recording's lives */
#define CODE_LIVES_LIVE_MAX (16u << 20) /* the same for a live page */

#define CODE_LIFE_BYTES 256 /* of a life with its places in indexes, without names */

#define CODE_LIFE_NONE UINT32_MAX

struct code_life {
	uint64_t identity; /* code_region_identity() */
	uint64_t address, size_bytes;
	uint64_t loaded_ns;			 /* 0: before the run */
	uint64_t ended_ns;			 /* not before loaded_ns; UINT64_MAX: in force */
	uint32_t name, class_name, module, comm; /* strings; of the process as of the load */
	uint32_t pid;
	uint32_t process;	    /* number in the process table */
	uint32_t number;	    /* numbers count from 1, and after 2^32 - 1 begin anew */
	uint32_t holders;	    /* maps in which it is in force */
	uint32_t before;	    /* life of the same process, or CODE_LIFE_NONE */
	uint32_t cost;		    /* bytes that its owner pays */
	bool shared;		    /* it outlives its process */
	struct budget_owner *owner; /* a reference */
};

/* Counts of lives that are not kept, or not shown. Sums stop at UINT64_MAX. */
struct code_left_out {
	uint64_t lives, bytes; /* bytes of code */
};

struct code_lives {
	VEC(struct code_life) lives; /* in order of arrival */
	struct index_map identities;
	struct index_map processes; /* the last life of each */
	struct string_pool *strings;
	struct owner_budget budget;
	struct code_left_out forgotten;
	uint32_t numbers; /* the last number of a life */
};

/* max_bytes: the budget. Returns 0 or -ENOMEM; the caller calls code_lives_deinit() in both cases.
 */
int code_lives_init(struct code_lives *lives, uint64_t max_bytes);
void code_lives_deinit(struct code_lives *lives);

/* Take a change of a region. A life for which there is no memory is counted as forgotten. */
void code_lives_take(struct code_lives *lives, const struct sink_region *change);

/* Returns the life of a region, or NULL: it is not known. Borrowed until the next change. */
const struct code_life *code_lives_find(const struct code_lives *lives, uint64_t identity);

void code_left_out_add(struct code_left_out *left_out, uint64_t bytes);

#endif

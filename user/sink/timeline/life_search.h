/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds lives of JIT code (sink/timeline/code_lives.h) and their samples, in a profile that grows
 * meanwhile. The work is done in steps, so that an event loop can do other work between them. Names
 * and numbers are untrusted.
 */
#ifndef JITBPF_SINK_TIMELINE_LIFE_SEARCH_H
#define JITBPF_SINK_TIMELINE_LIFE_SEARCH_H

#include <stdint.h>

#include "sink/timeline/code_lives.h"

#define LIFE_SEARCH_ROWS_MAX   4096
#define LIFE_SEARCH_TEXT_BYTES (4u << 20) /* of names in a list of lives */

/* Selects lives of an epoch. Lives that ended before the epoch are never selected. */
struct lives_wanted {
	uint32_t epoch;
	uint64_t from_ns, to_ns; /* loaded or ended in [from_ns, to_ns) since the epoch's start; */
	uint32_t method; /* or those of the method of the life with this number; 0: of all */
};

struct found_life {
	uint32_t number;   /* of the life */
	uint32_t location; /* one with samples, if there are any */
	uint64_t samples, bytes;
};

struct sampled_region {
	uint64_t identity;
	uint64_t samples;
	uint32_t location;
};

/* Zero-initialized until life_search_begin(). */
struct life_search {
	struct lives_wanted wanted;
	VEC(uint64_t) counts; /* samples by location */
	VEC(struct sampled_region) regions;
	struct index_map identities; /* of `regions` */
	VEC(struct found_life) found;
	struct code_left_out left_out; /* lives beyond LIFE_SEARCH_ROWS_MAX */
	uint64_t total;		       /* samples of the profile */
	uint32_t next_node, next_location;
	uint32_t last_number; /* number of the last life that was looked at */
	enum life_search_phase {
		SEARCH_NODES,
		SEARCH_LOCATIONS,
		SEARCH_LIVES,
		SEARCH_MORE_LIVES, /* last_number is set */
	} phase;
};

/* A life with its names, without reference to a profile. */
struct listed_life {
	uint32_t number, pid;
	uint32_t name, class_name, module, comm; /* strings of the list */
	bool framed; /* name is that of a frame, ready to be shown, and class_name is empty */
	uint64_t address, bytes, samples;
	uint64_t loaded_ns, ended_ns; /* as in struct code_life */
};

/* Zero-initialized is empty. */
struct life_list {
	VEC(struct listed_life) lives; /* those with most samples first, then large ones */
	struct string_pool *strings;
	struct code_left_out left_out;	/* by the search */
	struct code_left_out forgotten; /* by code_lives */
	uint64_t total;			/* samples of the profile */
	uint64_t start_ns;		/* of the epoch */
};

/*
 * Begin a search. Returns 0, or -ESTALE if the view is of another epoch. The caller calls
 * life_search_deinit() in any case.
 */
int life_search_begin(struct life_search *ret, const struct view *view,
		      const struct lives_wanted *wanted);
void life_search_deinit(struct life_search *search);

/*
 * Look at up to max nodes, locations or lives. Returns 1 if more are left, 0 at the end, -ESTALE if
 * the epoch has ended, -ENOENT if the life `wanted.method` is not known, or -ENOMEM.
 */
int life_search_step(struct life_search *search, const struct view *view,
		     const struct code_lives *lives, uint32_t max);

/*
 * After life_search_step() returned 0: copy the found lives. Lives that were forgotten meanwhile,
 * and those whose names have no room, count as left out. Returns 0, -ESTALE or -ENOMEM; the caller
 * calls life_list_deinit() in any case.
 */
int life_search_result(struct life_search *search, const struct view *view,
		       const struct code_lives *lives, struct life_list *ret);
void life_list_deinit(struct life_list *list);

#endif

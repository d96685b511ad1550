/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The locations of frames of earlier stacks. Most frames of a new stack are known, and a look-up in
 * the maps takes ten times as long as one here. A result holds while the maps are unchanged, for
 * stacks from its time on.
 */
#ifndef JITBPF_LOCATE_FRAME_CACHE_H
#define JITBPF_LOCATE_FRAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "locate/located_words.h"

#define FRAME_CACHE_SLOTS 8192 /* a power of two */

/* What a location depends on. Zero in an empty slot. */
struct frame_cache_key {
	uint64_t frame;	     /* its word, and whether it is a caller */
	uint64_t process;    /* frame_cache_process(); UINT64_MAX: the kernel */
	uint64_t generation; /* sum of those of the maps, which only grow */
};

struct frame_cache_slot {
	struct frame_cache_key key;
	uint64_t time_ns;
	uint32_t table;
	uint32_t location;
	bool code_unknown, code_unpublished;
	bool is_function; /* of a runtime */
};

struct frame_cache {
	struct frame_cache_slot *slots; /* FRAME_CACHE_SLOTS */
	/* Of the next stack: */
	uint32_t table;		    /* number of the location table */
	uint64_t generation;	    /* of the maps in which frames of the process are looked up */
	bool keeps;		    /* its time is not before the last change of a map */
	struct located_words *last; /* of its thread; or NULL */
};

/* A word of an address has the same value in its two highest bits. */
static inline uint64_t frame_cache_frame(uint64_t word, bool is_caller)
{
	return word << 1 | is_caller;
}

/* A location says whether it serves the frames of a runtime. */
static inline uint64_t frame_cache_process(uint32_t number, bool is_interpreter)
{
	return (uint64_t)is_interpreter << 33 | (number + 1ull);
}

static inline struct frame_cache_slot *frame_cache_slot(const struct frame_cache *cache,
							const struct frame_cache_key *key)
{
	return &cache->slots[hash_mix(key->frame, key->process) & (FRAME_CACHE_SLOTS - 1)];
}

/* Returns true if a slot has the location of a frame at time_ns. */
static inline bool frame_cache_has(const struct frame_cache *cache,
				   const struct frame_cache_slot *slot,
				   const struct frame_cache_key *key, uint64_t time_ns)
{
	return slot->key.frame == key->frame && slot->key.process == key->process &&
	       slot->key.generation == key->generation && slot->table == cache->table &&
	       slot->time_ns <= time_ns;
}

#endif

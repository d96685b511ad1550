/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_successors.h"

#include <string.h>

#include "decode/x86/call_site.h"
#include "locate/code_site.h"
#include "state/code/code_map.h"
#include "state/code/code_publisher.h"
#include "state/code/code_region.h"

/* Limit of the versions and successors of one region that are examined. */
#define SUCCESSORS_TRIED 8

/* Engines write to their code. So bytes can be of the same code if at least 3 of 4 are equal. */
#define SIMILAR_PARTS 4
#define SIMILAR_MIN   3 /* of so many parts */

/* A comparison of fewer bytes is not used. */
#define OVERLAP_MIN 8

enum likeness {
	LIKE_UNKNOWN, /* there is no copy to compare with */
	LIKE_OTHER,
	LIKE_SIMILAR,
	LIKE_EQUAL,
};

static bool is_late(const struct code_region *region)
{
	return code_publisher_of(region->claims[0].origin.publisher)->late;
}

/* Returns true if both are loads of one method at one address: the name is the same. */
static bool is_same_method(const struct code_region *a, const struct code_region *b)
{
	return a->address == b->address && a->size_bytes == b->size_bytes &&
	       !strcmp(a->name, b->name) && !strcmp(code_region_class(a), code_region_class(b));
}

static enum likeness bytes_like(const struct code_copy *copy, const struct code_region *region,
				const struct jitbpf_code_bytes *seen)
{
	uint64_t end = seen->address + JITBPF_CODE_BYTES, copied, from;
	size_t size_bytes, equal = 0;

	if (!copy)
		return LIKE_UNKNOWN;
	copied = region->address + copy->size_bytes;
	from = seen->address > region->address ? seen->address : region->address;
	end = copied < end ? copied : end;
	if (from >= end || (end - from < OVERLAP_MIN && end - from < region->size_bytes))
		return LIKE_UNKNOWN;
	size_bytes = end - from;
	for (size_t i = 0; i < size_bytes; i++)
		equal += seen->bytes[from - seen->address + i] ==
			 copy->bytes[from - region->address + i];
	if (equal == size_bytes)
		return LIKE_EQUAL;
	return equal * SIMILAR_PARTS >= size_bytes * SIMILAR_MIN ? LIKE_SIMILAR : LIKE_OTHER;
}

/* Returns whether a region can have a call that ends at an address. */
static enum likeness call_like(const struct code_copy *copy, const struct code_region *region,
			       uint64_t address)
{
	uint64_t call_end = address + 1 - region->address;

	if (!copy || call_end > copy->size_bytes)
		return LIKE_UNKNOWN;
	return code_can_end_with_call(copy->bytes, call_end) ? LIKE_SIMILAR : LIKE_OTHER;
}

static enum likeness frame_like(struct code_copies *copies, const struct code_region *region,
				const struct sampled_frame *frame)
{
	const struct code_copy *copy = code_copies_find(copies, code_region_identity(region));

	if (frame->seen)
		return bytes_like(copy, region, frame->seen);
	return frame->is_caller ? call_like(copy, region, frame->address) : LIKE_UNKNOWN;
}

/*
 * Returns true if the code of a successor may have run instead of that of the region, which ended
 * at ended_ns.
 */
static bool may_have_run(struct code_copies *copies, const struct code_region *region,
			 const struct code_region *successor, const struct sampled_frame *frame,
			 uint64_t ended_ns)
{
	enum likeness other = frame_like(copies, successor, frame);
	enum likeness own = frame_like(copies, region, frame);

	if (other == LIKE_OTHER || (own == LIKE_EQUAL && other != LIKE_EQUAL))
		return false;
	return own == LIKE_OTHER || successor->claims[0].time_ns <= ended_ns + CODE_REPORTS_NS;
}

bool code_found_is_possible(struct code_copies *copies, const struct code_region *region,
			    const struct sampled_frame *frame)
{
	enum likeness likeness = frame_like(copies, region, frame);

	return likeness != LIKE_OTHER && !(frame->seen && likeness == LIKE_SIMILAR);
}

bool code_successor_is_possible(struct code_copies *copies, const struct process *process,
				const struct sampled_frame *frame)
{
	struct code_site site = code_site_at(process, frame->address, frame->time_ns);
	const struct code_region *successor;
	uint64_t at_ns = frame->time_ns, ended_ns;

	if (site.kind != LOCATION_JIT || site.region->address + site.offset != frame->address ||
	    !is_late(site.region))
		return false; /* also: in shared memory */
	for (uint32_t i = 0; i < SUCCESSORS_TRIED; i++) {
		successor = code_map_successor(process->code, frame->address, &at_ns, &ended_ns);
		if (!successor || successor->claims[0].time_ns > frame->time_ns + CODE_SUCCESSOR_NS)
			return false;
		if (is_late(successor) &&
		    code_region_identity(successor) != code_region_identity(site.region) &&
		    !is_same_method(successor, site.region) &&
		    may_have_run(copies, site.region, successor, frame, ended_ns))
			return true;
	}
	return true;
}

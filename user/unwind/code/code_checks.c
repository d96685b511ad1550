/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_checks.h"

#include <errno.h>
#include <string.h>

#include "locate/code_site.h"
#include "state/code/code_region.h"
#include "unwind/code/code_check_results.h"
#include "unwind/code/code_check_table.h"

#define SECOND_NS 1000000000ull

/*
 * Limit of the regions that are examined for code older than an event; beyond it, there is assumed
 * to be some.
 */
#define REGIONS_TRIED 8

/* Fewer bytes of a sample are not compared, unless the region is smaller. */
#define OVERLAP_MIN 8

/* Returns true if code in [start, end) was loaded before time_ns. */
static bool has_older_code(const struct process *process, uint64_t start, uint64_t end,
			   uint64_t time_ns)
{
	for (uint32_t i = 0; i < REGIONS_TRIED; i++) {
		const struct code_region *region = code_map_next(process->code, start);

		if (!region || region->address >= end)
			return false;
		if (region->loaded_ns < time_ns)
			return true;
		start = region->address + region->size_bytes;
	}
	return true;
}

int code_checks_mapped(struct code_checks *checks, const struct process *process, uint64_t start,
		       uint64_t end, uint64_t time_ns)
{
	struct code_doubts *doubts;

	if (!process->code || start >= end || !has_older_code(process, start, end, time_ns))
		return 0;
	doubts = code_checks_add_doubts(checks, process);
	if (!doubts)
		return -ENOMEM;
	code_doubts_add(doubts, start, end, time_ns);
	return 0;
}

static bool is_in_force(const struct process *process, const struct code_region *region)
{
	const struct code_region *now = code_map_next(process->code, region->address);

	return now && code_region_identity(now) == code_region_identity(region);
}

/*
 * Returns the time from which the code of a region is not vouched for: after an event, a sample
 * with other bytes or, for code that was found, the last time at which it was seen there.
 */
static uint64_t doubted_since(const struct code_doubts *doubts, const struct code_region *region,
			      const struct code_check *check, const struct found_piece *found,
			      uint64_t address)
{
	uint64_t floor_ns = region->loaded_ns, since_ns = UINT64_MAX;

	if (code_checks_is_found(region) && (!found || found->found_ns > floor_ns))
		floor_ns = found ? found->found_ns : floor_ns;
	if (check && check->vouched_ns > floor_ns)
		floor_ns = check->vouched_ns;
	if (code_checks_is_found(region))
		return found && !found_identity_is_used(&found->identity) ? UINT64_MAX
									  : floor_ns + 1;
	if (code_checks_by_events(region))
		since_ns = code_doubts_since(doubts, address, floor_ns);
	return check && check->doubt_ns && check->doubt_ns < since_ns ? check->doubt_ns : since_ns;
}

/* Returns when the code was read that the rows of a region are of; 0: it has none. */
static uint64_t rows_read(const struct code_checks *checks, const struct code_region *region)
{
	const struct unwind_region *rows =
		checks->regions ? unwind_regions_find(checks->regions, code_region_identity(region))
				: NULL;

	return rows && rows->state == UNWIND_REGION_KNOWN ? rows->read_ns : 0;
}

enum code_trust code_checks_trust(struct code_checks *checks, struct code_doubts *doubts,
				  uint64_t address, uint64_t time_ns, struct code_check **ret)
{
	const struct found_piece *found = NULL;
	const struct code_replaced *replaced;
	struct code_check *check;
	struct code_site site;
	uint64_t since_ns, until_ns = time_ns;
	int err;

	*ret = NULL;
	if (!doubts->differed && !doubts->has_found &&
	    code_doubts_since(doubts, address, 0) > time_ns)
		return CODE_VOUCHED;
	replaced = code_doubts_replaced(doubts, address, time_ns);
	if (replaced)
		return replaced->goes_on ? CODE_DOUBTED : CODE_UNKNOWN;
	site = code_site_at(doubts->process, address, time_ns);
	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address)
		return CODE_VOUCHED; /* no JIT code, or code in shared memory */
	check = code_checks_find(checks, code_region_identity(site.region), doubts->process);
	if (code_check_is_doubted(check, time_ns))
		return CODE_DOUBTED;
	if (code_checks_is_found(site.region) && checks->found) {
		found = found_pieces_at(checks->found, doubts->process, site.region->address);
		until_ns = rows_read(checks, site.region);
		until_ns = until_ns > time_ns ? until_ns : time_ns;
	}
	since_ns = doubted_since(doubts, site.region, check, found, address);
	if (since_ns > until_ns || (found && doubts->process->exit_ns != UINT64_MAX))
		return CODE_VOUCHED;
	/* The region of found code ends when it was seen last. */
	if (!is_in_force(doubts->process, site.region))
		return code_checks_is_found(site.region) ? CODE_VOUCHED : CODE_ENDED;
	check = code_checks_add(checks, doubts->process, site.region);
	/* A child has the code of its parent, and not yet its words. */
	if (check && code_checks_is_found(site.region) && !found)
		return code_checks_refuse(checks, check, since_ns, time_ns);
	if (check && found)
		check->words = found->identity;
	err = check ? code_checks_wait(checks, doubts, check, since_ns) : -ENOMEM;
	if (err == -EDQUOT)
		return code_checks_refuse(checks, check, since_ns, time_ns);
	if (err)
		return CODE_ENDED;
	*ret = check;
	return CODE_WAITS;
}

/* The bytes that a sample saw and the bytes of a code copy, where both have the same addresses. */
struct overlap {
	const uint8_t *seen, *code;
	size_t size_bytes;
};

static struct overlap overlap_of(const struct jitbpf_code_bytes *seen, uint64_t address,
				 const uint8_t *code, size_t code_bytes)
{
	uint64_t from = seen->address > address ? seen->address : address;
	uint64_t seen_end = seen->address + JITBPF_CODE_BYTES, end = address + code_bytes;

	end = seen_end < end ? seen_end : end;
	if (from >= end)
		return (struct overlap){0};
	return (struct overlap){seen->bytes + (from - seen->address), code + (from - address),
				end - from};
}

/* The bytes of a sample equal the copy: they vouch for code that is in doubt since an event. */
static int vouch_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, process);
	struct code_check *check;
	uint64_t floor_ns;

	if (!doubts)
		return 0;
	check = code_checks_find(checks, code_region_identity(region), process);
	floor_ns = check && check->vouched_ns > region->loaded_ns ? check->vouched_ns
								  : region->loaded_ns;
	if ((check && check->doubt_ns) || !code_checks_by_events(region) ||
	    code_doubts_since(doubts, region->address, floor_ns) > time_ns)
		return 0;
	check = code_checks_add(checks, process, region);
	if (!check)
		return -ENOMEM;
	check->vouched_ns = time_ns;
	code_doubts_passed(doubts, check->address);
	code_checks_end_wait(checks, check);
	return 0;
}

static int doubt_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns,
			   const struct jitbpf_code_bytes *seen)
{
	struct code_doubts *doubts = code_checks_add_doubts(checks, process);
	struct code_check *check = doubts ? code_checks_add(checks, process, region) : NULL;

	if (!check)
		return -ENOMEM;
	doubts->differed = true;
	if (!check->doubt_ns)
		check->doubt_ns = time_ns;
	check->seen_ns = time_ns;
	check->seen = *seen;
	check->differed = false;
	return 0;
}

/* Returns the overlap with a copy of a region; empty if there is too little of it, or no copy. */
static struct overlap overlap_with(struct code_copies *copies, const struct code_region *region,
				   const struct jitbpf_code_bytes *seen)
{
	const struct code_copy *copy = code_copies_find(copies, code_region_identity(region));
	struct overlap overlap = {0};

	if (copy)
		overlap = overlap_of(seen, region->address, copy->bytes, copy->size_bytes);
	if (overlap.size_bytes < OVERLAP_MIN && overlap.size_bytes < region->size_bytes)
		return (struct overlap){0};
	return overlap;
}

static bool differs(const struct overlap *overlap)
{
	return memcmp(overlap->seen, overlap->code, overlap->size_bytes);
}

int code_checks_seen(struct code_checks *checks, struct code_copies *copies,
		     struct code_copies *large, const struct process *process, uint64_t address,
		     uint64_t time_ns, const struct jitbpf_code_bytes *seen)
{
	struct code_site site = code_site_at(process, address, time_ns);
	struct code_check *check;
	struct overlap overlap;

	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address ||
	    code_checks_is_found(site.region) || !is_in_force(process, site.region))
		return 0;
	check = code_checks_find(checks, code_region_identity(site.region), process);
	if (code_check_is_doubted(check, time_ns))
		return 0;
	code_checks_end_doubt(check, copies, time_ns);
	overlap = overlap_with(copies, site.region, seen);
	if (overlap.size_bytes && differs(&overlap))
		return doubt_by_sample(checks, process, site.region, time_ns, seen);
	if (!overlap.size_bytes) {
		overlap = overlap_with(large, site.region, seen);
		if (!overlap.size_bytes || differs(&overlap))
			return 0;
	}
	return vouch_by_sample(checks, process, site.region, time_ns);
}

/* Count a check. Returns false if the process has used up its checks of this second. */
static bool within_budget(struct code_doubts *doubts, bool has_words, uint64_t now_ns)
{
	uint32_t *count = has_words ? &doubts->identities : &doubts->checks;

	if (now_ns >= doubts->second_ns + SECOND_NS) {
		doubts->second_ns = now_ns;
		doubts->checks = doubts->identities = 0;
	}
	return (*count)++ < (has_words ? CODE_IDENTITIES_PER_S : CODE_CHECKS_PER_S);
}

/* Copy the code of a region for a request. Returns 0 or -ENOMEM. */
static int copy_code(struct code_check *check, const struct code_copy *copy)
{
	struct overlap overlap =
		overlap_of(&check->seen, check->address, copy->bytes, copy->size_bytes);

	/* A shorter copy may have replaced the one that the sample was compared with. */
	if (check->seen_ns && !overlap.size_bytes)
		check->seen_ns = 0;
	check->copy = malloc(copy->size_bytes);
	if (check->seen_ns)
		check->is = malloc(copy->size_bytes);
	if (!check->copy || (check->seen_ns && !check->is)) {
		code_check_free_copies(check);
		return -ENOMEM;
	}
	check->copy_bytes = copy->size_bytes;
	memcpy(check->copy, copy->bytes, copy->size_bytes);
	if (!check->is)
		return 0;
	check->asked_seen_ns = check->seen_ns;
	memcpy(check->is, copy->bytes, copy->size_bytes);
	memcpy(check->is + (overlap.code - copy->bytes), overlap.seen, overlap.size_bytes);
	return 0;
}

bool code_checks_request(struct code_checks *checks, struct code_check *check,
			 struct code_copies *copies, struct unwind_request *ret)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	const bool has_words = code_publisher_of(check->publisher)->identified;
	const struct code_copy *copy = has_words ? NULL : code_copies_find(copies, check->identity);

	if (!copy)
		check->seen_ns = 0;
	/* A check with the bytes of a sample reads no memory, so it needs no pause. */
	if (check->asked || (checks->now_ns < check->next_ns && !check->seen_ns && !checks->ends) ||
	    !within_budget(doubts, has_words, checks->now_ns))
		return false;
	if (copy && copy->size_bytes && copy_code(check, copy))
		return false;
	check->asked = true;
	*ret = (struct unwind_request){
		.kind = UNWIND_CODE_CHECK,
		.pid = check->process->pid,
		.owner = process_owner_key(&check->process->owner),
		.code = {.region = check->identity,
			 .address = check->address,
			 .size_bytes = check->size_bytes,
			 .copy = check->copy,
			 .copy_bytes = check->copy ? check->copy_bytes : 0,
			 .check = {.number = code_check_slot(checks, check),
				   .objects_move =
					   code_publisher_of(check->publisher)->objects_move,
				   .is = check->is,
				   .identity = has_words ? &check->words : NULL}},
	};
	return true;
}

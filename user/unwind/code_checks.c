/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "locate/code_site.h"
#include "state/code/code_region.h"

#define SECOND_NS 1000000000ull

/* Regions that are looked at to find out whether an event concerns code that existed before. */
#define REGIONS_TRIED 8

/* Fewer bytes that a sample saw of a larger region prove nothing. */
#define OVERLAP_MIN 8

/*
 * If so much of the code that was checked is replaced, all of the memory was. An engine may also
 * put a stub into the place of one function.
 */
#define REPLACED_SHARE 8
#define PASSED_MAX     64

struct check_key {
	uint64_t identity;
	const struct process *process;
};

int code_checks_init(struct code_checks *checks)
{
	*checks = (struct code_checks){.slots = calloc(CODE_CHECKS_MAX, sizeof(*checks->slots))};
	return checks->slots ? 0 : -ENOMEM;
}

/* --- events ------------------------------------------------------------------------ */

struct code_doubts *code_checks_of(const struct code_checks *checks, const struct process *process)
{
	return process->slot < checks->doubts.size ? checks->doubts.data[process->slot] : NULL;
}

static struct code_doubts *add_doubts(struct code_checks *checks, const struct process *process)
{
	struct code_doubts *doubts = code_checks_of(checks, process);

	if (doubts)
		return doubts;
	while (checks->doubts.size <= process->slot) {
		if (vec_push(&checks->doubts, NULL))
			return NULL;
	}
	doubts = calloc(1, sizeof(*doubts));
	if (!doubts)
		return NULL;
	doubts->process = process;
	checks->doubts.data[process->slot] = doubts;
	return doubts;
}

static void remove_doubts(struct code_checks *checks, size_t slot)
{
	struct code_doubts *doubts = checks->doubts.data[slot];

	checks->doubts.data[slot] = NULL;
	vec_deinit(&doubts->waiting);
	free(doubts);
}

void code_checks_deinit(struct code_checks *checks)
{
	for (uint32_t i = 0; checks->slots && i < CODE_CHECKS_MAX; i++) {
		free(checks->slots[i].copy);
		free(checks->slots[i].is);
	}
	free(checks->slots);
	index_map_deinit(&checks->index);
	for (size_t i = 0; i < checks->doubts.size; i++) {
		if (checks->doubts.data[i])
			remove_doubts(checks, i);
	}
	vec_deinit(&checks->doubts);
	vec_deinit(&checks->verdicts);
}

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

static void add_time(struct code_doubt *doubt, uint64_t time_ns)
{
	if (doubt->count == CODE_DOUBT_TIMES) {
		memmove(doubt->times_ns, doubt->times_ns + 1,
			(CODE_DOUBT_TIMES - 1) * sizeof(doubt->times_ns[0]));
		doubt->count--;
		doubt->dropped = true;
	}
	/* A late event counts for the time at which it is known. */
	if (doubt->count && doubt->times_ns[doubt->count - 1] > time_ns)
		time_ns = doubt->times_ns[doubt->count - 1];
	doubt->times_ns[doubt->count++] = time_ns;
}

/* Widen a range. Its other part has had other events: which ones is not known any more. */
static void widen(struct code_doubt *doubt, uint64_t start, uint64_t end)
{
	if (start >= doubt->start && end <= doubt->end)
		return;
	doubt->start = start < doubt->start ? start : doubt->start;
	doubt->end = end > doubt->end ? end : doubt->end;
	doubt->dropped = true;
}

/* Remove the ranges behind one that it covers. */
static void absorb(struct code_doubts *doubts, uint32_t at)
{
	const struct code_doubt *doubt = &doubts->doubts[at];

	for (uint32_t i = doubts->doubt_count; --i > at;) {
		if (doubt->start <= doubts->doubts[i].start && doubts->doubts[i].end <= doubt->end)
			doubts->doubts[i] = doubts->doubts[--doubts->doubt_count];
	}
}

/* Returns the range of an event: one that the event covers, a new one, or a joined one. */
static struct code_doubt *range_of(struct code_doubts *doubts, uint64_t start, uint64_t end)
{
	struct code_doubt *doubt;

	for (uint32_t i = 0; i < doubts->doubt_count; i++) {
		doubt = &doubts->doubts[i];
		if (start > doubt->start || end < doubt->end)
			continue;
		widen(doubt, start, end);
		absorb(doubts, i);
		return doubt;
	}
	if (doubts->doubt_count < CODE_DOUBTS_MAX) {
		doubt = &doubts->doubts[doubts->doubt_count++];
		*doubt = (struct code_doubt){.start = start, .end = end};
		return doubt;
	}
	doubt = &doubts->doubts[CODE_DOUBTS_MAX - 1];
	widen(doubt, start, end);
	return doubt;
}

int code_checks_mapped(struct code_checks *checks, const struct process *process, uint64_t start,
		       uint64_t end, uint64_t time_ns)
{
	struct code_doubts *doubts;

	if (!process->code || start >= end || !has_older_code(process, start, end, time_ns))
		return 0;
	doubts = add_doubts(checks, process);
	if (!doubts)
		return -ENOMEM;
	add_time(range_of(doubts, start, end), time_ns);
	return 0;
}

/* --- checks ------------------------------------------------------------------------ */

static uint64_t hash_of(uint64_t identity, const struct process *process)
{
	return hash_mix(identity, (uint64_t)process->number << 1 | 1);
}

static bool equal(const void *slots, uint32_t slot, const void *key_)
{
	const struct code_check *check = (const struct code_check *)slots + slot;
	const struct check_key *key = key_;

	return check->identity == key->identity && check->process == key->process;
}

static struct code_check *find(const struct code_checks *checks, uint64_t identity,
			       const struct process *process)
{
	struct check_key key = {identity, process};
	uint32_t slot = index_map_find(&checks->index, hash_of(identity, process), equal,
				       checks->slots, &key);

	return slot == INDEX_MAP_NONE ? NULL : &checks->slots[slot];
}

static uint32_t slot_of(const struct code_checks *checks, const struct code_check *check)
{
	return (uint32_t)(check - checks->slots);
}

/* Samples wait for the check no longer. */
static void end_wait(struct code_checks *checks, struct code_check *check)
{
	struct code_doubts *doubts =
		check->since_ns ? code_checks_of(checks, check->process) : NULL;

	check->since_ns = 0;
	for (size_t i = 0; doubts && i < doubts->waiting.size; i++) {
		if (doubts->waiting.data[i] == slot_of(checks, check)) {
			doubts->waiting.data[i] = doubts->waiting.data[--doubts->waiting.size];
			return;
		}
	}
}

void code_checks_drop_request(struct code_check *check)
{
	free(check->copy);
	free(check->is);
	check->copy = check->is = NULL;
	check->asked = false;
}

static void remove_check(struct code_checks *checks, struct code_check *check)
{
	end_wait(checks, check);
	index_map_remove(&checks->index, hash_of(check->identity, check->process),
			 slot_of(checks, check));
	check->identity = 0;
	check->process = NULL;
}

/* Returns a slot whose request, if it had one, has been answered; or NULL. */
static struct code_check *free_slot(struct code_checks *checks)
{
	for (uint32_t i = 0; i < CODE_CHECKS_MAX; i++) {
		struct code_check *check = &checks->slots[checks->newest++ % CODE_CHECKS_MAX];

		/* A waiting check stays, so that an event that ends its code finds it. */
		if (check->asked || check->since_ns)
			continue;
		if (check->identity)
			remove_check(checks, check);
		return check;
	}
	return NULL;
}

static struct code_check *add_check(struct code_checks *checks, const struct process *process,
				    const struct code_region *region)
{
	struct code_check *check = find(checks, code_region_identity(region), process);
	uint64_t identity = code_region_identity(region);

	if (check)
		return check;
	check = free_slot(checks);
	if (!check ||
	    index_map_insert(&checks->index, hash_of(identity, process), slot_of(checks, check)))
		return NULL;
	*check = (struct code_check){
		.identity = identity,
		.process = process,
		.address = region->address,
		.size_bytes = region->size_bytes,
		.publisher = region->claims[0].origin.publisher,
	};
	return check;
}

/* Returns the time of the first event after floor_ns, or UINT64_MAX. */
static uint64_t first_after(const struct code_doubt *doubt, uint64_t floor_ns)
{
	if (doubt->dropped && doubt->times_ns[0] > floor_ns)
		return floor_ns + 1;
	for (uint32_t i = 0; i < doubt->count; i++) {
		if (doubt->times_ns[i] > floor_ns)
			return doubt->times_ns[i];
	}
	return UINT64_MAX;
}

/* Returns the time from which code at an address is in doubt, or UINT64_MAX. */
static uint64_t doubted_since(const struct code_doubts *doubts, uint64_t address, uint64_t floor_ns)
{
	uint64_t since_ns = UINT64_MAX;

	for (uint32_t i = 0; i < doubts->doubt_count; i++) {
		const struct code_doubt *doubt = &doubts->doubts[i];
		uint64_t first_ns;

		if (address < doubt->start || address >= doubt->end)
			continue;
		first_ns = first_after(doubt, floor_ns);
		since_ns = first_ns < since_ns ? first_ns : since_ns;
	}
	return since_ns;
}

/* Count a check that passed for the events that it was about. */
static void count_passed(struct code_doubts *doubts, const struct code_check *check)
{
	for (uint32_t i = 0; doubts && i < doubts->doubt_count; i++) {
		struct code_doubt *doubt = &doubts->doubts[i];

		if (check->address >= doubt->start && check->address < doubt->end &&
		    doubt->passed < PASSED_MAX)
			doubt->passed++;
	}
}

static bool was_replaced(const struct code_doubts *doubts, uint64_t address, uint64_t time_ns)
{
	for (uint32_t i = 0; i < CODE_REPLACED_MAX; i++) {
		const struct code_replaced *replaced = &doubts->replaced[i];

		if (address >= replaced->start && address < replaced->end &&
		    time_ns >= replaced->since_ns && time_ns < replaced->until_ns)
			return true;
	}
	return false;
}

/* Begin to wait for a check. Returns 0 or -ENOMEM. */
static int wait_for(struct code_checks *checks, struct code_doubts *doubts,
		    struct code_check *check, uint64_t since_ns)
{
	if (check->since_ns) {
		check->since_ns = since_ns < check->since_ns ? since_ns : check->since_ns;
		return 0;
	}
	if (vec_push(&doubts->waiting, slot_of(checks, check)))
		return -ENOMEM;
	check->since_ns = since_ns;
	return 0;
}

static bool is_in_force(const struct process *process, const struct code_region *region)
{
	const struct code_region *now = code_map_next(process->code, region->address);

	return now && code_region_identity(now) == code_region_identity(region);
}

enum code_trust code_checks_trust(struct code_checks *checks, struct code_doubts *doubts,
				  uint64_t address, uint64_t time_ns, struct code_check **ret)
{
	uint64_t since_ns, floor_ns;
	struct code_check *check;
	struct code_site site;

	*ret = NULL;
	if (!doubts->differed && doubted_since(doubts, address, 0) > time_ns)
		return CODE_VOUCHED;
	if (was_replaced(doubts, address, time_ns))
		return CODE_UNKNOWN;
	site = code_site_at(doubts->process, address, time_ns);
	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address)
		return CODE_VOUCHED; /* none, or in shared memory */
	check = find(checks, code_region_identity(site.region), doubts->process);
	floor_ns = site.region->loaded_ns;
	if (check && check->vouched_ns > floor_ns)
		floor_ns = check->vouched_ns;
	since_ns = doubted_since(doubts, address, floor_ns);
	if (check && check->doubt_ns && check->doubt_ns < since_ns)
		since_ns = check->doubt_ns;
	if (since_ns > time_ns)
		return CODE_VOUCHED;
	if (!is_in_force(doubts->process, site.region))
		return CODE_ENDED;
	check = add_check(checks, doubts->process, site.region);
	if (!check || wait_for(checks, doubts, check, since_ns))
		return CODE_ENDED;
	*ret = check;
	return CODE_WAITS;
}

/* A part of the bytes that a sample saw: those of a copy of a region's beginning. */
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

/* What a sample saw vouches for code that is in doubt since an event. */
static int vouch_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, process);
	struct code_check *check;
	uint64_t floor_ns;

	if (!doubts)
		return 0;
	check = find(checks, code_region_identity(region), process);
	floor_ns = check && check->vouched_ns > region->loaded_ns ? check->vouched_ns
								  : region->loaded_ns;
	if ((check && check->doubt_ns) ||
	    doubted_since(doubts, region->address, floor_ns) > time_ns)
		return 0;
	check = add_check(checks, process, region);
	if (!check)
		return -ENOMEM;
	check->vouched_ns = time_ns;
	count_passed(doubts, check);
	end_wait(checks, check);
	return 0;
}

static int doubt_by_sample(struct code_checks *checks, const struct process *process,
			   const struct code_region *region, uint64_t time_ns,
			   const struct jitbpf_code_bytes *seen)
{
	struct code_doubts *doubts = add_doubts(checks, process);
	struct code_check *check = doubts ? add_check(checks, process, region) : NULL;

	if (!check)
		return -ENOMEM;
	doubts->differed = true;
	if (!check->doubt_ns)
		check->doubt_ns = time_ns;
	check->seen_ns = time_ns;
	check->seen = *seen;
	return 0;
}

int code_checks_seen(struct code_checks *checks, struct code_copies *copies,
		     const struct process *process, uint64_t address, uint64_t time_ns,
		     const struct jitbpf_code_bytes *seen)
{
	struct code_site site = code_site_at(process, address, time_ns);
	const struct code_copy *copy;
	struct overlap overlap;

	if (site.kind != LOCATION_JIT || site.region->address + site.offset != address ||
	    !is_in_force(process, site.region))
		return 0;
	copy = code_copies_find(copies, code_region_identity(site.region));
	if (!copy)
		return 0;
	overlap = overlap_of(seen, site.region->address, copy->bytes, copy->size_bytes);
	if (overlap.size_bytes < OVERLAP_MIN && overlap.size_bytes < site.region->size_bytes)
		return 0;
	return memcmp(overlap.seen, overlap.code, overlap.size_bytes)
		       ? doubt_by_sample(checks, process, site.region, time_ns, seen)
		       : vouch_by_sample(checks, process, site.region, time_ns);
}

/* Count a check. Returns false if the process has used up its checks of this second. */
static bool within_budget(struct code_doubts *doubts, uint64_t now_ns)
{
	if (now_ns >= doubts->second_ns + SECOND_NS) {
		doubts->second_ns = now_ns;
		doubts->checks = 0;
	}
	return doubts->checks++ < CODE_CHECKS_PER_S;
}

/* Copy the code of a region for a request. Returns 0 or -ENOMEM. */
static int copy_code(struct code_check *check, const struct code_copy *copy)
{
	struct overlap overlap;

	check->copy = malloc(copy->size_bytes);
	if (check->seen_ns)
		check->is = malloc(copy->size_bytes);
	if (!check->copy || (check->seen_ns && !check->is)) {
		code_checks_drop_request(check);
		return -ENOMEM;
	}
	check->copy_bytes = copy->size_bytes;
	memcpy(check->copy, copy->bytes, copy->size_bytes);
	if (!check->is)
		return 0;
	check->asked_seen_ns = check->seen_ns;
	memcpy(check->is, copy->bytes, copy->size_bytes);
	overlap = overlap_of(&check->seen, check->address, check->is, copy->size_bytes);
	memcpy(check->is + (overlap.code - check->is), overlap.seen, overlap.size_bytes);
	return 0;
}

bool code_checks_request(struct code_checks *checks, struct code_check *check,
			 struct code_copies *copies, struct unwind_request *ret)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	const struct code_copy *copy = code_copies_find(copies, check->identity);

	if (!copy)
		check->seen_ns = 0;
	/* What a sample saw need not be read. */
	if (check->asked || (checks->now_ns < check->next_ns && !check->seen_ns) ||
	    !within_budget(doubts, checks->now_ns))
		return false;
	if (copy && copy->size_bytes && copy_code(check, copy))
		return false;
	check->asked = true;
	*ret = (struct unwind_request){
		.check = slot_of(checks, check) + 1,
		.copy = check->copy,
		.copy_bytes = check->copy ? check->copy_bytes : 0,
		.is = check->is,
		.region = check->identity,
		.pid = check->process->pid,
		.address = check->address,
		.size_bytes = check->size_bytes,
	};
	return true;
}

/* --- results ----------------------------------------------------------------------- */

/* The region is unknown from since_ns on; samples before until_ns may have waited. */
static void put_verdict(struct code_checks *checks, struct code_doubts *doubts,
			const struct code_verdict *verdict)
{
	doubts->replaced[doubts->replaced_next++ % CODE_REPLACED_MAX] = (struct code_replaced){
		.start = verdict->address,
		.end = verdict->address + verdict->size_bytes,
		.since_ns = verdict->since_ns,
		.until_ns = verdict->decided_ns,
	};
	/* Without memory, the samples that wait are unknown, but later ones are not. */
	(void)vec_push(&checks->verdicts, *verdict);
}

/* All code that is older than the event that one region did not survive is unknown. */
static void end_memory(struct code_checks *checks, struct code_doubts *doubts,
		       const struct code_doubt *doubt, const struct code_verdict *one)
{
	const struct code_region *region = code_map_next(doubts->process->code, doubt->start);
	struct code_verdict verdict = *one;

	for (; region && region->address < doubt->end;
	     region = code_map_next(doubts->process->code, region->address + region->size_bytes)) {
		struct code_check *check =
			find(checks, code_region_identity(region), doubts->process);

		if (region->loaded_ns >= one->since_ns || region->address == one->address)
			continue;
		verdict.address = region->address;
		verdict.size_bytes = region->size_bytes;
		verdict.publisher = region->claims[0].origin.publisher;
		if (check)
			remove_check(checks, check);
		put_verdict(checks, doubts, &verdict);
	}
}

static void decide(struct code_checks *checks, struct code_check *check, uint64_t until_ns,
		   bool unchecked)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	struct code_verdict verdict = {
		.process = check->process,
		.address = check->address,
		.size_bytes = check->size_bytes,
		.since_ns = check->since_ns,
		.decided_ns = until_ns > check->since_ns ? until_ns : check->since_ns,
		.publisher = check->publisher,
		.unchecked = unchecked,
	};

	remove_check(checks, check);
	put_verdict(checks, doubts, &verdict);
	for (uint32_t i = 0; !unchecked && i < doubts->doubt_count; i++) {
		struct code_doubt *doubt = &doubts->doubts[i];

		if (verdict.address < doubt->start || verdict.address >= doubt->end ||
		    doubt->times_ns[doubt->count - 1] < verdict.since_ns)
			continue;
		doubt->failed++;
		if (doubt->failed * REPLACED_SHARE >= doubt->failed + doubt->passed)
			end_memory(checks, doubts, doubt, &verdict);
	}
}

void code_checks_give_up(struct code_checks *checks, struct code_check *check, uint64_t time_ns)
{
	decide(checks, check, time_ns + 1, true);
}

/* Errors of the reader, which a later check need not have. */
static bool is_passing(int error)
{
	return error == -ETIMEDOUT || error == -ENOMEM || error == -EIO || error == -EAGAIN;
}

static void vouch(struct code_checks *checks, struct code_check *check, struct code_copies *copies,
		  const struct unwind_answer *answer)
{
	uint64_t pause_ns;

	end_wait(checks, check);
	check->vouched_ns = answer->read_ns;
	count_passed(code_checks_of(checks, check->process), check);
	pause_ns = ++check->passed * CODE_CHECK_PAUSE_NS;
	if (pause_ns > CODE_CHECK_PAUSE_MAX) {
		pause_ns = CODE_CHECK_PAUSE_MAX;
		check->passed--;
	}
	check->next_ns = checks->now_ns + pause_ns;
	checks->trusted += !check->copy;
	/* Code that was linked, or that is read for the first time. */
	code_copies_put(copies, check->identity, answer->bytes, answer->bytes_read);
}

/* The bytes that a sample saw are of the code: it was linked. */
static void vouch_for_seen(struct code_checks *checks, struct code_check *check,
			   struct code_copies *copies)
{
	end_wait(checks, check);
	if (check->vouched_ns < check->asked_seen_ns)
		check->vouched_ns = check->asked_seen_ns;
	check->doubt_ns = check->seen_ns = 0;
	code_copies_put(copies, check->identity, check->is, check->copy_bytes);
}

void code_checks_take(struct code_checks *checks, struct code_copies *copies,
		      const struct unwind_answer *answer)
{
	struct code_check *check = &checks->slots[answer->request.check - 1];

	check->asked = false;
	if (!check->since_ns) {
		/* The code has ended meanwhile, or a sample has vouched for it. */
		if (check->process && !check->vouched_ns)
			remove_check(checks, check);
	} else if (is_passing(answer->error)) {
		check->next_ns = checks->now_ns + CODE_CHECK_PAUSE_NS;
	} else if (answer->error || answer->differs) {
		decide(checks, check, checks->now_ns + 1, answer->error);
	} else if (check->is) {
		vouch_for_seen(checks, check, copies);
	} else {
		vouch(checks, check, copies, answer);
	}
	code_checks_drop_request(check);
}

/* Returns true if an event may end the code of a check. */
static bool may_end(const struct code_check *check, const struct jitbpf_code_event *event)
{
	uint64_t start = check->address, end = start + check->size_bytes;

	if (!event)
		return true;
	if (event->kind == JITBPF_CODE_UNLOAD && event->method_id) {
		const struct code_region *region =
			code_map_next(check->process->code, check->address);
		const struct code_claim *claim =
			region ? code_region_claim(region, event->publisher) : NULL;

		return claim && region->address == start && claim->method_id == event->method_id;
	}
	if (event->kind == JITBPF_CODE_MOVE && event->old_address == start)
		return true;
	return (event->kind == JITBPF_CODE_LOAD || event->kind == JITBPF_CODE_UNLOAD ||
		event->kind == JITBPF_CODE_MOVE || event->kind == JITBPF_CODE_UPDATE) &&
	       event->address < end &&
	       (event->address >= start || event->code_bytes > start - event->address);
}

void code_checks_code_changes(struct code_checks *checks, const struct process *process,
			      const struct jitbpf_code_event *event, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, process);

	for (size_t i = doubts ? doubts->waiting.size : 0; i-- > 0;) {
		struct code_check *check = &checks->slots[doubts->waiting.data[i]];

		if (may_end(check, event))
			decide(checks, check, time_ns, true);
	}
}

void code_checks_forget_retired(struct code_checks *checks)
{
	for (uint32_t i = 0; i < CODE_CHECKS_MAX; i++) {
		struct code_check *check = &checks->slots[i];

		if (check->process && !check->process->mappings)
			remove_check(checks, check);
	}
	for (size_t i = 0; i < checks->doubts.size; i++) {
		if (checks->doubts.data[i] && !checks->doubts.data[i]->process->mappings)
			remove_doubts(checks, i);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_check_results.h"

#include <errno.h>

#include "state/code/code_region.h"
#include "unwind/code/code_check_table.h"

static bool reports_ends(enum jitbpf_publisher publisher)
{
	return code_publisher_of(publisher)->reports_ends;
}

/*
 * Add a verdict. Its region is unknown from since_ns on; samples before decided_ns may have waited
 * for it. Code whose publisher reports all ends is unknown for these samples only.
 */
static void put_verdict(struct code_checks *checks, struct code_doubts *doubts,
			const struct code_verdict *verdict)
{
	doubts->replaced[doubts->replaced_next++ % CODE_REPLACED_MAX] = (struct code_replaced){
		.start = verdict->address,
		.end = verdict->address + verdict->size_bytes,
		.since_ns = verdict->since_ns,
		.until_ns = verdict->decided_ns,
		.goes_on = reports_ends(verdict->publisher),
	};
	if (reports_ends(verdict->publisher))
		return;
	if (checks->found)
		found_pieces_end(checks->found, verdict->process, verdict->address);
	/*
	 * If memory is short, the code is unknown for the samples that wait, but not for later
	 * ones.
	 */
	(void)vec_push(&checks->verdicts, *verdict);
}

/* Returns the time from which a region of memory that was replaced at since_ns is unknown. */
static uint64_t unknown_since(const struct code_check *check, uint64_t since_ns)
{
	/*
	 * Samples may already wait for this region's own check, because of an earlier event or
	 * different bytes.
	 */
	if (check && check->since_ns && check->since_ns < since_ns)
		since_ns = check->since_ns;
	if (check && check->doubt_ns && check->doubt_ns < since_ns)
		since_ns = check->doubt_ns;
	return since_ns;
}

/*
 * Put verdicts on all code in the range of a doubt that is older than the event that replaced one
 * of its regions.
 */
static void end_memory(struct code_checks *checks, struct code_doubts *doubts,
		       const struct code_doubt *doubt, const struct code_verdict *one)
{
	const struct code_region *region = code_map_next(doubts->process->code, doubt->start);
	struct code_verdict verdict = *one;

	for (; region && region->address < doubt->end;
	     region = code_map_next(doubts->process->code, region->address + region->size_bytes)) {
		struct code_check *check =
			code_checks_find(checks, code_region_identity(region), doubts->process);

		/* A region that has a verdict is in the map until the verdict is applied. */
		if (region->loaded_ns >= one->since_ns || !code_checks_by_events(region) ||
		    code_doubts_replaced(doubts, region->address, one->since_ns))
			continue;
		verdict.address = region->address;
		verdict.size_bytes = region->size_bytes;
		verdict.since_ns = unknown_since(check, one->since_ns);
		verdict.publisher = region->claims[0].origin.publisher;
		if (check)
			code_checks_remove(checks, check);
		put_verdict(checks, doubts, &verdict);
	}
}

static struct code_verdict verdict_on(const struct code_check *check, uint64_t since_ns,
				      uint64_t until_ns, bool unchecked)
{
	return (struct code_verdict){
		.process = check->process,
		.address = check->address,
		.size_bytes = check->size_bytes,
		.since_ns = since_ns,
		.decided_ns = until_ns > since_ns ? until_ns : since_ns,
		.publisher = check->publisher,
		.unchecked = unchecked,
	};
}

/* A check has failed, of code whose publisher has reported no end. */
static void begin_doubt(struct code_checks *checks, struct code_check *check)
{
	if (check->since_ns >= check->unknown_until_ns || check->since_ns < check->unknown_ns)
		check->unknown_ns = check->since_ns;
	check->unknown_until_ns = check->since_ns + CODE_DOUBT_NS;
	check->differed = check->seen_ns;
	check->doubt_ns = check->seen_ns = 0;
	code_checks_end_wait(checks, check);
}

void code_checks_end_doubt(struct code_check *check, struct code_copies *copies, uint64_t time_ns)
{
	const struct jitbpf_code_bytes *seen;
	uint64_t before;

	if (!check || !check->differed || time_ns < check->unknown_until_ns)
		return;
	seen = &check->seen;
	before = check->address > seen->address ? check->address - seen->address : 0;
	check->differed = false;
	if (before < JITBPF_CODE_BYTES)
		code_copies_patch(copies, check->identity, seen->address + before - check->address,
				  seen->bytes + before, JITBPF_CODE_BYTES - before);
}

static void decide(struct code_checks *checks, struct code_check *check, uint64_t until_ns,
		   bool unchecked)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	struct code_verdict verdict = verdict_on(check, check->since_ns, until_ns, unchecked);

	if (!unchecked && reports_ends(check->publisher)) {
		begin_doubt(checks, check);
		return;
	}
	code_checks_remove(checks, check);
	put_verdict(checks, doubts, &verdict);
	/* Words of found code say nothing about the memory around it. */
	if (code_publisher_of(verdict.publisher)->identified)
		return;
	for (uint32_t i = 0; !unchecked && i < doubts->doubt_count; i++) {
		struct code_doubt *doubt = &doubts->doubts[i];

		if (code_doubts_failed(doubt, verdict.address, verdict.since_ns))
			end_memory(checks, doubts, doubt, &verdict);
	}
}

bool code_checks_take_verdict(struct code_checks *checks, struct code_verdict *ret)
{
	if (checks->verdicts_taken == checks->verdicts.size) {
		checks->verdicts_taken = checks->verdicts.size = 0;
		return false;
	}
	*ret = checks->verdicts.data[checks->verdicts_taken++];
	return true;
}

static enum code_trust distrust(enum jitbpf_publisher publisher)
{
	return reports_ends(publisher) ? CODE_DOUBTED : CODE_UNKNOWN;
}

enum code_trust code_checks_give_up(struct code_checks *checks, struct code_check *check,
				    uint64_t time_ns)
{
	enum jitbpf_publisher publisher = check->publisher;

	decide(checks, check, time_ns + 1, true);
	return distrust(publisher);
}

enum code_trust code_checks_refuse(struct code_checks *checks, struct code_check *check,
				   uint64_t since_ns, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, check->process);
	struct code_verdict verdict = verdict_on(check, since_ns, time_ns + 1, true);

	code_checks_remove(checks, check);
	put_verdict(checks, doubts, &verdict);
	return distrust(verdict.publisher);
}

/* Returns true for errors of the reader that are temporary. */
static bool is_passing(const struct code_check *check, int error)
{
	/* The process may have ended, which is reported later. */
	if (error && code_publisher_of(check->publisher)->identified)
		return true;
	return error == -ETIMEDOUT || error == -ENOMEM || error == -EIO || error == -EAGAIN;
}

static void vouch(struct code_checks *checks, struct code_check *check, struct code_copies *copies,
		  const struct unwind_answer *answer)
{
	uint64_t pause_ns;

	code_checks_end_wait(checks, check);
	check->vouched_ns = answer->read_ns;
	if (code_publisher_of(check->publisher)->identified) {
		check->next_ns = checks->now_ns + CODE_CHECK_PAUSE_MAX;
		return;
	}
	code_doubts_passed(code_checks_of(checks, check->process), check->address);
	pause_ns = ++check->passed * CODE_CHECK_PAUSE_NS;
	if (pause_ns > CODE_CHECK_PAUSE_MAX) {
		pause_ns = CODE_CHECK_PAUSE_MAX;
		check->passed--;
	}
	check->next_ns = checks->now_ns + pause_ns;
	checks->trusted += !check->copy;
	/* Keep the code that was read: it has linked calls, or had no copy. */
	code_copies_put(copies, check->identity, answer->bytes, answer->bytes_read);
}

/* The bytes that a sample saw are the same code with linked calls: they become part of the copy. */
static void vouch_for_seen(struct code_checks *checks, struct code_check *check,
			   struct code_copies *copies)
{
	code_checks_end_wait(checks, check);
	if (check->vouched_ns < check->asked_seen_ns)
		check->vouched_ns = check->asked_seen_ns;
	check->doubt_ns = check->seen_ns = 0;
	code_copies_put(copies, check->identity, check->is, check->copy_bytes);
}

void code_checks_take(struct code_checks *checks, struct code_copies *copies,
		      const struct unwind_answer *answer)
{
	struct code_check *check = &checks->slots[answer->request.code.check.number];

	if (!check->since_ns) {
		/* The code has ended meanwhile, or a sample has vouched for it. */
		if (check->process && !check->vouched_ns)
			code_checks_remove(checks, check);
	} else if (is_passing(check, answer->error)) {
		check->next_ns = checks->now_ns + CODE_CHECK_PAUSE_NS;
	} else if (answer->error || answer->differs) {
		decide(checks, check, checks->now_ns + 1, answer->error);
	} else if (check->is) {
		vouch_for_seen(checks, check, copies);
	} else {
		vouch(checks, check, copies, answer);
	}
	code_checks_drop_request(checks, check);
	if (check->since_ns)
		code_checks_list(checks, check);
}

void code_checks_end_found(struct code_checks *checks, const struct process *process,
			   const struct code_region *region)
{
	struct code_doubts *doubts = code_checks_add_doubts(checks, process);
	struct code_check *check = doubts ? code_checks_add(checks, process, region) : NULL;
	uint64_t since_ns = code_checks_seen_until(checks, process, region);
	struct code_verdict verdict;

	/* Without memory, the load of the other code ends the region. */
	if (!check)
		return;
	since_ns = since_ns > region->loaded_ns ? since_ns : region->loaded_ns;
	verdict = verdict_on(check, since_ns + 1, checks->now_ns + 1, false);
	code_checks_remove(checks, check);
	put_verdict(checks, doubts, &verdict);
}

void code_checks_exited(struct code_checks *checks, const struct process *process)
{
	struct code_doubts *doubts = code_checks_of(checks, process);

	for (size_t i = doubts ? doubts->waiting.size : 0; i-- > 0;) {
		struct code_check *check = &checks->slots[doubts->waiting.data[i]];

		if (code_publisher_of(check->publisher)->identified)
			code_checks_end_wait(checks, check);
	}
}

uint64_t code_checks_seen_until(const struct code_checks *checks, const struct process *process,
				const struct code_region *region)
{
	const struct found_piece *found =
		checks->found ? found_pieces_at(checks->found, process, region->address) : NULL;
	const struct code_check *check =
		code_checks_find(checks, code_region_identity(region), process);
	uint64_t until_ns = found ? found->found_ns : 0;

	return check && check->vouched_ns > until_ns ? check->vouched_ns : until_ns;
}

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

/* End the regions of found code that an event of a publisher ends, as of their last checks. */
static void end_found(struct code_checks *checks, const struct process *process,
		      const struct jitbpf_code_event *event)
{
	uint64_t at = event->address, end = at + event->code_bytes;
	const struct code_region *region = code_map_next(process->code, at);

	for (; region && region->address < end; region = code_map_next(process->code, at)) {
		at = region->address + region->size_bytes;
		if (code_checks_is_found(region) &&
		    !code_doubts_replaced(code_checks_of(checks, process), region->address,
					  checks->now_ns))
			code_checks_end_found(checks, process, region);
	}
}

void code_checks_code_changes(struct code_checks *checks, const struct process *process,
			      const struct jitbpf_code_event *event, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(checks, process);

	if (doubts && doubts->has_found && process->code && event &&
	    event->kind == JITBPF_CODE_LOAD && event->code_bytes <= UINT64_MAX - event->address)
		end_found(checks, process, event);
	for (size_t i = doubts ? doubts->waiting.size : 0; i-- > 0;) {
		struct code_check *check = &checks->slots[doubts->waiting.data[i]];

		if (may_end(check, event))
			decide(checks, check, time_ns, true);
	}
}

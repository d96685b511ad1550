/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwinder's part in checks of JIT code (unwind/code/code_checks.h): stacks and requests. */
#include "decode/record/sample_parts.h"
#include "unwind/code/code_check_results.h"
#include "unwind/code/code_successors.h"
#include "unwind/stack_walk.h"
#include "unwind/unwinder_state.h"

/* Code of a process that has ended was looked at so long before, if it ran. */
#define SEEN_RECENTLY_NS 500000000ull

bool unwinder_doubts(const struct unwinder *u, const struct process *process)
{
	return code_checks_of(&u->checks, process);
}

int unwinder_saw(struct unwinder *u, const struct process *process,
		 const struct jitbpf_sample *sample)
{
	const struct jitbpf_code_bytes *seen = code_bytes_of(sample);
	struct frame_words user = sample_user_frames(sample);
	struct typed_frame frame;

	while (seen && frame_words_next(&user, &frame)) {
		uint64_t address = typed_frame_pc(&frame);

		if (frame.kind == JITBPF_FRAME_ADDRESS &&
		    address - seen->address < JITBPF_CODE_BYTES)
			return code_checks_seen(&u->checks, &u->copies, &u->large, process, address,
						sample->h.time_ns, seen);
	}
	return 0;
}

static void request_check(struct unwinder *u, struct code_check *check)
{
	const struct unwind_account account = {.unwinder = u, .process = check->process};
	struct unwind_request request;

	if (unwind_may_ask(&account, UNWIND_ASKED_MAX) &&
	    code_checks_request(&u->checks, check, &u->copies, &request) && unwind_ask(u, &request))
		code_checks_drop_request(&u->checks, check);
}

void unwind_request_checks(struct unwinder *u)
{
	size_t kept = 0;

	vec_for_each (slot, &u->checks.unasked) {
		struct code_check *check = &u->checks.slots[*slot];

		if (check->since_ns && !check->asked)
			request_check(u, check);
		check->listed = check->since_ns && !check->asked;
		if (check->listed)
			u->checks.unasked.data[kept++] = *slot;
	}
	u->checks.unasked.size = kept;
}

int unwinder_check(struct unwinder *u, const struct process *process, uint64_t time_ns, bool last,
		   struct finished_stack *stack, uint64_t *ret_key)
{
	struct code_doubts *doubts = code_checks_of(&u->checks, process);
	struct code_check *check;
	int waits = 0;

	stack->replaced = stack->untold = false;
	for (uint32_t i = 0; doubts && i < stack->count; i++) {
		enum code_trust trust = code_checks_trust(&u->checks, doubts, stack->words[i] - !!i,
							  time_ns, &check);

		/*
		 * An innermost frame whose code has ended keeps its name and its callers: code that
		 * lives for milliseconds ends before it can be checked.
		 */
		if (trust == CODE_VOUCHED || (trust == CODE_ENDED && !i))
			continue;
		if (trust == CODE_WAITS && !last) {
			request_check(u, check);
			if (!check->asked)
				code_checks_list(&u->checks, check);
			if (!waits)
				*ret_key = code_checks_key(&u->checks, check);
			waits = 1;
			continue;
		}
		if (trust == CODE_WAITS)
			trust = code_checks_give_up(&u->checks, check, time_ns);
		/* Its caller was found by rows of the replaced code, so the callers are wrong. */
		if (stack->end != JITBPF_END_NONE && i + 1 < stack->count)
			stack->end = JITBPF_END_NO_RULE;
		stack->count = trust == CODE_ENDED ? i : i + 1;
		stack->replaced = trust != CODE_DOUBTED;
		stack->untold = trust == CODE_DOUBTED;
	}
	return waits;
}

/*
 * Returns true if a frame of a sample is in code that was found after it, or last seen before it,
 * and that cannot have run then.
 */
static bool was_not_there(struct unwinder *u, const struct process *process,
			  const struct sampled_frame *frame)
{
	struct code_site site = code_site_at(process, frame->address, frame->time_ns);
	const struct found_piece *piece;
	uint64_t until_ns;

	if (site.kind != LOCATION_JIT || site.region->address + site.offset != frame->address ||
	    !code_checks_is_found(site.region))
		return false;
	piece = found_pieces_at(&u->found.pieces, process, site.region->address);
	until_ns = code_checks_seen_until(&u->checks, process, site.region);
	if (piece && (!found_identity_is_used(&piece->identity) ||
		      (piece->found_ns <= frame->time_ns && frame->time_ns <= until_ns)))
		return false;
	/* Code that was not looked at for long before its process ended. */
	if (piece && frame->time_ns > until_ns + SEEN_RECENTLY_NS)
		return true;
	return !code_found_is_possible(&u->copies, site.region, frame);
}

uint32_t unwinder_frames_untold(struct unwinder *u, const struct process *process,
				const struct jitbpf_sample *sample,
				const struct jitbpf_code_bytes *seen)
{
	bool finds = unwinder_finds_code(u, process);
	bool ends = code_has_successors(process) &&
		    code_map_has_ended_since(process->code, sample->h.time_ns);
	struct frame_words user = sample_user_frames(sample);
	struct typed_frame typed;

	if (!finds && !ends)
		return 0;
	for (uint32_t frames = 1; frame_words_next(&user, &typed); frames++) {
		struct sampled_frame frame = {.address = typed_frame_pc(&typed),
					      .time_ns = sample->h.time_ns,
					      .is_caller = typed.is_caller};

		if (typed.kind != JITBPF_FRAME_ADDRESS)
			continue;
		/* The bytes belong to the innermost frame in their range. */
		if (seen && frame.address - seen->address < JITBPF_CODE_BYTES) {
			frame.seen = seen;
			seen = NULL;
		}
		if ((ends && code_successor_is_possible(&u->copies, process, &frame)) ||
		    (finds && was_not_there(u, process, &frame)))
			return frames;
	}
	return 0;
}

void unwinder_end(struct unwinder *u)
{
	u->checks.ends = true;
}

bool unwinder_finds_code(const struct unwinder *u, const struct process *process)
{
	const struct code_doubts *doubts = code_checks_of(&u->checks, process);

	return doubts && doubts->has_found;
}

int unwinder_mapped(struct unwinder *u, const struct process *process, uint64_t address,
		    uint64_t size_bytes, uint64_t time_ns)
{
	return code_checks_mapped(&u->checks, process, address, address + size_bytes, time_ns);
}

void unwinder_code_changes(struct unwinder *u, const struct process *process,
			   const struct jitbpf_code_event *event, uint64_t time_ns)
{
	code_checks_code_changes(&u->checks, process, event, time_ns);
}

bool unwinder_take_verdict(struct unwinder *u, struct code_verdict *ret)
{
	return code_checks_take_verdict(&u->checks, ret);
}

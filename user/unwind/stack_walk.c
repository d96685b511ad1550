/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/stack_walk.h"

#include <errno.h>
#include <string.h>

#include "decode/record/sample_parts.h"
#include "decode/x86/call_site.h"
#include "state/code/code_region.h"

struct unwind_state;
static int read_copy(struct unwind_state *s, void *dst, size_t size_bytes, uint64_t address);

#define unwind_read(dst, size, address) read_copy(s, dst, size, address)

#include "bpf/compiled_frame.h"
#include "bpf/unwind_end.h"
#include "bpf/unwind_narrow.h"

struct walk {
	struct unwind_state state; /* must be first: unwind_read() has only a pointer to it */
	const struct jitbpf_stack_copy *copy;
	bool beyond_copy; /* the walk needed bytes after the end of the copy */
	bool waits;	  /* whether functions can return to a frame is pending */
	/* Where the walk can go on later: its last frame, or that before the first that waits. */
	struct unwind_state at;
	uint32_t at_count;	    /* frames up to there */
	uint64_t keys[UNWIND_KEYS]; /* of what the frames behind it wait for */
};

/*
 * Returns true if a copy was cut at its size limit. If the end of the stack is not known, a shorter
 * copy ends where memory is unreadable.
 */
static bool is_truncated(const struct jitbpf_stack_copy *copy)
{
	uint64_t limit = unwind_stack_limit(copy->sp, copy->stack_top, copy->thread_pointer);

	return limit ? copy->size_bytes < limit - copy->sp
		     : copy->size_bytes > JITBPF_UNBOUNDED_COPY_MAX - sizeof(__u64);
}

static int read_copy(struct unwind_state *s, void *dst, size_t size_bytes, uint64_t address)
{
	struct walk *walk = (struct walk *)s;
	uint64_t offset = address - walk->copy->sp;

	if (address < walk->copy->sp || offset > UNWIND_STACK_BYTES_MAX)
		return -EFAULT; /* not on this stack */
	if (offset > walk->copy->size_bytes || size_bytes > walk->copy->size_bytes - offset) {
		walk->beyond_copy = is_truncated(walk->copy);
		return -EFAULT;
	}
	if (stack_copy_misses(walk->copy, offset, size_bytes))
		return -EFAULT;
	memcpy(dst, walk->copy->data + offset, size_bytes);
	return 0;
}

static uint64_t address_of(const struct unwind_state *state)
{
	return state->ip - !!state->is_caller;
}

/*
 * Look up the code site of a caller. Returns false if nothing is mapped there, or if it is no
 * address, where a process can report code, too. Then the previous frame is the last one.
 */
static bool find_caller(const struct unwind_account *account, const struct walk *walk,
			uint64_t time_ns, struct code_site *ret)
{
	*ret = walk->state.is_caller
		       ? code_site_of_caller(account->process, walk->state.ip, time_ns)
		       : code_site_at(account->process, walk->state.ip, time_ns);
	return ret->kind != LOCATION_UNKNOWN &&
	       frame_word_is_address(unwind_frame_ip(&walk->state));
}

/*
 * Returns whether functions can return to an address, by the file, the copy of JIT code, or the
 * process's memory.
 */
static enum return_site_state return_site(const struct unwind_account *account,
					  const struct code_site *site, uint64_t address)
{
	struct unwinder *u = account->unwinder;
	const struct code_copy *copy;
	struct unwind_row row;

	if (site->kind != LOCATION_JIT)
		return unwind_return_at(account, site, address + 1);
	copy = code_copies_find(&u->copies, code_region_identity(site->region));
	if (copy && site->offset < copy->size_bytes)
		return code_can_end_with_call(copy->bytes, site->offset + 1) ? RETURN_SITE_CAN
									     : RETURN_SITE_CAN_NOT;
	/* The code is read for its rows. */
	return unwind_rule_at(account, site, address, &row) > 0 ? RETURN_SITE_WAITS
								: RETURN_SITE_CAN_NOT;
}

/*
 * Checks where a frame pointer led. Returns UNWIND_STEPPED if functions can return there; or how
 * the stack ends. If that is pending, the walk goes on, to request all that it needs, and waits at
 * its end.
 */
static int check_return(const struct unwind_account *account, struct walk *walk, uint64_t time_ns,
			bool last)
{
	enum return_site_state state;
	struct code_site site;

	if (!find_caller(account, walk, time_ns, &site))
		return JITBPF_END_BAD_FRAME;
	state = return_site(account, &site, address_of(&walk->state));
	if (state == RETURN_SITE_CAN_NOT)
		return JITBPF_END_BAD_FRAME;
	if (state == RETURN_SITE_WAITS && !walk->waits) {
		walk->keys[0] = account->unwinder->key;
		walk->waits = true;
	}
	return state == RETURN_SITE_WAITS && last ? JITBPF_END_NO_RULE : UNWIND_STEPPED;
}

/* Set the row of a frame in unknown code if the process's runtime has compiled that. */
static void set_compiled_row(const struct unwind_account *account, struct walk *walk,
			     struct unwind_row *row)
{
	const struct recipe_process *one =
		runtime_recipes_find(&account->unwinder->recipes, account->process);
	__u64 words[RUNTIME_COMPILED_WORDS];
	const struct runtime_compiled *compiled;
	uint32_t count;

	if (!one || !one->recipe)
		return;
	compiled = &one->recipe->known.recipe.compiled;
	if (!compiled->exists || read_copy(&walk->state, words, sizeof(words), walk->state.sp))
		return;
	count = compiled_frame_words(words, compiled->callers.start, compiled->callers.end);
	if (count)
		*row = compiled_frame_row(count, walk->state.sp, walk->state.bp);
}

/*
 * Step from the current frame to its caller. Returns UNWIND_STEPPED, the end of
 * the stack, or a negative value: -EAGAIN if rows are pending, or an errno.
 */
static int step(const struct unwind_account *account, struct walk *walk,
		const struct code_site *site, uint64_t time_ns, bool last,
		const struct finished_stack *stack)
{
	const struct jitbpf_stack_copy *copy = walk->copy;
	const struct unwind_state before = walk->state;
	uint64_t address = address_of(&before);
	bool in_file = site->kind == LOCATION_NATIVE, narrow = before.narrow, guesses;
	struct unwind_row row = unwind_frame_pointer_row;
	int end, err = 0;

	/* Rows of code without a file are made from its instructions, if they are 64-bit. */
	if (in_file || !narrow)
		err = unwind_rule_at(account, site, address, &row);
	if (err > 0)
		walk->keys[1] = account->unwinder->key;
	if (err < 0 || (err && !last))
		return err < 0 ? err : -EAGAIN;
	if ((site->kind == LOCATION_JIT || site->kind == LOCATION_ANON) && !narrow)
		unwind_want_page(account->unwinder, account->process, address, site->region);
	guesses = row.cfa == unwind_frame_pointer_row.cfa;
	if (guesses && site->kind == LOCATION_ANON && !narrow)
		set_compiled_row(account, walk, &row);
	end = narrow ? unwind_step_narrow(&walk->state, row) : unwind_step(&walk->state, row);
	if (end == UNWIND_STEPPED && guesses)
		end = check_return(account, walk, time_ns, last);
	if (end == UNWIND_STEPPED)
		return end;
	walk->state = before;
	end = unwind_end(&walk->state, row, end, stack->count - 1, copy->stack_top, in_file);
	return end == JITBPF_END_UNREADABLE && walk->beyond_copy ? JITBPF_END_COPY : end;
}

static int walk_on(const struct unwind_account *account, struct walk *walk, struct code_site site,
		   uint64_t time_ns, bool last, struct finished_stack *stack)
{
	int end;

	for (;;) {
		if (!walk->waits) {
			walk->at = walk->state;
			walk->at_count = stack->count;
		}
		end = step(account, walk, &site, time_ns, last, stack);
		if (end != UNWIND_STEPPED)
			return end;
		if (stack->count == JITBPF_USER_FRAMES_MAX)
			return JITBPF_END_DEPTH;
		if (!find_caller(account, walk, time_ns, &site))
			return JITBPF_END_BAD_FRAME;
		stack->frame_pointers[stack->count] = walk->state.bp;
		stack->words[stack->count++] = unwind_frame_ip(&walk->state);
	}
}

static uint32_t changes_of(const struct unwind_account *account)
{
	const struct unwinder *u = account->unwinder;

	return u->changes[account->process->number % UNWIND_CHANGES] + u->shared_changes;
}

/* Note where a walk can go on. If it was in no frame, it begins anew. */
static void set_wait(const struct unwind_account *account, const struct walk *walk,
		     struct unwind_wait *ret)
{
	*ret = (struct unwind_wait){
		.keys = {walk->keys[0], walk->keys[1]},
		.count = walk->at_count,
		.changes = changes_of(account),
		.finished = ret->finished,
		.ip = walk->at.ip,
		.sp = walk->at.sp,
		.bp = walk->at.bp,
		.is_caller = walk->at.is_caller,
		.guessed = walk->at.guessed,
		.rbp = walk->at.rbp,
		.narrow = walk->at.narrow,
	};
}

/* Returns true if a walk can go on: no code that it has passed may have changed. */
static bool can_go_on(const struct unwind_account *account, const struct unwind_wait *wait)
{
	return wait->count && wait->changes == changes_of(account);
}

static void go_on(struct unwind_state *state, const struct unwind_wait *wait)
{
	*state = (struct unwind_state){
		.ip = wait->ip,
		.sp = wait->sp,
		.bp = wait->bp,
		.thread_pointer = state->thread_pointer,
		.is_caller = wait->is_caller,
		.guessed = wait->guessed,
		.rbp = wait->rbp,
		.narrow = wait->narrow,
	};
}

int stack_walk(const struct unwind_account *account, const struct jitbpf_sample *sample,
	       const struct jitbpf_stack_copy *copy, bool last, struct unwind_wait *wait,
	       struct finished_stack *ret)
{
	const struct frame_words user = sample_user_frames(sample);
	struct walk walk = {.copy = copy};
	struct code_site site;
	int end;

	walk.state = (struct unwind_state){
		.ip = copy->ip,
		.sp = copy->sp,
		.bp = copy->bp,
		.thread_pointer = copy->thread_pointer,
		.is_caller = copy->is_caller,
		.narrow = copy->is_narrow,
		.guessed = sample->h.flags & JITBPF_SAMPLE_FRAME_POINTERS,
	};
	ret->count = user.count;
	memcpy(ret->words, user.words, ret->count * sizeof(ret->words[0]));
	if (can_go_on(account, wait)) {
		go_on(&walk.state, wait);
		ret->count = wait->count;
	}
	/*
	 * The leaf frame is where the CPU was, so it is kept even if nothing is
	 * known to be mapped there.
	 */
	if (!find_caller(account, &walk, sample->h.time_ns, &site) && ret->count > 1) {
		ret->count--;
		end = JITBPF_END_BAD_FRAME;
	} else {
		end = walk_on(account, &walk, site, sample->h.time_ns, last, ret);
	}
	set_wait(account, &walk, wait);
	if (end >= 0 && walk.waits && !last)
		end = -EAGAIN;
	if (end < 0)
		return end == -EAGAIN ? UNWIND_RULE_WAITS : end;
	ret->end = end;
	ret->guessed = walk.state.guessed;
	return 0;
}

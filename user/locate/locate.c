/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/locate.h"

#include <errno.h>
#include <string.h>

#include "base/common_words.h"
#include "locate/code_site.h"
#include "runtimes/engine_host.h"
#include "state/process/runtime_functions.h"

#define POSITION (JITBPF_POSITION_LINE | JITBPF_POSITION_COMPILED)

/* The stack that is being located. */
struct locating {
	struct location_table *table;
	const struct global_code *global;
	const struct process *process;
	const struct frame_cache *cache; /* or NULL */
	uint64_t time_ns;
	struct located_stack *ret;
	uint32_t *out; /* in ret->locations */
	/* What becomes of cache->last; NULL: it is left as it is. */
	struct located_words *last;
	uint32_t common;	/* outermost words that it has in common with the stack */
	uint32_t called, named; /* its new values */
};

/*
 * Returns true if the cache has the location of a frame, which is added to the stack then, and sets
 * *ret_function: it is a function of a runtime.
 */
static bool add_known(struct locating *to, const struct frame_cache_key *key, bool *ret_function)
{
	const struct frame_cache_slot *slot = to->cache ? frame_cache_slot(to->cache, key) : NULL;

	if (!slot || !frame_cache_has(to->cache, slot, key, to->time_ns))
		return false;
	to->ret->code_unknown |= slot->code_unknown;
	to->ret->code_unpublished |= slot->code_unpublished;
	*ret_function = slot->is_function;
	*to->out++ = slot->location;
	return true;
}

/*
 * Returns true if a location is a known function of a runtime, interpreted or as machine code that
 * the runtime's agent has reported as a method.
 */
static bool is_function(const struct location *location)
{
	if (location->kind == LOCATION_JIT)
		return engine_host_frames((const struct code_region *)location->code) ==
		       ENGINE_FRAMES_ONE;
	return location->kind == LOCATION_RUNTIME;
}

/*
 * Add a location to the stack; it is LOCATION_NO_ROOM if the table has no room for it. key: keep it
 * in the cache; or NULL.
 */
static int add_location(struct locating *to, const struct location *location,
			const struct frame_cache_key *key)
{
	/* The runtime frames that such code only serves say which function ran. */
	bool unknown = location_kind_info(location->kind)->code_unknown;
	bool code_unknown = unknown && !location->is_interpreter;
	bool code_unpublished = unknown && location->is_interpreter;
	int err = location_table_add(to->table, location, to->out);

	if (err && err != -EDQUOT)
		return err;
	to->ret->code_unknown |= code_unknown;
	to->ret->code_unpublished |= code_unpublished;
	if (err)
		*to->out = LOCATION_NO_ROOM;
	else if (key && to->cache && to->cache->keeps)
		*frame_cache_slot(to->cache, key) = (struct frame_cache_slot){
			.key = *key,
			.time_ns = to->time_ns,
			.table = to->cache->table,
			.location = *to->out,
			.code_unknown = code_unknown,
			.code_unpublished = code_unpublished,
			.is_function = is_function(location),
		};
	to->out++;
	return 0;
}

static int locate_kernel(struct locating *to, uint64_t word, bool is_caller)
{
	/* A caller is looked up at its call, not at the return address. */
	struct location location = {.kind = LOCATION_KERNEL, .offset = word - is_caller};
	const struct frame_cache_key key = {
		.frame = frame_cache_frame(word, is_caller),
		.process = UINT64_MAX,
		.generation = space_map_generation(to->global->kernel),
	};
	struct space_entry entry;
	bool ignored;

	if (add_known(to, &key, &ignored))
		return 0;
	if (space_map_find(to->global->kernel, location.offset, to->time_ns, &entry)) {
		const struct kernel_code *code = (const struct kernel_code *)entry.value;

		location.kind = LOCATION_KERNEL_CODE;
		location.owner = code->number;
		location.offset -= code->address;
		location.code = entry.value;
	}
	return add_location(to, &location, &key);
}

static struct location user_location(const struct process *process, uint64_t address,
				     uint64_t time_ns, bool is_caller)
{
	struct code_site site = is_caller ? code_site_of_caller(process, address, time_ns)
					  : code_site_at(process, address, time_ns);
	struct location location = {.kind = site.kind, .offset = site.offset};

	if (site.kind == LOCATION_JIT) {
		location.owner = site.region->number;
		location.code = &site.region->value;
	} else if (site.kind == LOCATION_NATIVE) {
		location.owner = site.module;
	}
	return location;
}

/* Returns true if an address was mapped only in the program that the process ran before time_ns. */
static bool is_of_old_program(const struct process *process, uint64_t address, uint64_t time_ns)
{
	uint64_t program_ns = process_program_at(process, time_ns);
	struct space_entry mapped;

	return process->mappings && program_ns &&
	       space_map_find(process->mappings, address, program_ns - 1, &mapped);
}

/* The unknown functions of a runtime are one location. */
static struct location runtime_location(const struct runtime_functions *functions,
					const struct typed_frame *frame)
{
	const struct known_function *function = runtime_functions_find(functions, frame->value);

	if (!function)
		return (struct location){.kind = LOCATION_RUNTIME_UNKNOWN};
	if (!*function->name)
		return (struct location){.kind = LOCATION_RUNTIME_UNKNOWN,
					 .owner = function->number,
					 .code = &function->value};
	return (struct location){.kind = LOCATION_RUNTIME,
				 .owner = function->number,
				 .offset = frame->position & POSITION,
				 .code = &function->value};
}

static struct location frame_location(const struct locating *to, const struct typed_frame *frame)
{
	struct location location;

	if (frame->kind == JITBPF_FRAME_RUNTIME)
		return runtime_location(to->global->functions, frame);
	if (frame->kind == JITBPF_FRAME_GAP)
		return (struct location){.kind = LOCATION_GAP};
	location = user_location(to->process, frame->value, to->time_ns, frame->is_caller);
	location.is_interpreter = frame->kind == JITBPF_FRAME_INTERPRETER;
	return location;
}

/* --- the outer frames of the stack before ------------------------------------------------- */

static void begin_last(struct locating *to, const struct raw_stack *stack)
{
	const struct frame_cache *cache = to->cache;
	const struct frame_words *user = &stack->user;
	struct located_words *last =
		cache && cache->keeps && !stack->code_untold ? cache->last : NULL;

	to->last = last;
	if (!last)
		return;
	if (last->process == to->process->number && last->generation == cache->generation &&
	    last->table == cache->table && last->time_ns <= to->time_ns)
		to->common = common_last_words(
			last->words + JITBPF_USER_WORDS_MAX, user->words + user->count,
			last->count < user->count ? last->count : user->count);
	last->count = 0; /* valid again at the end */
}

/* Returns the place of the outermost `count` words in an array of `last`. */
static uint32_t place_of(uint32_t count)
{
	return JITBPF_USER_WORDS_MAX - count;
}

/* If the frames that are left are those of the stack before, add them, and return true. */
static bool add_last(struct locating *to, struct frame_words *rest)
{
	struct located_words *last = to->last;
	const uint32_t *locations, *end;

	if (!rest->count || rest->count > to->common || !rest->called ||
	    rest->count > last->called ||
	    last->locations[place_of(rest->count)] == LOCATED_WORD_NO_FRAME)
		return false;
	end = last->locations + JITBPF_USER_WORDS_MAX;
	for (locations = end - rest->count; locations < end; locations++) {
		if (*locations == LOCATED_WORD_NO_FRAME)
			continue;
		*to->out++ = *locations;
		to->ret->user_frames++;
	}
	if (last->named && last->named <= rest->count) {
		to->ret->has_function = true;
		to->named = last->named;
	}
	rest->count = 0;
	return true;
}

/* Note the location of a frame, which was added. before, rest: the words from it and behind it. */
static void note_last(struct locating *to, uint32_t before, const struct frame_words *rest,
		      bool is_named)
{
	if (to->out[-1] == LOCATION_NO_ROOM) {
		to->last = NULL;
		return;
	}
	to->last->locations[place_of(before)] = to->out[-1];
	for (uint32_t left = before - 1; left > rest->count; left--)
		to->last->locations[place_of(left)] = LOCATED_WORD_NO_FRAME;
	if (rest->called && !to->called)
		to->called = rest->count;
	if (is_named)
		to->named = before;
}

/* The frames of a stack are located, but for words `left` that are no frames. */
static void end_last(struct locating *to, const struct raw_stack *stack, uint32_t left)
{
	struct located_words *last = to->last;
	uint32_t count = stack->user.count;

	if (!last || left || to->ret->code_unknown || to->ret->code_unpublished ||
	    to->ret->has_gap || to->ret->user_end != stack->user_end)
		return;
	memcpy(last->words + place_of(count), stack->user.words,
	       (count - to->common) * sizeof(last->words[0]));
	last->process = to->process->number;
	last->generation = to->cache->generation;
	last->table = to->cache->table;
	last->time_ns = to->time_ns;
	last->count = count;
	last->called = to->called;
	last->named = to->named;
}

/* --- user frames ------------------------------------------------------------------------------ */

/*
 * Locate a frame and add it; untold: its code is not known. Returns 0, 1 if the stack ends before
 * it, or a negative errno.
 */
static int locate_frame(struct locating *to, const struct raw_stack *stack,
			const struct typed_frame *frame, bool untold, bool *ret_named)
{
	bool is_address =
		frame->kind == JITBPF_FRAME_ADDRESS || frame->kind == JITBPF_FRAME_INTERPRETER;
	bool may_keep = is_address && !untold;
	const struct frame_cache_key key = {
		.frame = frame_cache_frame(frame->value, frame->is_caller),
		.process = frame_cache_process(to->process->number,
					       frame->kind == JITBPF_FRAME_INTERPRETER),
		.generation = to->cache ? to->cache->generation : 0,
	};
	struct location location;

	*ret_named = false;
	if (may_keep && add_known(to, &key, ret_named))
		return 0;
	location = frame_location(to, frame);
	if (location.kind == LOCATION_UNKNOWN && !frame->is_caller && stack->kernel.count &&
	    is_of_old_program(to->process, frame->value, to->time_ns)) {
		to->ret->user_frames = 0;
		to->ret->user_end = JITBPF_END_NONE;
		return 1;
	}
	if (location.kind == LOCATION_UNKNOWN && frame->is_caller) {
		to->ret->user_end = JITBPF_END_BAD_FRAME;
		return 1;
	}
	if (untold && is_address)
		location = (struct location){.kind = LOCATION_ANON, .offset = frame->value};
	*ret_named = is_function(&location);
	to->ret->has_gap |= location.kind == LOCATION_GAP;
	to->ret->has_unknown_function |= location.kind == LOCATION_RUNTIME_UNKNOWN;
	may_keep = may_keep && location.kind != LOCATION_UNKNOWN;
	return add_location(to, &location, may_keep ? &key : NULL);
}

static int locate_user(struct locating *to, const struct raw_stack *stack)
{
	struct located_stack *ret = to->ret;
	struct frame_words rest = stack->user;
	struct typed_frame frame;
	int err = 0;

	ret->user_frames = 0;
	ret->user_end = stack->user_end;
	begin_last(to, stack);
	for (;;) {
		uint32_t before = rest.count;
		bool named;

		if ((to->last && add_last(to, &rest)) || !frame_words_next(&rest, &frame))
			break;
		err = locate_frame(to, stack, &frame, stack->code_untold && !rest.count, &named);
		if (err)
			return err < 0 ? err : 0;
		ret->user_frames++;
		ret->has_function |= named;
		if (to->last)
			note_last(to, before, &rest, named);
	}
	end_last(to, stack, rest.count);
	return 0;
}

int locate_stack(struct location_table *table, const struct global_code *global,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 const struct frame_cache *cache, struct located_stack *ret)
{
	struct locating to = {
		.table = table,
		.global = global,
		.process = process,
		.cache = cache,
		.time_ns = time_ns,
		.ret = ret,
		.out = ret->locations,
	};
	int err = 0;

	if (stack->kernel.count > JITBPF_KERNEL_FRAMES_MAX ||
	    stack->user.count > JITBPF_USER_WORDS_MAX)
		return -EINVAL;
	ret->kernel_frames = stack->kernel.count;
	ret->code_unknown = ret->code_unpublished = false;
	ret->has_function = ret->has_unknown_function = ret->has_gap = false;
	for (uint32_t i = 0; i < stack->kernel.count && !err; i++)
		err = locate_kernel(&to, stack->kernel.words[i], i > 0);
	return err ?: locate_user(&to, stack);
}

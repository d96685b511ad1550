/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_reader.h"

#include <errno.h>
#include <string.h>

#include "runtimes/perl/perl_file.h"
#include "runtimes/perl/perl_function.h"
#include "runtimes/perl/perl_self_check.h"

_Static_assert(sizeof(struct perl_file) <= sizeof(struct runtime_facts), "facts have no room");

static struct engine_version version_of(const struct perl_file *perl)
{
	struct engine_version version = {.parts = 3};

	for (uint32_t i = 0; i < 3; i++)
		version.part[i] = perl->version[i];
	return version;
}

/* The way to the newest stack of contexts. */
static int set_way(const struct perl_file *perl, uint64_t bias, const struct process_memory *memory,
		   struct runtime_recipe *ret)
{
	uint32_t key;
	int err;

	ret->sections.newest_place_at = perl->stack + PERL_CURCOP_FROM_STACKINFO;
	if (!perl->has_threads) {
		ret->base_kind = RUNTIME_BASE_ADDRESS;
		ret->base = (int64_t)(perl->stack_at + bias);
		ret->sections.newest_place_at = (int64_t)(perl->cop_at - perl->stack_at);
		ret->step[ret->step_count++] = 0;
		return 0;
	}
	err = process_memory_read(memory, perl->key + bias, &key, sizeof(key));
	if (err)
		return err;
	if (key >= PERL_KEYS_DIRECT)
		return -ENOENT;
	ret->base_kind = RUNTIME_BASE_THREAD_POINTER;
	ret->step[ret->step_count++] =
		PERL_KEYS_AT + (int32_t)key * PERL_KEY_BYTES + PERL_KEY_VALUE;
	ret->step[ret->step_count++] = (int32_t)perl->stack;
	return 0;
}

static void set_sections(const struct perl_file *perl, struct runtime_sections *ret)
{
	ret->exists = true;
	ret->loop_kinds = 1u << PERL_STACK_KIND_SORT | 1u << PERL_STACK_KIND_MULTICALL;
	ret->array_at = PERL_STACK_CONTEXTS;
	ret->number_at = PERL_STACK_SUB;
	ret->kind_at = PERL_STACK_KIND;
	ret->outer_at = PERL_STACK_PREVIOUS;
	ret->top_at = PERL_STACK_NEWEST;
	ret->caller_at = PERL_CONTEXT_CALLER;
	ret->place_at = PERL_CONTEXT_COP;
	ret->return_at = PERL_CONTEXT_RETOP;
	ret->line_at = PERL_COP_LINE;
	ret->kind_count = 3;
	ret->kind[0].mask = PERL_CONTEXT_MASK | PERL_CONTEXT_FAKE;
	ret->kind[0].value = PERL_CONTEXT_FUNCTION;
	ret->kind[0].frame = RUNTIME_SECTION_FUNCTION;
	ret->kind[1].mask = PERL_CONTEXT_MASK;
	ret->kind[1].value = PERL_CONTEXT_FORMAT;
	ret->kind[1].frame = RUNTIME_SECTION_FUNCTION;
	ret->kind[2].mask = PERL_CONTEXT_MASK | PERL_CONTEXT_TRY;
	ret->kind[2].value = PERL_CONTEXT_EVAL;
	ret->kind[2].frame = RUNTIME_SECTION_FILE;
	ret->text_mask = PERL_TEXT_MASK;
	ret->text_value = PERL_TEXT_VALUE;
	ret->program_mask = PERL_CONTEXT_MASK;
	ret->program_value = PERL_CONTEXT_BLOCK;
	ret->file_step[ret->file_step_count++] = PERL_COP_FILE;
	if (perl->has_threads)
		return;
	/* A glob, its body, its name. */
	ret->file_step[ret->file_step_count++] = PERL_VALUE_BODY;
	ret->file_step[ret->file_step_count++] = PERL_GLOB_NAME;
	ret->file_offset = PERL_TEXT_BYTES + PERL_FILE_PREFIX;
}

static void set_frames(struct runtime_recipe *ret)
{
	ret->function_at = PERL_CONTEXT_CV;
	ret->via_is_first = true;
	ret->via_at = PERL_VALUE_BODY;
	ret->position_at = RUNTIME_NO_OFFSET;
	ret->position_mask = UINT64_MAX;
	ret->previous_at = RUNTIME_NO_OFFSET;
	ret->stride = PERL_CONTEXT_BYTES;
	ret->entry_at = PERL_CONTEXT_TYPE;
	ret->entry_is_early = true;
	ret->check = perl_function_check();
}

static void move_range(struct runtime_range *range, uint64_t by)
{
	if (range->start < range->end) {
		range->start += by;
		range->end += by;
	}
}

static void set_code(const struct perl_file *perl, uint64_t bias, struct runtime_recipe *ret)
{
	for (uint32_t i = 0; i < perl->loop_count; i++) {
		ret->loops[ret->loop_count] = perl->loops[i];
		move_range(&ret->loops[ret->loop_count++], bias);
	}
	ret->again = perl->again;
	move_range(&ret->again, bias);
	ret->sections.ending = perl->ending;
	move_range(&ret->sections.ending, bias);
	ret->sections.unfilled = perl->unfilled;
	move_range(&ret->sections.unfilled, bias);
}

static int read_facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct perl_file perl;
	int err = perl_file_read(elf, &perl);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &perl, sizeof(perl));
	return 0;
}

static int make_recipe(const struct runtime_facts *facts, const struct runtime_process *process,
		       const struct process_memory *memory, struct runtime_recipe *ret,
		       struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct runtime_recipe recipe = {0};
	const struct perl_layout *layout;
	struct perl_file perl;
	int err;

	memcpy(&perl, facts, sizeof(perl));
	*ret_version = version_of(&perl);
	layout = perl_layout_of(ret_version);
	if (perl.loop_count > RUNTIME_LOOPS_MAX)
		return -EINVAL;
	if (!layout)
		return -ENOTSUP;
	err = set_way(&perl, process->bias, memory, &recipe);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	set_frames(&recipe);
	set_sections(&perl, &recipe.sections);
	set_code(&perl, process->bias, &recipe);
	/* Without a thread, nothing shows where its frames are. */
	err = process->thread_pointer || !perl.has_threads
		      ? perl_check_frames(memory, layout, &recipe, process->thread_pointer)
		      : -ENODATA;
	if (err && err != -ENODATA)
		return err;
	*ret_layout = (struct runtime_layout){.words = {layout->version}};
	*ret = recipe;
	return err;
}

static void move_recipe(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by)
{
	(void)layout;
	if (recipe->base_kind == RUNTIME_BASE_ADDRESS)
		recipe->base += (int64_t)by;
	for (uint32_t i = 0; i < recipe->loop_count && i < RUNTIME_LOOPS_MAX; i++)
		move_range(&recipe->loops[i], by);
	move_range(&recipe->again, by);
	move_range(&recipe->sections.ending, by);
	move_range(&recipe->sections.unfilled, by);
}

static int read_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout, uint64_t object, uint64_t owner,
			 struct runtime_function *ret)
{
	struct engine_version version = {.parts = 2};
	const struct perl_layout *perl;

	version.part[0] = layout->words[0] / 100 % 100;
	version.part[1] = layout->words[0] % 100;
	perl = perl_layout_of(&version);
	return perl ? perl_function_read(memory, &recipe->sections, perl, object, owner, ret)
		    : -EINVAL;
}

static bool knows(const struct engine_version *version)
{
	return perl_layout_of(version);
}

const struct runtime_reader perl_reader = {
	.engine = &engine_perl,
	.symbol = "Perl_runops_standard",
	.has_copies = true,
	.knows = knows,
	.facts = read_facts,
	.recipe = make_recipe,
	.move = move_recipe,
	.function = read_function,
};

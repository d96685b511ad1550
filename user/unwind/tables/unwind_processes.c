/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/tables/unwind_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "unwind/tables/mapping_list.h"

/* Both less than UNWIND_PROCESSES_MAX, the size of the kernel's table. */
#define PUBLISHED_MAX (UNWIND_PROCESSES_MAX / 4 * 3)
#define SLOTS_MAX     (UNWIND_PROCESSES_MAX / 8 * 7)

/* Bounds the time of a round, however many mappings processes have. */
#define ROUND_MAPPINGS_MAX (1u << 15)

int unwind_processes_init(struct unwind_processes *processes, const struct unwind_tables *tables,
			  const struct module_table *modules, struct unwind_pages *pages)
{
	*processes = (struct unwind_processes){
		.tables = tables,
		.modules = modules,
		.pages = pages,
		.slots = calloc(SLOTS_MAX, sizeof(*processes->slots)),
		.room = calloc(UNWIND_PROCESS_MAPPINGS_MAX, sizeof(*processes->room)),
	};
	if (!processes->slots || !processes->room)
		return -ENOMEM;
	return unwind_arena_init(&processes->mappings, 0, tables->mapping_count, PUBLISHED_MAX);
}

void unwind_processes_deinit(struct unwind_processes *processes)
{
	unwind_arena_deinit(&processes->mappings);
	index_map_deinit(&processes->index);
	vec_deinit(&processes->stale);
	free(processes->slots);
	free(processes->room);
}

static uint64_t hash_of(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct walked_process *)items)[item].pid == *(const uint32_t *)key;
}

static struct walked_process *find_pid(const struct unwind_processes *processes, uint32_t pid)
{
	uint32_t number =
		index_map_find(&processes->index, hash_of(pid), equal, processes->slots, &pid);

	return number == INDEX_MAP_NONE ? NULL : &processes->slots[number];
}

struct walked_process *unwind_processes_find(const struct unwind_processes *processes,
					     const struct process *process)
{
	struct walked_process *walked = find_pid(processes, process->pid);

	return walked && walked->process == process ? walked : NULL;
}

void unwind_processes_drop_code(struct unwind_processes *processes, struct walked_process *walked)
{
	while (walked->pages)
		unwind_pages_drop(processes->pages, walked->pages);
}

static void leave_sharing(struct walked_process *walked)
{
	if (!walked->link)
		return;
	*walked->link = walked->next;
	if (walked->next)
		walked->next->link = walked->link;
	walked->link = NULL;
	walked->shared_generation = 0;
}

void unwind_processes_add_code(struct unwind_processes *processes, struct walked_process *walked,
			       struct unwind_page_slot *slot)
{
	unwind_pages_link(slot, &walked->pages);
	if (walked->link)
		return;
	if (process_shared_generation(walked->process, &processes->budget,
				      &walked->shared_generation))
		unwind_processes_drop_code(processes, walked);
	if (!walked->shared_generation)
		return;
	walked->next = processes->sharing;
	if (walked->next)
		walked->next->link = &walked->next;
	walked->link = &processes->sharing;
	processes->sharing = walked;
}

/* Free a slot, but not its span: after an eviction the span is no longer the slot's. */
static void forget(struct unwind_processes *processes, struct walked_process *walked)
{
	uint32_t number = (uint32_t)(walked - processes->slots);

	if (walked->published)
		processes->tables->unpublish_process(processes->tables->context, walked->pid);
	unwind_processes_drop_code(processes, walked);
	leave_sharing(walked);
	index_map_remove(&processes->index, hash_of(walked->pid), number);
	*walked = (struct walked_process){.first = processes->vacant};
	processes->vacant = number + 1;
}

void unwind_processes_drop(struct unwind_processes *processes, struct walked_process *walked)
{
	if (walked->count)
		unwind_arena_give_back(&processes->mappings, walked->span);
	forget(processes, walked);
}

static void evict(void *context, uint32_t holder)
{
	struct unwind_processes *processes = context;

	forget(processes, &processes->slots[holder]);
}

int unwind_processes_add(struct unwind_processes *processes, const struct process *process,
			 struct walked_process **ret)
{
	struct walked_process *walked = find_pid(processes, process->pid);
	uint32_t number;

	if (walked && walked->process == process) {
		*ret = walked;
		return 0;
	}
	if (process->exit_ns != UINT64_MAX || !process->mappings ||
	    process->number >= UNWIND_OWNER_CODE)
		return -ENOENT;
	if (walked)
		unwind_processes_drop(processes, walked);
	if (processes->vacant)
		number = processes->vacant - 1;
	else if (processes->used < SLOTS_MAX)
		number = processes->used;
	else
		return -ENOENT;
	if (index_map_insert(&processes->index, hash_of(process->pid), number))
		return -ENOMEM;
	walked = &processes->slots[number];
	if (processes->vacant)
		processes->vacant = walked->first;
	else
		processes->used++;
	*walked = (struct walked_process){
		.process = process, .pid = process->pid, .program_ns = process->program_ns};
	*ret = walked;
	return unwind_processes_mark(processes, walked);
}

int unwind_processes_mark(struct unwind_processes *processes, struct walked_process *walked)
{
	int err;

	if (walked->stale)
		return 0;
	err = vec_push(&processes->stale, (uint32_t)(walked - processes->slots));
	if (!err)
		walked->stale = true;
	return err;
}

const struct unwind_mapping *unwind_processes_mapping(const struct unwind_processes *processes,
						      const struct walked_process *walked,
						      uint64_t address)
{
	const struct unwind_mapping *mappings = processes->tables->mappings + walked->first;
	uint32_t at = partition_point(0, walked->count, i, mappings[i].end <= address);

	return at < walked->count && mappings[at].start <= address ? &mappings[at] : NULL;
}

static bool is_published(const struct unwind_processes *processes,
			 const struct walked_process *walked, const struct unwind_process *as,
			 uint32_t count)
{
	return walked->published && walked->published_top == as->stack_top &&
	       walked->count == count &&
	       !memcmp(processes->tables->mappings + walked->first, processes->room,
		       count * sizeof(*processes->room));
}

static void put_mappings(struct unwind_processes *processes, struct walked_process *walked,
			 uint32_t count)
{
	if (walked->count)
		unwind_arena_give_back(&processes->mappings, walked->span);
	walked->count = count;
	walked->span = unwind_arena_take(&processes->mappings, count,
					 (uint32_t)(walked - processes->slots), evict, processes,
					 &walked->first);
	memcpy(processes->tables->mappings + walked->first, processes->room,
	       count * sizeof(*processes->room));
}

/* Returns false if there is nothing to publish, or publishing failed. */
static bool publish(struct unwind_processes *processes, struct walked_process *walked,
		    uint64_t known_ns)
{
	uint32_t most = unwind_arena_most(&processes->mappings);
	struct unwind_process process = {.stack_top = walked->stack_top,
					 .known_ns = known_ns,
					 .code_owner = unwind_code_owner(walked->process)};
	struct mapping_list list = {
		.mappings = processes->room,
		.max = most < UNWIND_PROCESS_MAPPINGS_MAX ? most : UNWIND_PROCESS_MAPPINGS_MAX,
	};

	if (mapping_list_fill(&list, walked->process, processes->modules, &processes->budget))
		return false;
	replaced_mappings_note(&walked->replaced_mappings,
			       processes->tables->mappings + walked->first, walked->count, &list,
			       known_ns);
	replaced_mappings_exclude(&walked->replaced_mappings, &list);
	if (!list.count)
		return false;
	if (!is_published(processes, walked, &process, list.count)) {
		processes->left_out += list.left_out;
		put_mappings(processes, walked, list.count);
	}
	process.first = walked->first;
	process.count = walked->count;
	walked->published_top = process.stack_top;
	/* On failure an older entry is still published; unwind_processes_drop() unpublishes it. */
	if (processes->tables->publish_process(processes->tables->context, walked->pid, &process))
		return false;
	walked->published = true;
	return true;
}

bool walked_process_is_current(const struct walked_process *walked)
{
	const struct process *process = walked->process;

	return process->exit_ns == UINT64_MAX && process->mappings &&
	       process->program_ns == walked->program_ns;
}

/* Drop published code in shared memory that another process has changed since. */
static void check_shared(struct unwind_processes *processes)
{
	struct walked_process *next;

	for (struct walked_process *walked = processes->sharing; walked; walked = next) {
		uint64_t generation;

		next = walked->next;
		if (!process_shared_generation(walked->process, &processes->budget, &generation) &&
		    generation == walked->shared_generation)
			continue;
		unwind_processes_drop_code(processes, walked);
		leave_sharing(walked);
	}
}

void unwind_processes_publish(struct unwind_processes *processes, uint64_t known_ns)
{
	processes->budget = ROUND_MAPPINGS_MAX;
	check_shared(processes);
	vec_for_each (number, &processes->stale) {
		struct walked_process *walked = &processes->slots[*number];

		if (!walked->process || !walked->stale)
			continue; /* dropped since */
		walked->stale = false;
		if (!walked_process_is_current(walked) || !walked->stack_top ||
		    !publish(processes, walked, known_ns))
			unwind_processes_drop(processes, walked);
	}
	processes->stale.size = 0;
}

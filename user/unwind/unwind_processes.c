/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwind_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "unwind/mapping_list.h"

/* Less than UNWIND_PROCESSES_MAX: those that are published, and those of one round. */
#define PUBLISHED_MAX (UNWIND_PROCESSES_MAX / 4 * 3)
#define SUBJECTS_MAX  (UNWIND_PROCESSES_MAX / 8 * 7)

/* Mappings that are looked at in a round, however many there are. */
#define ROUND_MAPPINGS_MAX (1u << 15)

int unwind_processes_init(struct unwind_processes *processes, const struct unwind_feed *feed,
			  const struct module_table *modules, struct unwind_pages *pages)
{
	*processes = (struct unwind_processes){
		.feed = feed,
		.modules = modules,
		.pages = pages,
		.subjects = calloc(SUBJECTS_MAX, sizeof(*processes->subjects)),
		.room = calloc(UNWIND_PROCESS_MAPPINGS_MAX, sizeof(*processes->room)),
	};
	if (!processes->subjects || !processes->room)
		return -ENOMEM;
	return unwind_arena_init(&processes->mappings, 0, feed->mapping_count, PUBLISHED_MAX);
}

void unwind_processes_deinit(struct unwind_processes *processes)
{
	unwind_arena_deinit(&processes->mappings);
	index_map_deinit(&processes->index);
	vec_deinit(&processes->stale);
	free(processes->subjects);
	free(processes->room);
}

static uint64_t hash_of(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct unwind_subject *)items)[item].pid == *(const uint32_t *)key;
}

static struct unwind_subject *find_pid(const struct unwind_processes *processes, uint32_t pid)
{
	uint32_t number =
		index_map_find(&processes->index, hash_of(pid), equal, processes->subjects, &pid);

	return number == INDEX_MAP_NONE ? NULL : &processes->subjects[number];
}

struct unwind_subject *unwind_processes_find(const struct unwind_processes *processes,
					     const struct process *process)
{
	struct unwind_subject *subject = find_pid(processes, process->pid);

	return subject && subject->process == process ? subject : NULL;
}

void unwind_processes_drop_code(struct unwind_processes *processes, struct unwind_subject *subject)
{
	while (subject->pages)
		unwind_pages_drop(processes->pages, subject->pages);
}

static void leave_sharing(struct unwind_subject *subject)
{
	if (!subject->link)
		return;
	*subject->link = subject->next;
	if (subject->next)
		subject->next->link = subject->link;
	subject->link = NULL;
	subject->shared_generation = 0;
}

void unwind_processes_add_code(struct unwind_processes *processes, struct unwind_subject *subject,
			       struct unwind_page_slot *slot)
{
	unwind_pages_link(slot, &subject->pages);
	if (subject->link)
		return;
	if (process_shared_generation(subject->process, &processes->budget,
				      &subject->shared_generation))
		unwind_processes_drop_code(processes, subject);
	if (!subject->shared_generation)
		return;
	subject->next = processes->sharing;
	if (subject->next)
		subject->next->link = &subject->next;
	subject->link = &processes->sharing;
	processes->sharing = subject;
}

/* Not its room, which may be in somebody else's hands already. */
static void forget(struct unwind_processes *processes, struct unwind_subject *subject)
{
	uint32_t number = (uint32_t)(subject - processes->subjects);

	if (subject->published)
		processes->feed->withdraw_process(processes->feed->context, subject->pid);
	unwind_processes_drop_code(processes, subject);
	leave_sharing(subject);
	index_map_remove(&processes->index, hash_of(subject->pid), number);
	*subject = (struct unwind_subject){.first = processes->vacant};
	processes->vacant = number + 1;
}

void unwind_processes_drop(struct unwind_processes *processes, struct unwind_subject *subject)
{
	if (subject->count)
		unwind_arena_give_back(&processes->mappings, subject->span);
	forget(processes, subject);
}

static void evict(void *context, uint32_t holder)
{
	struct unwind_processes *processes = context;

	forget(processes, &processes->subjects[holder]);
}

int unwind_processes_add(struct unwind_processes *processes, const struct process *process,
			 struct unwind_subject **ret)
{
	struct unwind_subject *subject = find_pid(processes, process->pid);
	uint32_t number;

	if (subject && subject->process == process) {
		*ret = subject;
		return 0;
	}
	if (process->exit_ns != UINT64_MAX || !process->mappings ||
	    process->number >= UNWIND_OWNER_CODE)
		return -ENOENT;
	if (subject)
		unwind_processes_drop(processes, subject);
	if (processes->vacant)
		number = processes->vacant - 1;
	else if (processes->used < SUBJECTS_MAX)
		number = processes->used;
	else
		return -ENOENT;
	if (index_map_insert(&processes->index, hash_of(process->pid), number))
		return -ENOMEM;
	subject = &processes->subjects[number];
	if (processes->vacant)
		processes->vacant = subject->first;
	else
		processes->used++;
	*subject = (struct unwind_subject){
		.process = process, .pid = process->pid, .program_ns = process->program_ns};
	*ret = subject;
	return unwind_processes_mark(processes, subject);
}

int unwind_processes_mark(struct unwind_processes *processes, struct unwind_subject *subject)
{
	int err;

	if (subject->stale)
		return 0;
	err = vec_push(&processes->stale, (uint32_t)(subject - processes->subjects));
	if (!err)
		subject->stale = true;
	return err;
}

const struct unwind_mapping *unwind_processes_mapping(const struct unwind_processes *processes,
						      const struct unwind_subject *subject,
						      uint64_t address)
{
	const struct unwind_mapping *mappings = processes->feed->mappings + subject->first;
	uint32_t low = 0, high = subject->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (address < mappings[middle].start)
			high = middle;
		else if (address >= mappings[middle].end)
			low = middle + 1;
		else
			return &mappings[middle];
	}
	return NULL;
}

static bool is_published(const struct unwind_processes *processes,
			 const struct unwind_subject *subject, const struct unwind_process *as,
			 uint32_t count)
{
	return subject->published && subject->published_top == as->stack_top &&
	       subject->count == count &&
	       !memcmp(processes->feed->mappings + subject->first, processes->room,
		       count * sizeof(*processes->room));
}

static void put_mappings(struct unwind_processes *processes, struct unwind_subject *subject,
			 uint32_t count)
{
	if (subject->count)
		unwind_arena_give_back(&processes->mappings, subject->span);
	subject->count = count;
	subject->span = unwind_arena_take(&processes->mappings, count,
					  (uint32_t)(subject - processes->subjects), evict,
					  processes, &subject->first);
	memcpy(processes->feed->mappings + subject->first, processes->room,
	       count * sizeof(*processes->room));
}

/* False: there is nothing, or no way, to publish it. */
static bool publish(struct unwind_processes *processes, struct unwind_subject *subject,
		    uint64_t known_ns)
{
	uint32_t most = unwind_arena_most(&processes->mappings);
	struct unwind_process process = {.stack_top = subject->stack_top,
					 .known_ns = known_ns,
					 .code_owner = unwind_code_owner(subject->process)};
	struct mapping_list list = {
		.mappings = processes->room,
		.max = most < UNWIND_PROCESS_MAPPINGS_MAX ? most : UNWIND_PROCESS_MAPPINGS_MAX,
	};

	if (mapping_list_fill(&list, subject->process, processes->modules, &processes->budget))
		return false;
	replaced_mappings_note(&subject->replaced_mappings,
			       processes->feed->mappings + subject->first, subject->count, &list,
			       known_ns);
	replaced_mappings_exclude(&subject->replaced_mappings, &list);
	if (!list.count)
		return false;
	if (!is_published(processes, subject, &process, list.count)) {
		processes->left_out += list.left_out;
		put_mappings(processes, subject, list.count);
	}
	process.first = subject->first;
	process.count = subject->count;
	subject->published_top = process.stack_top;
	/* What the feed had before it has still: whoever drops it withdraws that. */
	if (processes->feed->publish_process(processes->feed->context, subject->pid, &process))
		return false;
	subject->published = true;
	return true;
}

bool unwind_subject_is_current(const struct unwind_subject *subject)
{
	const struct process *process = subject->process;

	return process->exit_ns == UINT64_MAX && process->mappings &&
	       process->program_ns == subject->program_ns;
}

/* What is published of memory that others changed too is made anew. */
static void check_shared(struct unwind_processes *processes)
{
	struct unwind_subject *next;

	for (struct unwind_subject *subject = processes->sharing; subject; subject = next) {
		uint64_t generation;

		next = subject->next;
		if (!process_shared_generation(subject->process, &processes->budget, &generation) &&
		    generation == subject->shared_generation)
			continue;
		unwind_processes_drop_code(processes, subject);
		leave_sharing(subject);
	}
}

void unwind_processes_publish(struct unwind_processes *processes, uint64_t known_ns)
{
	processes->budget = ROUND_MAPPINGS_MAX;
	check_shared(processes);
	vec_for_each (number, &processes->stale) {
		struct unwind_subject *subject = &processes->subjects[*number];

		if (!subject->process || !subject->stale)
			continue; /* dropped since */
		subject->stale = false;
		if (!unwind_subject_is_current(subject) || !subject->stack_top ||
		    !publish(processes, subject, known_ns))
			unwind_processes_drop(processes, subject);
	}
	processes->stale.size = 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A simulated environment for the unwinder: processes, a service whose answers
 * the test defines, tables in memory, and a kernel part that walks with
 * published tables only, like the BPF programs.
 */
#ifndef JITBPF_TESTS_UNIT_LOCATE_UNWIND_WORLD_H
#define JITBPF_TESTS_UNIT_LOCATE_UNWIND_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "decode/record/record_check.h"
#include "unwind/unwinder.h"
#include "state/process/process_code.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/made_mapping.h"

#define WORLD_STACK_WORDS 2048
#define WORLD_STACK	  0x7ffd00000000ull
#define WORLD_STACK_TOP	  (WORLD_STACK + WORLD_STACK_WORDS * 8)

struct world_page {
	struct unwind_page_key key;
	struct unwind_page page;
};

struct world_process {
	uint32_t pid;
	struct unwind_process process;
};

struct world {
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct unwinder *unwinder;

	/* The tables. */
	struct unwind_row *rows;
	struct unwind_mapping *mappings;
	uint32_t row_count, mapping_count;
	VEC(struct world_page) pages;
	VEC(struct world_process) published;
	bool feed_refuses;

	/*
	 * The service: its requests, and its answers. A page is answered by the
	 * number of its file.
	 */
	VEC(struct unwind_request) requests;
	size_t answered;
	int (*answer)(struct world *w, const struct unwind_request *request,
		      struct unwind_rows *ret);
	uint64_t read_ns;
	bool silent;
	bool no_returns; /* functions can return nowhere in files */

	/* A stack, and the number of words pushed from its top down. */
	uint64_t words[WORLD_STACK_WORDS];
	uint32_t used;
	struct finished_stack finished;
};

static struct world *world_reading; /* the world whose stack unwind_read() reads */

static inline int world_read(void *dst, size_t size_bytes, uint64_t address)
{
	uint64_t offset = address - WORLD_STACK;

	if (address < WORLD_STACK || offset > sizeof(world_reading->words) ||
	    size_bytes > sizeof(world_reading->words) - offset)
		return -1;
	memcpy(dst, (uint8_t *)world_reading->words + offset, size_bytes);
	return 0;
}

#define unwind_read(dst, size, address) world_read(dst, size, address)

#include "bpf/unwind_end.h"
#include "bpf/unwind_narrow.h"

/* --- the tables -------------------------------------------------------------- */

static inline struct world_page *world_page(struct world *w, struct unwind_page_key key)
{
	vec_for_each (page, &w->pages) {
		if (page->key.owner == key.owner && page->key.page == key.page)
			return page;
	}
	return NULL;
}

static inline struct world_process *world_published(struct world *w, uint32_t pid)
{
	vec_for_each (process, &w->published) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static inline int world_publish_page(void *context, struct unwind_page_key key,
				     struct unwind_page page)
{
	struct world *w = context;
	struct world_page *old = world_page(w, key);

	assert_true(page.first < w->row_count && page.count <= w->row_count - page.first);
	/* Only pages of code are reserved first. */
	assert_true(page.count ? old || !(key.owner & UNWIND_OWNER_CODE)
			       : key.owner & UNWIND_OWNER_CODE);
	assert_true(!page.count || !w->rows[page.first].pc);
	for (uint32_t i = 1; i < page.count; i++)
		assert_true(w->rows[page.first + i].pc > w->rows[page.first + i - 1].pc);
	if (w->feed_refuses)
		return -ENOMEM;
	if (old)
		old->page = page;
	else
		assert_int_equal(vec_push(&w->pages, ((struct world_page){key, page})), 0);
	return 0;
}

static inline int world_replace_page(void *context, struct unwind_page_key key,
				     struct unwind_page page)
{
	return world_page(context, key) ? world_publish_page(context, key, page) : -ENOENT;
}

static inline void world_unpublish_page(void *context, struct unwind_page_key key)
{
	struct world *w = context;
	struct world_page *page = world_page(w, key);

	if (page)
		*page = w->pages.data[--w->pages.size];
}

static inline int world_publish_process(void *context, uint32_t pid,
					const struct unwind_process *process)
{
	struct world *w = context;
	struct world_process *old = world_published(w, pid);

	assert_true(process->count && process->first < w->mapping_count &&
		    process->count <= w->mapping_count - process->first);
	for (uint32_t i = 0; i < process->count; i++) {
		const struct unwind_mapping *mapping = &w->mappings[process->first + i];

		assert_true(mapping->start < mapping->end);
		assert_true(!i || mapping[-1].end <= mapping->start);
	}
	if (w->feed_refuses)
		return -ENOMEM;
	if (old)
		old->process = *process;
	else
		assert_int_equal(vec_push(&w->published, ((struct world_process){pid, *process})),
				 0);
	return 0;
}

static inline void world_unpublish_process(void *context, uint32_t pid)
{
	struct world *w = context;
	struct world_process *process = world_published(w, pid);

	if (process)
		*process = w->published.data[--w->published.size];
}

/* --- the service ------------------------------------------------------------- */

static inline bool world_is_same(const struct unwind_request *a, const struct unwind_request *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == UNWIND_PAGE_ROWS)
		return a->page.module == b->page.module && a->page.page == b->page.page;
	if (a->kind == UNWIND_RETURN_SITE)
		return a->return_site.owner == b->return_site.owner &&
		       a->return_site.to == b->return_site.to;
	return a->code.region == b->code.region;
}

static inline int world_request(void *context, const struct unwind_request *request)
{
	struct world *w = context;

	for (size_t i = w->answered; i < w->requests.size; i++) {
		const struct unwind_request *other = &w->requests.data[i];

		assert_false(world_is_same(other, request));
	}
	return vec_push(&w->requests, *request);
}

static inline int world_collect(void *context, uint64_t wait_ns, unwind_taker_fn take,
				void *take_context)
{
	struct world *w = context;

	for (; !w->silent && w->answered < w->requests.size; w->answered++) {
		struct unwind_answer answer = {.request = w->requests.data[w->answered],
					       .read_ns = w->read_ns};
		int err;

		if (answer.request.kind == UNWIND_RETURN_SITE)
			answer.can_return = !w->no_returns;
		else
			answer.error = w->answer(w, &answer.request, &answer.rows);
		err = take(take_context, &answer);
		unwind_rows_deinit(&answer.rows);
		if (err)
			return err;
	}
	return 0;
}

/* --- the kernel -------------------------------------------------------------- */

static inline struct unwind_row world_kernel_row(struct world *w,
						 const struct unwind_process *process, uint64_t pc)
{
	struct unwind_row none = {.cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE)};
	const struct unwind_mapping *mapping = w->mappings + process->first;
	const struct unwind_mapping *end = mapping + process->count;
	const struct world_page *page;
	struct unwind_page_key key;
	uint64_t offset;

	while (mapping < end && pc >= mapping->end)
		mapping++;
	if (mapping == end || pc < mapping->start)
		return none;
	offset = pc - mapping->start + mapping->offset;
	key = (struct unwind_page_key){mapping->owner, (uint32_t)(offset >> UNWIND_PAGE_SHIFT)};
	page = world_page(w, key);
	if (!page)
		return none;
	for (uint32_t i = page->page.count; i--;) {
		if (w->rows[page->page.first + i].pc <= (offset & (UNWIND_PAGE_BYTES - 1)))
			return w->rows[page->page.first + i];
	}
	return none;
}

/* Walk as far as the tables allow; *s is the state at the end. */
static inline enum jitbpf_stack_end world_kernel_walk(struct world *w, uint32_t pid,
						      uint64_t stack_top, struct unwind_state *s,
						      uint64_t *words, uint32_t *ret_count)
{
	struct world_process *published = world_published(w, pid);
	struct unwind_process none = {0};
	uint32_t count = 0;

	world_reading = w;
	if (!published || published->process.stack_top != stack_top)
		published = NULL;
	for (;;) {
		struct unwind_row row;
		int end;

		words[count++] = unwind_frame_ip(s);
		*ret_count = count;
		row = world_kernel_row(w, published ? &published->process : &none,
				       s->ip - s->is_caller);
		end = unwind_step(s, row);
		if (end)
			return unwind_end(s, row, end, count - 1, stack_top, true);
		if (count == JITBPF_USER_FRAMES_MAX)
			return JITBPF_END_DEPTH;
	}
}

/* --- the world --------------------------------------------------------------- */

static inline struct world *world_create(uint32_t row_count, uint32_t mapping_count)
{
	struct world *w = calloc(1, sizeof(*w));
	struct unwind_service service = {world_request, world_collect, w};
	struct unwind_tables tables = {
		.row_count = row_count,
		.mapping_count = mapping_count,
		.publish_page = world_publish_page,
		.replace_page = world_replace_page,
		.publish_process = world_publish_process,
		.unpublish_page = world_unpublish_page,
		.unpublish_process = world_unpublish_process,
		.context = w,
	};

	assert_non_null(w);
	w->row_count = row_count;
	w->mapping_count = mapping_count;
	tables.rows = w->rows = calloc(row_count, sizeof(*w->rows));
	tables.mappings = w->mappings = calloc(mapping_count, sizeof(*w->mappings));
	assert_int_equal(string_pool_create(&w->strings), 0);
	process_table_init(&w->processes, w->strings, &w->modules, &code_budget_default, NULL);
	assert_int_equal(unwinder_create(&service, &tables, &w->modules, &w->unwinder), 0);
	return w;
}

static inline void world_destroy(struct world *w)
{
	unwinder_destroy(w->unwinder);
	process_table_deinit(&w->processes);
	module_table_deinit(&w->modules);
	string_pool_destroy(w->strings);
	vec_deinit(&w->pages);
	vec_deinit(&w->published);
	vec_deinit(&w->requests);
	free(w->rows);
	free(w->mappings);
	free(w);
}

static inline struct process *world_process(struct world *w, uint32_t pid)
{
	struct process *process;

	assert_int_equal(process_table_at(&w->processes, pid, 7, 1, &process), 0);
	return process;
}

struct world_mapping {
	uint32_t pid;
	uint64_t time_ns, address, size_bytes, file_offset, inode;
	const char *path;
	uint32_t map_flags;
};

static inline void world_map(struct world *w, const struct world_mapping *what)
{
	struct made_mapping *made = malloc(sizeof(*made));

	assert_non_null(made);
	made_mapping(made, what->path, what->inode, "");
	made->mapping.h.time_ns = what->time_ns;
	made->mapping.pid = made->mapping.tid = what->pid;
	made->mapping.address = what->address;
	made->mapping.size_bytes = what->size_bytes;
	made->mapping.file_offset = what->file_offset;
	made->mapping.map_flags = what->map_flags;
	assert_int_equal(process_table_map(&w->processes, &made->mapping), 0);
	unwinder_process_changed(w->unwinder, world_process(w, what->pid));
	free(made);
}

/* Report a piece of the code of a load that world_load() made at address; all have number 0. */
static inline void world_copy(struct world *w, uint32_t pid, uint64_t time_ns, uint64_t address,
			      uint64_t size_bytes, uint32_t offset, uint32_t piece_bytes)
{
	struct jitbpf_code *code = calloc(1, sizeof(*code) + piece_bytes);

	assert_non_null(code);
	code->h.size_bytes = (uint32_t)sizeof(*code) + piece_bytes;
	code->h.type = JITBPF_CODE;
	code->h.time_ns = time_ns;
	code->pid = pid;
	code->offset = offset;
	code->address = address;
	code->size_bytes = size_bytes;
	for (uint32_t i = 0; i < piece_bytes; i++)
		code->data[i] = (uint8_t)(offset + i);
	assert_int_equal(record_check(code, code->h.size_bytes), 0);
	unwinder_code_copied(w->unwinder, world_process(w, pid), code);
	free(code);
}

static inline void world_load_event(struct world *w, uint32_t pid, uint64_t time_ns,
				    uint64_t address, uint64_t size_bytes, uint16_t kind)
{
	struct jit_event event = {.header = {.event = kind,
					     .method_id = (uint32_t)time_ns,
					     .address = address,
					     .code_bytes = size_bytes}};
	struct process *process = world_process(w, pid);

	assert_int_equal(apply_jit_of(process, &event, time_ns), 0);
	unwinder_code_changed(w->unwinder, process, address, size_bytes);
}

static inline void world_load(struct world *w, uint32_t pid, uint64_t time_ns, uint64_t address,
			      uint64_t size_bytes)
{
	world_load_event(w, pid, time_ns, address, size_bytes, JIT_EVENT_LOAD);
}

/* --- stacks ------------------------------------------------------------------ */

/* Push a word. Returns its address. */
static inline uint64_t world_push(struct world *w, uint64_t word)
{
	assert_true(w->used < WORLD_STACK_WORDS);
	w->words[WORLD_STACK_WORDS - ++w->used] = word;
	return WORLD_STACK_TOP - w->used * 8ull;
}

static inline void world_push_many(struct world *w, uint32_t count)
{
	while (count--)
		world_push(w, 0);
}

static inline uint64_t world_sp(const struct world *w)
{
	return WORLD_STACK_TOP - w->used * 8ull;
}

struct world_sample {
	struct jitbpf_sample sample;
	uint64_t words[JITBPF_USER_FRAMES_MAX];
	uint8_t copy[sizeof(struct jitbpf_stack_copy) + JITBPF_STACK_COPY_MAX];
};

/*
 * Sample like the kernel: walk with the published tables, and copy the stack if
 * they do not suffice. *ret is the record. Returns true if it has a copy.
 */
static inline bool world_sample(struct world *w, uint32_t pid, uint64_t time_ns, uint64_t ip,
				uint64_t bp, struct world_sample *ret)
{
	struct unwind_state s = {.ip = ip, .sp = world_sp(w), .bp = bp};
	struct jitbpf_stack_copy copy = {.stack_top = WORLD_STACK_TOP};
	uint32_t count;

	memset(ret, 0, sizeof(*ret));
	ret->sample.h.type = JITBPF_SAMPLE;
	ret->sample.h.time_ns = time_ns;
	ret->sample.pid = ret->sample.tid = pid;
	ret->sample.start_ns = 7;
	ret->sample.user_end = world_kernel_walk(w, pid, WORLD_STACK_TOP, &s,
						 (uint64_t *)ret->sample.words, &count);
	ret->sample.user_words = (uint16_t)count;
	ret->sample.h.size_bytes = sizeof(ret->sample) + count * 8;
	if (s.guessed)
		ret->sample.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	if (ret->sample.user_end != JITBPF_END_NO_RULE)
		return false;
	ret->sample.h.flags |= JITBPF_SAMPLE_STACK_COPY;
	copy.ip = s.ip;
	copy.sp = s.sp;
	copy.bp = s.bp;
	copy.is_caller = s.is_caller;
	copy.size_bytes = (uint32_t)(WORLD_STACK_TOP - s.sp);
	memcpy((uint8_t *)ret + ret->sample.h.size_bytes, &copy, sizeof(copy));
	memcpy((uint8_t *)ret + ret->sample.h.size_bytes + sizeof(copy),
	       (uint8_t *)w->words + (s.sp - WORLD_STACK), copy.size_bytes);
	ret->sample.h.size_bytes += sizeof(copy) + copy.size_bytes;
	return true;
}

/* Collect answers until the stack is complete. Returns the same as unwinder_finish(). */
static inline int world_collect_all(struct world *w, const struct world_sample *made,
				    uint64_t known_ns, bool last)
{
	struct process *process = world_process(w, made->sample.pid);
	struct unwind_wait wait = {.count = 0};
	int err;

	for (;;) {
		err = unwinder_finish(w->unwinder, process, &made->sample, last, &wait,
				      &w->finished);
		if (err != 1 || unwinder_collect(w->unwinder, 0, known_ns) <= 0)
			return err;
	}
}

/* Run one round, and another in which reserved pages get their rows. */
static inline int world_finish(struct world *w, const struct world_sample *made, uint64_t known_ns,
			       bool last)
{
	int err = world_collect_all(w, made, known_ns, last);

	assert_int_equal(unwinder_publish(w->unwinder, known_ns), 0);
	assert_int_equal(unwinder_publish(w->unwinder, known_ns), 0);
	return err;
}

#endif

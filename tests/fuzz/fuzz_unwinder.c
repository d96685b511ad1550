/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder with hostile processes: arbitrary stacks, mappings and code in
 * any order, and arbitrary rows. Published data must not change until they are
 * unpublished, and stacks are completed within bounds. The input is a sequence of
 * steps, see take_step().
 */
#include <linux/mman.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/record/record_check.h"
#include "unwind/unwinder.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/state/apply_jit.h"

SEEDS(3);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define ROW_COUNT     128
#define MAPPING_COUNT 64
#define PIDS	      4
#define UNIT	      0x4000ull /* granularity of addresses */
#define STACK	      0x7ff000000000ull

enum step {
	STEP_MAP,
	STEP_LOAD,
	STEP_UNLOAD,
	STEP_EXEC,
	STEP_FORK,
	STEP_EXIT,
	STEP_SAMPLE,
	STEP_COLLECT,
	STEP_PUBLISH,
	STEP_ALL_CODE,
	STEP_UNPUBLISHED, /* a BPF program removes a page */
	STEP_COPY,	  /* a copy of code */
	STEP_COUNT
};

struct shadow_page {
	struct unwind_page_key key;
	struct unwind_page page;
	struct unwind_row *rows; /* copies as of publishing */
};

struct fuzzed {
	struct cursor input;
	uint64_t now_ns;
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct unwinder *unwinder;
	struct unwind_row rows[ROW_COUNT];
	struct unwind_mapping mappings[MAPPING_COUNT];
	VEC(struct shadow_page) pages;
	struct {
		struct unwind_process process;
		struct unwind_mapping *mappings; /* NULL if not published */
	} published[PIDS];
	VEC(struct unwind_request) requests;
};

static const struct code_budget small_budget = {.methods = 64,
						.name_bytes = 4096,
						.lines = 256,
						.inlines = 64,
						.waiting = 8,
						.waiting_bytes = 1024,
						.depth = 6};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void *copy_of(const void *bytes, size_t size_bytes)
{
	void *copy = malloc(size_bytes ? size_bytes : 1);

	require(copy);
	memcpy(copy, bytes, size_bytes);
	return copy;
}

/* Returns the next byte of the input; 0 at its end. */
static uint8_t byte(struct fuzzed *f)
{
	uint8_t value = 0;

	(void)cursor_read(&f->input, &value, sizeof(value));
	return value;
}

static uint64_t word(struct fuzzed *f)
{
	uint64_t value = 0;

	(void)cursor_read(&f->input, &value, sizeof(value));
	return value;
}

/* --- the tables -------------------------------------------------------------- */

static struct shadow_page *page_of(struct fuzzed *f, struct unwind_page_key key)
{
	vec_for_each (page, &f->pages) {
		if (page->key.owner == key.owner && page->key.page == key.page)
			return page;
	}
	return NULL;
}

static void unpublish_page(void *context, struct unwind_page_key key)
{
	struct fuzzed *f = context;
	struct shadow_page *page = page_of(f, key);

	if (!page)
		return;
	free(page->rows);
	*page = f->pages.data[--f->pages.size];
}

static int publish_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	struct fuzzed *f = context;
	const struct unwind_row *rows = f->rows + page.first;

	require(page.first < ROW_COUNT && page.count <= ROW_COUNT - page.first);
	require(!page.count || !rows->pc);
	for (uint32_t i = 1; i < page.count; i++)
		require(rows[i].pc > rows[i - 1].pc);
	if (byte(f) == 0xff)
		return -ENOMEM;
	unpublish_page(f, key);
	require(f->pages.size < UNWIND_PAGES_MAX);
	require(!vec_push(
		&f->pages,
		((struct shadow_page){key, page, copy_of(rows, page.count * sizeof(*rows))})));
	return 0;
}

static int replace_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	return page_of(context, key) ? publish_page(context, key, page) : -ENOENT;
}

static void unpublish_process(void *context, uint32_t pid)
{
	struct fuzzed *f = context;

	require(pid < PIDS);
	free(f->published[pid].mappings);
	f->published[pid].mappings = NULL;
}

static int publish_process(void *context, uint32_t pid, const struct unwind_process *process)
{
	struct fuzzed *f = context;
	const struct unwind_mapping *mappings = f->mappings + process->first;

	require(pid < PIDS && process->count && process->first < MAPPING_COUNT &&
		process->count <= MAPPING_COUNT - process->first);
	for (uint32_t i = 0; i < process->count; i++) {
		require(mappings[i].start < mappings[i].end);
		require(!i || mappings[i - 1].end <= mappings[i].start);
	}
	if (byte(f) == 0xff)
		return -ENOMEM;
	unpublish_process(f, pid);
	f->published[pid].process = *process;
	f->published[pid].mappings = copy_of(mappings, process->count * sizeof(*mappings));
	return 0;
}

static void check_published(const struct fuzzed *f)
{
	vec_for_each (page, &f->pages)
		require(!memcmp(f->rows + page->page.first, page->rows,
				page->page.count * sizeof(*page->rows)));
	for (uint32_t pid = 0; pid < PIDS; pid++) {
		const struct unwind_process *process = &f->published[pid].process;

		if (f->published[pid].mappings)
			require(!memcmp(f->mappings + process->first, f->published[pid].mappings,
					process->count * sizeof(struct unwind_mapping)));
	}
}

/* --- the service ------------------------------------------------------------- */

static int request(void *context, const struct unwind_request *request)
{
	struct fuzzed *f = context;

	require(request->kind == UNWIND_PAGE_ROWS     ? request->page.module != NULL
		: request->kind == UNWIND_RETURN_SITE ? request->return_site.to != 0
						      : request->code.region != 0);
	return vec_push(&f->requests, *request);
}

static int32_t cfa_of(uint8_t choice)
{
	return choice & 0x80 ? UNWIND_CFA(choice % 8, (choice >> 3) % 16 * 8)
			     : UNWIND_CFA(UNWIND_CFA_RSP, (choice % 4 + 1) * 8);
}

static bool is_of_code(const struct unwind_request *request)
{
	return request->kind == UNWIND_CODE_ROWS || request->kind == UNWIND_CODE_CHECK;
}

static int collect(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context)
{
	struct fuzzed *f = context;
	uint8_t count = byte(f) % 4;
	int err = 0;

	for (; count-- && f->requests.size && !err; f->requests.size--) {
		struct unwind_answer answer = {.request = f->requests.data[f->requests.size - 1]};
		uint8_t rows = byte(f);
		uint32_t offset = 0;

		if (is_of_code(&answer.request)) {
			for (uint32_t i = 0; i < answer.request.code.copy_bytes; i++)
				require(!answer.request.code.copy[i]);
		}
		answer.read_ns = f->now_ns;
		answer.error = rows == 0xff ? -EIO : 0;
		answer.can_return = rows % 4;
		for (uint32_t i = 0; i < rows; i++, offset += 1 + byte(f) * 16u)
			require(!unwind_rows_add(&answer.rows, offset, cfa_of(byte(f)),
						 (int8_t)byte(f)));
		err = take(take_context, &answer);
		unwind_rows_deinit(&answer.rows);
	}
	return err;
}

/* --- steps ------------------------------------------------------------------- */

static struct process *process_of(struct fuzzed *f)
{
	struct process *process;

	require(!process_table_at(&f->processes, byte(f) % PIDS, 0, f->now_ns, &process));
	return process;
}

static uint64_t address_of(struct fuzzed *f)
{
	uint8_t unit = byte(f);

	return unit == 0xff ? word(f) : UNIT * (unit % 64 + 1) + byte(f) % 8 * 64ull;
}

static void map_at(struct fuzzed *f, struct process *process, uint8_t kind, uint64_t address,
		   uint64_t file_offset)
{
	static const char *const paths[] = {"//anon", "/a", "/b", "/memfd:c"};
	struct {
		struct jitbpf_mapping mapping;
		char path[16]; /* starts where mapping.path does */
	} made = {.mapping = {
			  .h = {.type = JITBPF_MAPPING, .time_ns = f->now_ns},
			  .pid = process->pid,
			  .tid = process->pid,
			  .address = address,
			  .size_bytes = UNIT * (kind / 16 + 1),
			  .file_offset = file_offset,
			  .inode = kind % 4,
			  .map_flags = kind % 4 == 3 ? MAP_SHARED : MAP_PRIVATE,
		  }};

	memcpy(made.path, paths[kind % 4], strlen(paths[kind % 4]) + 1);
	if (address + made.mapping.size_bytes < address)
		return;
	require(!process_table_map(&f->processes, &made.mapping));
	unwinder_process_changed(f->unwinder, process);
}

static void map(struct fuzzed *f)
{
	uint8_t kind = byte(f);
	struct process *process = process_of(f);
	uint64_t address = address_of(f);

	map_at(f, process, kind, address, kind & 8 ? word(f) : 0);
}

/* Map some memory of each kind in each process. */
static void map_all(struct fuzzed *f)
{
	struct process *process;

	for (uint32_t pid = 0; pid < PIDS; pid++) {
		require(!process_table_at(&f->processes, pid, 0, f->now_ns, &process));
		for (uint8_t kind = 0; kind < 4; kind++)
			map_at(f, process, kind | 0xf0, UNIT * (1 + kind * 16), 0);
	}
}

static void tell_of_code(struct fuzzed *f, uint8_t kind)
{
	struct process *process = process_of(f);
	struct jit_event event = {.header = {.event = kind,
					     .method_id = byte(f),
					     .address = address_of(f),
					     .code_bytes = byte(f) * 32ull}};

	if (!process->code || event.header.address + event.header.code_bytes < event.header.address)
		return;
	require(!apply_jit_of(process, &event, f->now_ns));
	unwinder_code_changed(f->unwinder, process, event.header.address, event.header.code_bytes);
}

static void copy_code(struct fuzzed *f)
{
	struct {
		struct jitbpf_code code;
		uint8_t data[256];
	} made = {.code = {.h = {.type = JITBPF_CODE, .time_ns = f->now_ns}}};
	struct process *process = process_of(f);
	struct jitbpf_code *exact;

	made.code.h.size_bytes = (uint32_t)sizeof(made.code) + byte(f);
	made.code.address = address_of(f);
	made.code.size_bytes = byte(f) * 32ull;
	made.code.offset = byte(f) * 32u;
	if (record_check(&made, sizeof(made)))
		return;
	exact = copy_of(&made, made.code.h.size_bytes);
	unwinder_code_copied(f->unwinder, process, exact);
	free(exact);
}

static void change_process(struct fuzzed *f, enum step step)
{
	struct process *process = process_of(f);
	struct jitbpf_comm comm = {.h = {.time_ns = f->now_ns, .flags = JITBPF_COMM_EXEC},
				   .pid = process->pid,
				   .tid = process->pid};
	struct jitbpf_task task = {
		.h.time_ns = f->now_ns, .pid = process->pid, .tid = process->pid};

	if (step == STEP_EXEC) {
		require(!process_table_comm(&f->processes, &comm));
	} else if (step == STEP_EXIT) {
		require(!process_table_exit(&f->processes, &task));
	} else {
		task.parent_pid = byte(f) % PIDS;
		require(!process_table_fork(&f->processes, &task));
	}
	unwinder_process_changed(f->unwinder, process);
}

static void sample(struct fuzzed *f)
{
	struct {
		struct jitbpf_sample sample;
		uint64_t ip;
		struct jitbpf_stack_copy copy;
		uint64_t words[64];
	} made = {.sample = {.h = {.type = JITBPF_SAMPLE, .flags = JITBPF_SAMPLE_STACK_COPY}}};
	struct process *process = process_of(f);
	uint8_t words = byte(f), flags = byte(f);
	uint64_t stack = flags & 1 ? address_of(f) : STACK;
	struct finished_stack stack_found;
	struct unwind_wait wait = {.count = 0};
	struct jitbpf_sample *exact;
	int err;

	made.sample.h.time_ns = f->now_ns - (flags >> 4);
	made.sample.pid = process->pid;
	made.sample.user_words = (flags & 6) == 6 ? byte(f) * 8 : 1;
	made.copy.ip = address_of(f);
	made.copy.sp = stack;
	made.copy.bp = flags & 4 ? word(f) : stack + 8ull * byte(f);
	made.copy.stack_top = flags & 8 ? stack + 512 : word(f);
	made.copy.is_caller = byte(f);
	made.copy.is_narrow = made.copy.is_caller >> 1 & 1;
	made.copy.size_bytes = words % 64 * 8;
	made.copy.missing = words % 7 ? 0 : flags;
	for (uint32_t i = 0; i < words % 64u; i++)
		made.words[i] = i % 4 ? address_of(f) : stack + 8ull * byte(f);
	made.sample.h.size_bytes =
		(uint32_t)(offsetof(__typeof__(made), words) + made.copy.size_bytes);
	if (words >= 0xf0)
		made.sample.h.size_bytes = byte(f) + sizeof(made.sample);
	if (made.sample.h.size_bytes > sizeof(made))
		return;
	exact = copy_of(&made, made.sample.h.size_bytes);
	err = unwinder_finish(f->unwinder, process, exact, words & 0x40, &wait, &stack_found);
	/* Go on where the walk stopped. */
	for (uint8_t more = flags >> 6; err == 1 && more--;) {
		require(unwinder_collect(f->unwinder, 0, f->now_ns) >= 0);
		if (more == 1)
			unwinder_process_changed(f->unwinder, process);
		err = unwinder_finish(f->unwinder, process, exact, words & 0x40, &wait,
				      &stack_found);
	}
	require(err == 0 || err == -EINVAL || (err == 1 && !(words & 0x40)));
	if (!err)
		seed_taken();
	if (!err)
		require(stack_found.count >= 1 && stack_found.count <= JITBPF_USER_FRAMES_MAX &&
			stack_found.end > 0 && stack_found.end < JITBPF_END_COUNT);
	free(exact);
}

static void take_step(struct fuzzed *f)
{
	uint8_t step = byte(f);

	f->now_ns += step / STEP_COUNT * 100000ull;
	switch (step % STEP_COUNT) {
	case STEP_MAP:
		map(f);
		break;
	case STEP_LOAD:
		tell_of_code(f, JIT_EVENT_LOAD);
		break;
	case STEP_UNLOAD:
		tell_of_code(f, JIT_EVENT_UNLOAD);
		break;
	case STEP_EXEC:
	case STEP_FORK:
	case STEP_EXIT:
		change_process(f, step % STEP_COUNT);
		break;
	case STEP_SAMPLE:
		sample(f);
		break;
	case STEP_COLLECT:
		require(unwinder_collect(f->unwinder, 0, f->now_ns) >= 0);
		break;
	case STEP_PUBLISH:
		require(!unwinder_publish(f->unwinder, f->now_ns));
		process_table_forget(&f->processes, f->now_ns);
		break;
	case STEP_ALL_CODE:
		unwinder_code_changed(f->unwinder, process_of(f), 0, UINT64_MAX);
		break;
	case STEP_UNPUBLISHED:
		if (f->pages.size && f->pages.data[0].key.owner & UNWIND_OWNER_CODE)
			unpublish_page(f, f->pages.data[0].key);
		break;
	case STEP_COPY:
		copy_code(f);
	}
	check_published(f);
}

static void fuzzed_deinit(struct fuzzed *f)
{
	unwinder_destroy(f->unwinder);
	process_table_deinit(&f->processes);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	while (f->pages.size)
		unpublish_page(f, f->pages.data[0].key);
	vec_deinit(&f->pages);
	vec_deinit(&f->requests);
	for (uint32_t pid = 0; pid < PIDS; pid++)
		unpublish_process(f, pid);
	free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct fuzzed *f = calloc(1, sizeof(*f));
	struct unwind_service service = {.request = request, .collect = collect, .context = f};
	struct unwind_tables tables = {
		.row_count = ROW_COUNT,
		.mapping_count = MAPPING_COUNT,
		.publish_page = publish_page,
		.replace_page = replace_page,
		.publish_process = publish_process,
		.unpublish_page = unpublish_page,
		.unpublish_process = unpublish_process,
		.context = f,
	};

	require(f);
	f->input = cursor_of(data, size_bytes);
	f->now_ns = 1000000000;
	tables.rows = f->rows;
	tables.mappings = f->mappings;
	require(!string_pool_create(&f->strings));
	process_table_init(&f->processes, f->strings, &f->modules, &small_budget, NULL);
	require(!unwinder_create(&service, &tables, &f->modules, &f->unwinder));
	map_all(f);
	while (cursor_left(&f->input))
		take_step(f);
	fuzzed_deinit(f);
	return 0;
}

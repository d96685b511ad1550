/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a profile: what an owner has no room for, and that nobody else loses anything. */
#include <inttypes.h>
#include <malloc.h>
#include <stdint.h>

#include "base/text.h"
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/pipeline_state.h"
#include "sink/diff/frame_diff.h"
#include "sink/shown_profile.h"
#include "sink/top/function_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define MS	    1000000ull
#define ATTACKER    1
#define VICTIM	    2
#define PROFILE	    (4u << 20)
#define ROUND	    100 /* samples */
#define FRAMES	    50
#define VICTIM_PID  7
#define VICTIM_NAME "victim"

static struct made_run run;
static uint64_t time_ns, taken;

static void begin(uint64_t profile_bytes)
{
	made_run_begin_bare(
		&run, &(struct pipeline_options){.analysis = {.profile_bytes = profile_bytes}});
	time_ns = 10000 * MS;
	taken = 0;
}

static const struct view *view(void)
{
	return pipeline_view(run.pipeline);
}

static void make_owner(uint32_t pid, uint32_t uid)
{
	struct jitbpf_owner *owner = make_record(&run, JITBPF_OWNER, sizeof(*owner), ++time_ns);

	owner->pid = pid;
	owner->start_ns = pid;
	owner->uid = owner->charged_uid = owner->fs_uid = uid;
	owner->cgroup = 1;
}

/* A round ends before every 100th sample. */
static struct jitbpf_sample *sample(uint32_t pid, const uint64_t *words, uint16_t count)
{
	if (++taken % ROUND == 0)
		made_round(&run, ++time_ns);
	return make_sample_of(&run, ++time_ns, pid, pid, words, count);
}

/* Nothing is lost: the fates, the nodes, and the counts of threads are all the samples. */
static void check_sums(void)
{
	const struct ledger *ledger = view()->ledger;
	uint64_t self = 0, threads = 0, rows = 0, cut = 0;

	vec_for_each (node, &view()->profile->nodes)
		self += node->self;
	vec_for_each (count, &view()->threads->counts)
		threads += count->samples;
	vec_for_each (row, &ledger->processes) {
		for (int i = 0; i < FATE_COUNT; i++)
			rows += row->samples.fate[i];
	}
	for (int i = 0; i < LEDGER_CUT_COUNT; i++)
		cut += ledger->samples.cut[i];
	assert_int_equal(ledger_taken(ledger), taken);
	assert_int_equal(self, taken);
	assert_int_equal(threads, taken);
	assert_int_equal(rows, taken);
	assert_int_equal(cut, ledger->samples.fate[FATE_STACK_CUT]);
}

/* What the tables hold, in bytes, without what the allocator leaves unused. */
static uint64_t used(void)
{
	return view()->profile->nodes.size * sizeof(struct profile_node) +
	       view()->locations->locations.size * sizeof(struct location) +
	       view()->threads->counts.size * sizeof(struct thread_count) +
	       view()->threads->threads.size * sizeof(struct sampled_thread) +
	       view()->ledger->processes.size * sizeof(struct ledger_process);
}

static uint32_t path_length(uint32_t node)
{
	uint32_t length = 0;

	for (; view()->profile->nodes.data[node].parent != PROFILE_NODE_NONE; length++)
		node = view()->profile->nodes.data[node].parent;
	return length;
}

/* The victim's samples are all at whole paths. */
static void check_victim(void)
{
	const uint64_t words[] = {0x10, 0x20, 0x30};
	const struct ledger_process *row = NULL;
	uint64_t whole = 0;

	make_owner(VICTIM_PID, VICTIM);
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t other[] = {0x10 + i, 0x20, 0x30};
		struct jitbpf_mapping *mapping;

		if (!i) {
			mapping = make_mapping(&run, ++time_ns, VICTIM_PID, 0, "//anon");
			mapping->start_ns = VICTIM_PID;
			make_comm(&run, ++time_ns, VICTIM_PID, VICTIM_NAME, false);
		}
		sample(VICTIM_PID, i % 2 ? words : other, 3);
	}
	made_finish(&run, time_ns += MS);
	vec_for_each (process, &view()->ledger->processes) {
		if (process->pid == VICTIM_PID)
			row = process;
	}
	assert_non_null(row);
	assert_string_equal(string_pool_get(view()->strings, row->comm), VICTIM_NAME);
	assert_int_equal(row->samples.fate[FATE_STACK_CUT], 0);
	vec_for_each (count, &view()->threads->counts) {
		if (view()->threads->threads.data[count->thread].pid != VICTIM_PID)
			continue;
		assert_int_equal(path_length(count->node), 3);
		whole += count->samples;
	}
	assert_int_equal(whole, 64);
}

static void check_owner(void)
{
	const struct ledger_owner *owners = view()->ledger->owners[LEDGER_MEMORY_PROFILE];

	assert_int_equal(owners[0].uid, ATTACKER);
	assert_true(owners[0].refused > 0);
	assert_int_equal(owners[1].refused, 0);
}

static void map_all(uint32_t pid)
{
	struct jitbpf_mapping *mapping = make_mapping(&run, ++time_ns, pid, 0, "//anon");

	mapping->start_ns = pid;
	mapping->size_bytes = 1ull << 40;
}

/* Returns true if a path has a location of a kind. */
static bool goes_through(const struct profile_node *node, enum location_kind kind)
{
	const struct profile_node *nodes = view()->profile->nodes.data;

	for (; node->parent != PROFILE_NODE_NONE; node = &nodes[node->parent]) {
		if (view()->locations->locations.data[node->location].kind == kind)
			return true;
	}
	return false;
}

CASE(paths_are_cut)
{
	uint64_t random = 1, left_out = 0;

	begin(PROFILE);
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (int i = 0; i < 20000; i++) {
		uint64_t words[FRAMES];

		for (int frame = 0; frame < FRAMES; frame++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			words[frame] = 0x1000 + (random >> 60) * 16;
		}
		sample(MADE_PID, words, FRAMES);
	}
	check_victim();
	check_sums();
	check_owner();
	assert_true(used() < PROFILE);
	vec_for_each (node, &view()->profile->nodes) {
		if (goes_through(node, LOCATION_OTHERS) || goes_through(node, LOCATION_UNORDERED))
			left_out += node->self;
		assert_false(node->self && goes_through(node, LOCATION_LEFT_OUT));
	}
	assert_true(left_out > 12000);
	made_run_end(&run);
}

#define PLACES 16

/* The innermost frames of samples, by offset: of the kernel or user space, and of user space. */
struct innermost {
	uint64_t shown[PLACES], user[PLACES];
};

static void add_innermost(uint64_t places[PLACES], uint32_t node, uint64_t samples)
{
	uint32_t number = view()->profile->nodes.data[node].location;
	uint64_t offset = view()->locations->locations.data[number].offset;

	places[offset / 16 % PLACES] += samples;
}

/* Samples whose stacks are all different, 30 frames deep, half of them in the kernel. */
static void sample_different_stacks(struct innermost *ret)
{
	uint64_t random = 1;

	*ret = (struct innermost){0};
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (int i = 0; i < 20000; i++) {
		struct jitbpf_sample *made;
		uint64_t words[30];

		for (int frame = 0; frame < 30; frame++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			words[frame] = 0x1000 + (random >> 60) * 16;
		}
		made = sample(MADE_PID, words, 30);
		if (random >> 63) {
			made->kernel_words = 5;
			made->user_words = 25;
		}
	}
	made_finish(&run, time_ns += MS);
	for (uint32_t i = 0; i < view()->profile->nodes.size; i++) {
		const struct view user = {.options = {.kernel = VIEW_KERNEL_HIDDEN},
					  .profile = view()->profile,
					  .locations = view()->locations};
		uint64_t self = view()->profile->nodes.data[i].self;

		if (!self)
			continue;
		add_innermost(ret->shown, i, self);
		add_innermost(ret->user, shown_profile_node(&user, i), self);
	}
}

/* Whatever is left out, the innermost frames are counted as with all paths. */
CASE(innermost_frames_are_exact)
{
	struct innermost exact, counted;
	uint64_t fates[FATE_COUNT];
	size_t nodes;

	begin(0);
	sample_different_stacks(&exact);
	memcpy(fates, view()->ledger->samples.fate, sizeof(fates));
	nodes = view()->profile->nodes.size;
	made_run_end(&run);
	begin(PROFILE);
	sample_different_stacks(&counted);
	check_sums();
	assert_true(view()->ledger->owners[LEDGER_MEMORY_PROFILE][0].refused > 5000);
	assert_memory_equal(counted.shown, exact.shown, sizeof(exact.shown));
	assert_true(used() < PROFILE);
	made_run_end(&run);
	begin(PROFILE);
	run.pipeline->analysis->no_paths = true;
	sample_different_stacks(&counted);
	check_sums();
	assert_true(nodes > 200000);
	assert_true(view()->profile->nodes.size < 1000);
	assert_memory_equal(&counted, &exact, sizeof(exact));
	assert_memory_equal(view()->ledger->samples.fate, fates, sizeof(fates));
	assert_int_equal(view()->ledger->owners[LEDGER_MEMORY_PROFILE][0].refused, 0);
	made_run_end(&run);
}

#define CALLED 8

/* Samples by location that are on their stacks: by index of the location. */
struct totals {
	uint64_t by_place[4096], others, unordered;
};

/* Add the samples of a node to each location of its path once. */
static void add_totals(struct totals *totals, const struct profile_node *leaf)
{
	const struct profile_node *nodes = view()->profile->nodes.data;
	bool met[4096] = {0}, others = false, unordered = false;

	for (const struct profile_node *node = leaf; node->parent != PROFILE_NODE_NONE;
	     node = &nodes[node->parent]) {
		const struct location *location =
			&view()->locations->locations.data[node->location];

		others |= location->kind == LOCATION_OTHERS;
		unordered |= location->kind == LOCATION_UNORDERED;
		if (location->kind == LOCATION_ANON)
			met[location->offset / 16 % 4096] = true;
	}
	for (int i = 0; i < 4096; i++)
		totals->by_place[i] += met[i] ? leaf->self : 0;
	totals->others += others ? leaf->self : 0;
	totals->unordered += unordered ? leaf->self : 0;
}

/* Samples whose stacks are all different, of a number of functions. */
static void sample_calls(uint32_t functions, struct totals *ret)
{
	uint64_t random = 1;

	*ret = (struct totals){0};
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (int i = 0; i < 20000; i++) {
		uint64_t ips[40];

		for (int frame = 0; frame < 40; frame++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			ips[frame] = 0x10000 + (random >> 40) % functions * 16;
		}
		sample(MADE_PID, ips, 40);
	}
	made_finish(&run, time_ns += MS);
	vec_for_each (node, &view()->profile->nodes) {
		if (node->self)
			add_totals(ret, node);
	}
}

/* As long as there are few sets of callers, TOTAL does not depend on the memory. */
CASE(totals_are_exact)
{
	static struct totals exact, counted;

	begin(0);
	sample_calls(CALLED, &exact);
	assert_int_equal(exact.unordered, 0);
	made_run_end(&run);
	begin(PROFILE);
	sample_calls(CALLED, &counted);
	check_sums();
	assert_memory_equal(counted.by_place, exact.by_place, sizeof(exact.by_place));
	assert_true(counted.unordered > 12000);
	assert_int_equal(counted.others, 0);
	assert_true(used() < PROFILE);
	made_run_end(&run);
}

#define NAMES	 256
#define PER_NAME 2    /* pieces of code of a function */
#define PIECE	 4096 /* bytes */

/* SELF and TOTAL of JIT functions, by number. */
struct named_totals {
	uint64_t self[NAMES], total[NAMES], others;
};

static void load_functions(void)
{
	for (uint32_t i = 0; i < NAMES * PER_NAME; i++) {
		struct jitbpf_jit_header *load;
		char name[16];

		snprintf(name, sizeof(name), "f%u", i % NAMES);
		load = make_jit_of(&run, ++time_ns, MADE_PID, MADE_PID, i, name);
		load->address = MADE_CODE + i * PIECE;
		load->code_bytes = PIECE;
		if (i % ROUND == ROUND - 1)
			made_round(&run, ++time_ns);
	}
	made_round(&run, ++time_ns);
}

/* Count functions as the table of the format top does. */
static void count_functions(struct named_totals *ret)
{
	CLEANUP(label_table_deinit) struct label_table labels;
	CLEANUP(frame_tree_deinit) struct frame_tree tree = {0};
	struct frame_labels ops;
	function_table functions = {0};
	hidden_labels hidden = {0};

	*ret = (struct named_totals){0};
	assert_int_equal(label_table_init(&labels), 0);
	label_table_init_labels(&labels, &ops);
	assert_int_equal(frame_tree_build(&tree, view(), &ops), 0);
	assert_int_equal(hidden_labels_add(view(), &ops, &hidden), 0);
	assert_int_equal(function_table_fill(&functions, &tree, &labels, &hidden), 0);
	vec_for_each (function, &functions) {
		const char *name = label_table_name(&labels, function->label);
		uint32_t number;

		if (!strcmp(name, "[other callers]"))
			ret->others = function->total;
		if (sscanf(name, "f%u", &number) != 1)
			continue;
		ret->self[number % NAMES] += function->self;
		ret->total[number % NAMES] += function->total;
	}
	vec_deinit(&functions);
	vec_deinit(&hidden);
}

/* Samples whose stacks are all different, in places of functions; many of these are recursive. */
static void sample_functions(struct named_totals *ret)
{
	uint64_t random = 1;

	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	load_functions();
	for (int i = 0; i < 20000; i++) {
		uint64_t ips[40];

		for (int frame = 0; frame < 40; frame++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			ips[frame] = MADE_CODE + (random >> 40) % (NAMES * PER_NAME) * PIECE +
				     (random >> 36) % 4 * 64;
		}
		sample(MADE_PID, ips, 40);
	}
	made_finish(&run, time_ns += MS);
	check_sums();
	count_functions(ret);
}

/* However many sets of callers there are, functions have their TOTAL. */
CASE(totals_of_functions_are_exact)
{
	static struct named_totals exact, counted;

	begin(0);
	sample_functions(&exact);
	assert_int_equal(exact.others, 0);
	made_run_end(&run);
	begin(PROFILE);
	sample_functions(&counted);
	assert_true(counted.others > 5000);
	assert_memory_equal(counted.self, exact.self, sizeof(exact.self));
	assert_memory_equal(counted.total, exact.total, sizeof(exact.total));
	assert_int_equal(view()->hidden->unknown, 0);
	made_run_end(&run);
}

/* Else [other callers] says what can be missing. */
CASE(totals_have_a_bound)
{
	static struct totals exact, counted;

	begin(0);
	sample_calls(4096, &exact);
	made_run_end(&run);
	begin(PROFILE);
	sample_calls(4096, &counted);
	check_sums();
	assert_true(counted.others > 5000);
	for (int i = 0; i < 4096; i++) {
		assert_true(counted.by_place[i] <= exact.by_place[i]);
		assert_true(counted.by_place[i] + counted.others >= exact.by_place[i]);
	}
	assert_true(used() < PROFILE);
	made_run_end(&run);
}

CASE(places_are_left_out)
{
	begin(PROFILE);
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t words[] = {0x100000 + i * 16, 0x1000};

		sample(MADE_PID, words, 2);
	}
	check_victim();
	check_sums();
	check_owner();
	assert_true(used() < PROFILE);
	made_run_end(&run);
}

CASE(threads_are_counted_together)
{
	const uint64_t words[] = {0x1000};

	begin(PROFILE);
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (uint32_t i = 0; i < 100000; i++) {
		struct jitbpf_sample *made = sample(MADE_PID, words, 1);

		made->tid = MADE_PID + i;
		snprintf(made->comm, sizeof(made->comm), "name%u", i);
	}
	check_victim();
	check_sums();
	assert_true(used() < PROFILE);
	assert_true(string_pool_size(view()->strings) < PROFILE / STRING_POOL_BYTES);
	made_run_end(&run);
}

/* Processes with a sample each. `names`: of so many names. */
static void run_processes(uint32_t count, uint32_t names)
{
	static const uint64_t paths[][3] = {{0x10, 0x20, 0x30}, {0x40, 0x20, 0x30}, {0x50, 0x30}};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t pid = 1000 + i;
		struct jitbpf_sample *made;

		make_owner(pid, ATTACKER);
		made = sample(pid, paths[i % 3], i % 3 == 2 ? 2 : 3);
		snprintf(made->comm, sizeof(made->comm), "name%u", i % names);
	}
}

/* Returns the number of processes in rows that have a name, or that begins with it. */
static uint64_t processes_named(const char *name, bool shared)
{
	uint64_t count = 0;

	vec_for_each (row, &view()->ledger->processes) {
		if (begins_with(string_pool_get(view()->strings, row->comm), name) &&
		    !row->pid == shared)
			count += row->processes ?: 1;
	}
	return count;
}

CASE(processes_of_a_command_share_paths)
{
	begin(PROFILE);
	run_processes(50000, 5);
	check_victim();
	check_sums();
	check_owner();
	assert_true(used() < PROFILE);
	assert_int_equal(view()->ledger->samples.cut[LEDGER_CUT_LEFT_OUT], 0);
	assert_int_equal(processes_named("[others", true), 0);
	assert_true(processes_named("name3", true) > 5000);
	assert_true(processes_named("name3", false) >= SHARED_ROWS_MANY);
	assert_int_equal(processes_named("name", true) + processes_named("name", false), 50000);
	assert_true(view()->ledger->owners[LEDGER_MEMORY_PROFILE][0].refused >=
		    processes_named("name", true));
	made_run_end(&run);
}

/* Nothing helps against names that are all different. */
CASE(processes_are_counted_together)
{
	begin(PROFILE);
	run_processes(20000, 20000);
	check_victim();
	check_sums();
	check_owner();
	assert_true(used() < PROFILE);
	assert_true(processes_named("[others of user 1]", true) > 10000);
	made_run_end(&run);
}

/* A process with new paths all the time leaves room for the names of others. */
CASE(paths_leave_room_for_commands)
{
	begin(PROFILE);
	make_owner(MADE_PID, ATTACKER);
	map_all(MADE_PID);
	for (uint64_t i = 0; i < 100000; i++)
		sample(MADE_PID, (const uint64_t[]){0x100000 + i * 16, 0x1000}, 2);
	run_processes(20000, 100);
	check_victim();
	check_sums();
	assert_true(used() < PROFILE);
	assert_int_equal(processes_named("[others", true), 0);
	assert_int_equal(processes_named("name", true) + processes_named("name", false), 20000);
	vec_for_each (root, &view()->profile->roots)
		assert_false(begins_with(string_pool_get(view()->strings, root->comm), "[others"));
	made_run_end(&run);
}

/* Returns the samples of the shared row of a name and unit. */
static uint64_t shared_samples(const char *comm, const char *unit)
{
	uint64_t count = 0;

	vec_for_each (row, &view()->ledger->processes) {
		if (!row->processes ||
		    strcmp(string_pool_get(view()->strings, row->comm), comm) != 0 ||
		    strcmp(string_pool_get(view()->strings, row->unit), unit) != 0)
			continue;
		for (int i = 0; i < FATE_COUNT; i++)
			count += row->samples.fate[i];
	}
	return count;
}

/* Returns the names of the runtimes of such a row, each followed by a space. */
static const char *shared_runtimes(const char *comm, const char *unit)
{
	static char text[100];
	size_t at = 0;

	*text = 0;
	vec_for_each (row, &view()->ledger->processes) {
		if (!row->processes ||
		    strcmp(string_pool_get(view()->strings, row->comm), comm) != 0 ||
		    strcmp(string_pool_get(view()->strings, row->unit), unit) != 0)
			continue;
		for (int i = 0; i < LEDGER_RUNTIMES_MAX && row->runtimes[i]; i++)
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%s ",
				engine_runtime_name(
					engine_of_runtime_number(row->runtimes[i]).engine));
	}
	return text;
}

/* A process in a shared row gets another name, and moves to another cgroup. */
CASE(a_process_changes_its_shared_row)
{
	const uint64_t words[] = {0x10, 0x20};
	struct jitbpf_owner *owner;

	begin(PROFILE);
	run_processes(50000, 1);
	make_cgroup(&run, ++time_ns, 2, "/b.service", "");
	make_owner(5, ATTACKER);
	strcpy(sample(5, words, 2)->comm, "name0");
	make_comm(&run, ++time_ns, 5, "renamed", true);
	make_mapping(&run, ++time_ns, 5, 0x100000, "/usr/bin/node");
	for (int i = 0; i < 2; i++)
		sample(5, words, 2);
	/* Another process of that name, which runs something else. */
	make_owner(6, ATTACKER);
	make_comm(&run, ++time_ns, 6, "renamed", true);
	make_mapping(&run, ++time_ns, 6, 0x100000, "/usr/bin/php8.2");
	sample(6, words, 2);
	owner = make_record(&run, JITBPF_OWNER, sizeof(*owner), ++time_ns);
	*owner = (struct jitbpf_owner){
		.h = owner->h,
		.pid = 5,
		.start_ns = 5,
		.uid = ATTACKER,
		.charged_uid = ATTACKER,
		.fs_uid = ATTACKER,
		.cgroup = 2,
	};
	for (int i = 0; i < 4; i++)
		sample(5, words, 2);
	made_finish(&run, time_ns += MS);
	check_sums();
	assert_int_equal(shared_samples("renamed", ""), 3);
	assert_int_equal(shared_samples("renamed", "b.service"), 4);
	assert_string_equal(shared_runtimes("renamed", ""), "Node.js PHP ");
	assert_string_equal(shared_runtimes("renamed", "b.service"), "Node.js ");
	assert_int_equal(processes_named("renamed", true), 3);
	made_run_end(&run);
}

/* The next epoch has the room of the one that was closed. */
CASE(a_new_epoch_has_room)
{
	const struct run_info info = {.event = "", .command = "", .host = "", .kernel = ""};
	const struct view *closed;
	struct analysis *a;

	begin(PROFILE);
	a = run.pipeline->analysis;
	make_owner(MADE_PID, ATTACKER);
	for (uint64_t i = 0; i < 50000; i++)
		sample(MADE_PID, &(uint64_t){0x100000 + i * 16}, 1);
	made_round(&run, ++time_ns);
	assert_true(a->profile_memory.used > PROFILE / 2);
	assert_int_equal(analysis_begin_epoch(a, &info), 0);
	assert_int_equal(analysis_complete_epoch(a, true, &closed), 0);
	analysis_drop_epoch(a);
	assert_int_equal(a->profile_memory.used, 0);
	taken = 0;
	for (int i = 0; i < 10; i++)
		sample(MADE_PID, &(uint64_t){0x1000}, 1);
	made_finish(&run, time_ns += MS);
	check_sums();
	assert_int_equal(view()->ledger->samples.cut[LEDGER_CUT_LEFT_OUT], 0);
	made_run_end(&run);
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static uint64_t allocated_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return info.uordblks + info.hblkhd;
}

#define METHODS	     64
#define METHOD_BYTES 0x100

/* Samples of methods, whose call paths are all different, until there is no more room. */
static void fill_profile(uint64_t seed)
{
	struct jitbpf_owner *owner = make_record(&run, JITBPF_OWNER, sizeof(*owner), ++time_ns);

	owner->pid = MADE_PID;
	owner->start_ns = MADE_START;
	owner->uid = owner->charged_uid = owner->fs_uid = ATTACKER;
	for (uint64_t i = 0; i < METHODS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "method_%" PRIu64, i);
		make_load(&run, ++time_ns, i, name)->address = MADE_CODE + METHOD_BYTES * i;
	}
	made_round(&run, ++time_ns);
	for (int i = 0; i < 2500; i++) {
		uint64_t words[FRAMES];

		for (int frame = 0; frame < FRAMES; frame++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			words[frame] = MADE_CODE + (seed >> 58) * METHOD_BYTES + 8;
		}
		if (++taken % ROUND == 0)
			made_round(&run, ++time_ns);
		make_sample_of(&run, ++time_ns, MADE_PID, MADE_START, words, FRAMES);
	}
	made_round(&run, ++time_ns);
}

/* What an output has allocated when it writes, at most. */
struct written {
	uint64_t before, most;
};

static ssize_t note_memory(void *cookie, const char *bytes, size_t size)
{
	struct written *written = cookie;
	uint64_t now = allocated_bytes();

	if (now - written->before > written->most && now > written->before)
		written->most = now - written->before;
	return (ssize_t)size;
}

/* An output takes no more than what was left for it, and its profile the rest. */
static void check_output(const struct sink_ops *ops)
{
	struct written written = {0};
	FILE *out = fopencookie(&written, "w", (cookie_io_functions_t){.write = note_memory});
	struct analysis *a;
	uint64_t used;

	assert_non_null(out);
	begin(PROFILE);
	a = run.pipeline->analysis;
	assert_int_equal(pipeline_add_sink(run.pipeline, ops, out), 0);
	fill_profile(1);
	used = a->profile_memory.used;
	assert_in_range(used, PROFILE / 2 / (1 + ops->profile_times),
			PROFILE / (1 + ops->profile_times));
	made_finish(&run, time_ns += MS);
	pipeline_close(run.pipeline);
	written.before = allocated_bytes();
	assert_int_equal(pipeline_write(run.pipeline, out), 0);
	print_message("%s: %.2f times the profile\n", ops->name,
		      (double)written.most / (double)used);
	assert_true(written.most <= ops->profile_times * used);
	made_run_end(&run);
	fclose(out);
}

CASE(outputs_have_a_part_of_the_memory)
{
	check_output(&sink_folded);
	check_output(&sink_top);
	check_output(&sink_html);
}

/* Of several outputs, the one that needs most counts: they are written one after the other. */
CASE(the_largest_output_counts)
{
	FILE *out = tmpfile();
	struct owner_budget *memory;

	begin(PROFILE);
	memory = &run.pipeline->analysis->profile_memory;
	assert_int_equal(pipeline_add_sink(run.pipeline, &sink_html, out), 0);
	assert_int_equal(memory->beside, sink_html.profile_times);
	assert_int_equal(pipeline_add_sink(run.pipeline, &sink_folded, out), 0);
	assert_int_equal(pipeline_add_sink(run.pipeline, &sink_summary, out), 0);
	assert_int_equal(memory->beside, sink_html.profile_times);
	made_run_end(&run);
	fclose(out);
}

/* A diff takes no more than what is left for it beside the profiles of both sides. */
CASE(a_diff_has_a_part_of_the_memory)
{
	struct made_run sides[DIFF_SIDES];
	const struct view *views[DIFF_SIDES];
	struct frame_diff *diff = NULL;
	uint64_t used = 0, before;

	for (int side = 0; side < DIFF_SIDES; side++) {
		begin(PROFILE);
		pipeline_leave_memory(run.pipeline, FRAME_DIFF_PROFILE_TIMES);
		fill_profile(1 + (uint64_t)side);
		used += run.pipeline->analysis->profile_memory.used;
		made_finish(&run, time_ns += MS);
		pipeline_close(run.pipeline);
		sides[side] = run;
		views[side] = pipeline_shown_view(run.pipeline);
	}
	assert_in_range(used, PROFILE / 4, DIFF_SIDES * PROFILE / (1 + FRAME_DIFF_PROFILE_TIMES));
	before = allocated_bytes();
	assert_int_equal(frame_diff_create(views[DIFF_BEFORE], views[DIFF_AFTER], false, &diff), 0);
	print_message("diff: %.2f times the profiles\n",
		      (double)(allocated_bytes() - before) / (double)used);
	assert_true(allocated_bytes() - before <= FRAME_DIFF_PROFILE_TIMES * used);
	frame_diff_destroy(diff);
	for (int side = 0; side < DIFF_SIDES; side++)
		made_run_end(&sides[side]);
}

/* Sample a new place of a method. Returns what its owner is charged for it. */
static uint64_t charge_of(uint64_t ip)
{
	struct analysis *a = run.pipeline->analysis;
	uint64_t before = a->profile_memory.used;

	make_sample(&run, ++time_ns, ip);
	made_round(&run, ++time_ns);
	return a->profile_memory.used - before;
}

/* Each of the methods has a new name; the second one has the function of the first. */
CASE(functions_are_charged_to_their_owner)
{
	static const char *const names[] = {"TRACE-1$f$7", "TRACE-2$f$7", "TRACE-2$g$7"};
	const uint64_t function_bytes = STRING_POOL_BYTES + strlen("TRACE$g$7");
	uint64_t charges[ARRAY_SIZE(names)];
	struct jitbpf_owner *owner;

	made_run_begin(&run, &(struct pipeline_options){.analysis = {.profile_bytes = PROFILE}});
	time_ns = 10000 * MS;
	owner = make_record(&run, JITBPF_OWNER, sizeof(*owner), ++time_ns);
	owner->pid = MADE_PID;
	owner->start_ns = MADE_START;
	owner->uid = owner->charged_uid = owner->fs_uid = ATTACKER;
	owner->cgroup = 1;
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		make_load(&run, ++time_ns, i, names[i])->address = MADE_CODE + 0x100 * i;
	made_round(&run, ++time_ns);
	charge_of(MADE_CODE + 0xf00); /* no method's: the process has its row and thread then */
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		charges[i] = charge_of(MADE_CODE + 0x100 * i + 4);
	assert_true(charges[1] > 0);
	assert_int_equal(charges[2] - charges[1], NAMED_FUNCTION_BYTES + function_bytes);
	assert_int_equal(frame_table_function_count(view()->frames), 2);
	made_run_end(&run);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/sample_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/common_words.h"
#include "base/hash.h"
#include "decode/record/sample_parts.h"

#define REGS_WORDS (sizeof(struct jitbpf_user_regs) / sizeof(uint32_t))

_Static_assert(REGS_WORDS <= JITBPF_RUN_WORDS_MAX, "registers are one run");
_Static_assert(JITBPF_END_COUNT <= JITBPF_STACK_ROOTS, "each end has a root");
_Static_assert(JITBPF_STACK_ROOTS + JITBPF_SAMPLE_WORDS_MAX <= JITBPF_NODES_MAX, "a stack fits");

int sample_packer_init(struct sample_packer *packer, uint32_t freq_hz)
{
	packer->paths = calloc(SAMPLE_PACKER_PATHS, sizeof(*packer->paths));
	packer->recent = calloc(SAMPLE_PACKER_RECENT, sizeof(*packer->recent));
	return packer->paths && packer->recent ? sample_state_begin(&packer->state, freq_hz)
					       : -ENOMEM;
}

void sample_packer_deinit(struct sample_packer *packer)
{
	sample_state_deinit(&packer->state);
	index_map_deinit(&packer->children);
	index_map_deinit(&packer->threads);
	free(packer->paths);
	free(packer->recent);
}

bool sample_packer_can(const struct jitbpf_sample *sample)
{
	return sample->kernel_words <= JITBPF_KERNEL_FRAMES_MAX &&
	       sample->user_words <= JITBPF_USER_WORDS_MAX && !sample->mappings_age_ns &&
	       sample->event < JITBPF_EVENTS_MAX && sample->user_end < JITBPF_STACK_ROOTS &&
	       sample->h.size_bytes == sample_finished_bytes(sample);
}

/* --- threads ------------------------------------------------------------------ */

static bool is_thread(const struct jitbpf_thread_chunk *thread, const struct jitbpf_sample *sample)
{
	return thread->tid == sample->tid && thread->pid == sample->pid &&
	       thread->start_ns == sample->start_ns &&
	       !memcmp(thread->comm, sample->comm, sizeof(thread->comm));
}

static bool thread_equal(const void *threads, uint32_t number, const void *sample)
{
	return is_thread((const struct jitbpf_thread_chunk *)threads + number, sample);
}

static int add_thread(struct sample_packer *packer, struct record_packer *records,
		      const struct jitbpf_sample *sample, uint64_t hash)
{
	struct jitbpf_thread_chunk thread = {
		.h =
			{
				.size_bytes = sizeof(thread),
				.type = JITBPF_CHUNK_THREAD,
				.time_ns = records->time_ns,
			},
		.pid = sample->pid,
		.tid = sample->tid,
		.start_ns = sample->start_ns,
	};

	memcpy(thread.comm, sample->comm, sizeof(thread.comm));
	if (vec_push(&packer->state.threads, thread) ||
	    index_map_insert(&packer->threads, hash, (uint32_t)packer->state.threads.size - 1))
		return -ENOMEM;
	record_pack(records, &thread.h, &thread.h + 1);
	return 0;
}

/* last: number of the thread that the CPU ran before. */
static int thread_of(struct sample_packer *packer, struct record_packer *records,
		     const struct jitbpf_sample *sample, uint32_t last, uint32_t *ret)
{
	const struct sample_state *state = &packer->state;
	uint64_t hash;

	*ret = last;
	if (last < state->threads.size && is_thread(&state->threads.data[last], sample))
		return 0;
	hash = hash_mix(sample->pid | (uint64_t)sample->tid << 32, sample->start_ns);
	hash = hash_bytes(sample->comm, sizeof(sample->comm), hash);
	*ret = index_map_find(&packer->threads, hash, thread_equal, state->threads.data, sample);
	if (*ret != INDEX_MAP_NONE)
		return 0;
	*ret = (uint32_t)state->threads.size;
	return add_thread(packer, records, sample, hash);
}

/* --- stacks ------------------------------------------------------------------- */

struct child {
	uint64_t word;
	uint32_t parent;
	bool is_kernel;
};

static bool child_equal(const void *tree_, uint32_t number, const void *child_)
{
	const struct stack_tree *tree = tree_;
	const struct stack_node *node = &tree->nodes.data[number];
	const struct child *child = child_;

	return node->word == child->word && node->parent == child->parent &&
	       tree->is_kernel.data[number] == child->is_kernel;
}

/*
 * Find the child of a node. Stacks repeat, so the child that was found last is likely, and so is
 * the one that was added last: neither needs the index, whose slots are seldom in the processor's
 * cache.
 */
static uint32_t find_child(const struct sample_packer *packer, const struct child *child,
			   uint64_t hash)
{
	const struct stack_tree *tree = &packer->state.tree;
	uint32_t recent = packer->recent[child->parent & (SAMPLE_PACKER_RECENT - 1)];
	uint32_t newest = tree->nodes.data[child->parent].last_child;

	if (recent < tree->nodes.size && recent && child_equal(tree, recent, child))
		return recent;
	if (!newest)
		return INDEX_MAP_NONE;
	if (child_equal(tree, newest, child))
		return newest;
	return index_map_find(&packer->children, hash, child_equal, tree, child);
}

/* Returns a word of a stack, counted from the outermost one. */
static uint64_t word_at(const struct jitbpf_sample *sample, uint32_t at)
{
	const struct frame_words kernel = sample_kernel_frames(sample),
				 user = sample_user_frames(sample);

	return at < user.count ? user.words[user.count - 1 - at]
			       : kernel.words[kernel.count - 1 - (at - user.count)];
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Set a path to the words of a sample. Returns the number of outer words that it had before, whose
 * nodes are valid.
 */
static uint32_t take_words(struct packed_path *path, const struct jitbpf_sample *sample)
{
	const struct frame_words kernel = sample_kernel_frames(sample),
				 user = sample_user_frames(sample);
	uint64_t *user_end = path->user + JITBPF_USER_WORDS_MAX,
		 *kernel_end = path->kernel + JITBPF_KERNEL_FRAMES_MAX;
	uint32_t common = 0, common_kernel = 0;

	if (path->root == sample->user_end)
		common = common_last_words(user_end, user.words + user.count,
					   least(path->user_words, user.count));
	if (path->root == sample->user_end && common == user.count && common == path->user_words)
		common_kernel = common_last_words(kernel_end, kernel.words + kernel.count,
						  least(path->kernel_words, kernel.count));
	memcpy(user_end - user.count, user.words, (user.count - common) * sizeof(uint64_t));
	memcpy(kernel_end - kernel.count, kernel.words,
	       (kernel.count - common_kernel) * sizeof(uint64_t));
	path->root = sample->user_end;
	path->user_words = user.count;
	path->kernel_words = kernel.count;
	return common + common_kernel;
}

/* The nodes that a sample adds to the tree. */
struct new_nodes {
	uint32_t leaf; /* without new nodes; else the parent of the first one */
	uint32_t user, kernel;
};

/* Follow a stack in the tree, and add missing nodes. */
static int add_stack(struct sample_packer *packer, struct lanes *lanes,
		     const struct jitbpf_sample *sample, struct packed_path *path,
		     struct new_nodes *ret)
{
	uint32_t words = sample_words(sample);
	uint32_t at = take_words(path, sample), node = at ? path->nodes[at - 1] : sample->user_end;
	struct stack_tree *tree = &packer->state.tree;
	struct new_nodes added = {.leaf = node};

	for (; at < words; at++) {
		struct child child = {word_at(sample, at), node, at >= sample->user_words};
		uint64_t hash = hash_mix(child.word, (uint64_t)node << 1 | child.is_kernel);
		uint32_t next = added.user + added.kernel ? INDEX_MAP_NONE
							  : find_child(packer, &child, hash);

		if (next == INDEX_MAP_NONE) {
			uint64_t expected = stack_tree_expected(tree, node, child.is_kernel);

			lane_put_difference(lanes, JITBPF_LANE_WORDS, child.word - expected);
			if (stack_tree_add(tree, node, child.word, child.is_kernel, &next) ||
			    index_map_insert(&packer->children, hash, next))
				return -ENOMEM;
			*(child.is_kernel ? &added.kernel : &added.user) += 1;
		} else {
			added.leaf = next;
		}
		packer->recent[node & (SAMPLE_PACKER_RECENT - 1)] = next;
		path->nodes[at] = node = next;
	}
	*ret = added;
	return 0;
}

/* --- samples ------------------------------------------------------------------ */

static int begin_anew(struct sample_packer *packer, struct record_packer *records)
{
	struct jitbpf_record fresh = {
		.size_bytes = sizeof(fresh),
		.type = JITBPF_CHUNK_FRESH,
		.time_ns = records->time_ns,
	};

	record_pack(records, &fresh, NULL);
	index_map_deinit(&packer->children);
	index_map_deinit(&packer->threads);
	for (size_t i = 0; i < SAMPLE_PACKER_PATHS; i++)
		packer->paths[i].user_words = packer->paths[i].kernel_words = 0;
	return sample_state_forget(&packer->state);
}

static void put_head(struct sample_state *state, struct lanes *lanes, struct sample_cpu *cpu,
		     const struct jitbpf_sample *sample, uint32_t thread,
		     const struct new_nodes *nodes)
{
	uint8_t head = JITBPF_PACKED_SAMPLE;
	uint64_t weight;

	head |= sample->cpu != state->cpu ? JITBPF_PACKED_CPU : 0;
	head |= thread != cpu->thread ? JITBPF_PACKED_THREAD : 0;
	head |= sample->h.flags != state->flags ? JITBPF_PACKED_FLAGS : 0;
	head |= nodes->user ? JITBPF_PACKED_USER : 0;
	head |= nodes->kernel ? JITBPF_PACKED_KERNEL : 0;
	head |= sample->event ? JITBPF_PACKED_EVENT : 0;
	lane_put_bytes(lanes, JITBPF_LANE_HEADS, &head, sizeof(head));
	if (head & JITBPF_PACKED_CPU)
		lane_put(lanes, JITBPF_LANE_HEADS, sample->cpu);
	if (head & JITBPF_PACKED_THREAD)
		lane_put(lanes, JITBPF_LANE_HEADS, thread);
	if (head & JITBPF_PACKED_FLAGS)
		lane_put(lanes, JITBPF_LANE_HEADS, sample->h.flags);
	if (head & JITBPF_PACKED_USER)
		lane_put(lanes, JITBPF_LANE_HEADS, nodes->user);
	if (head & JITBPF_PACKED_KERNEL)
		lane_put(lanes, JITBPF_LANE_HEADS, nodes->kernel);
	if (head & JITBPF_PACKED_EVENT)
		lane_put(lanes, JITBPF_LANE_HEADS, sample->event);
	if (sample_weight(sample, &weight))
		lane_put(lanes, JITBPF_LANE_HEADS, weight);
	lane_put_difference(lanes, JITBPF_LANE_TIMES,
			    sample->h.time_ns - sample_state_expected(state, cpu, sample->event));
	lane_put(lanes, JITBPF_LANE_NODES, nodes->leaf);
}

int sample_pack(struct sample_packer *packer, struct record_packer *records,
		const struct jitbpf_sample *sample)
{
	uint32_t thread;
	struct sample_state *state = &packer->state;
	struct new_nodes nodes;
	struct sample_cpu *cpu;
	int err = 0;

	if (stack_tree_is_full(&state->tree, sample_words(sample)) ||
	    state->threads.size == JITBPF_THREADS_MAX)
		err = begin_anew(packer, records);
	err = err ?: sample_state_cpu(state, sample->cpu, &cpu);
	err = err ?: thread_of(packer, records, sample, cpu->thread, &thread);
	err = err
		      ?: add_stack(packer, &records->lanes, sample,
				   &packer->paths[sample->cpu % SAMPLE_PACKER_PATHS], &nodes);
	if (err)
		return err;
	put_head(state, &records->lanes, cpu, sample, thread, &nodes);
	if (sample->h.flags & JITBPF_SAMPLE_USER_REGS)
		record_pack_words(records, JITBPF_SAMPLE, true, sample->h.time_ns,
				  sample_regs(sample), REGS_WORDS);
	*sample_state_time(cpu, sample->event) = records->time_ns = sample->h.time_ns;
	cpu->thread = thread;
	state->cpu = sample->cpu;
	state->flags = sample->h.flags;
	return 0;
}

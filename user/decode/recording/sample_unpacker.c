/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/sample_unpacker.h"

#include <string.h>

#include "base/zigzag.h"
#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"

/* The fields of a sample in the lane HEADS. */
struct head {
	uint64_t cpu, thread, flags;
	uint64_t new_user, new_kernel; /* nodes */
	uint64_t event, weight;
};

static int read_head(struct sample_state *state, struct cursor *heads, uint8_t bits,
		     struct sample_cpu **ret_cpu, struct head *ret)
{
	const uint8_t known = JITBPF_PACKED_SAMPLE | JITBPF_PACKED_CPU | JITBPF_PACKED_THREAD |
			      JITBPF_PACKED_FLAGS | JITBPF_PACKED_USER | JITBPF_PACKED_KERNEL |
			      JITBPF_PACKED_EVENT;
	struct head head = {.cpu = state->cpu, .flags = state->flags};

	if (bits & ~known || !state->tree.nodes.size)
		return -EBADMSG;
	if (bits & JITBPF_PACKED_CPU && lane_read(heads, JITBPF_PACKED_CPUS_MAX - 1, &head.cpu))
		return -EBADMSG;
	if (sample_state_cpu(state, (uint32_t)head.cpu, ret_cpu))
		return -ENOMEM;
	head.thread = (*ret_cpu)->thread;
	if (bits & JITBPF_PACKED_THREAD && lane_read(heads, JITBPF_THREADS_MAX, &head.thread))
		return -EBADMSG;
	if (bits & JITBPF_PACKED_FLAGS && lane_read(heads, UINT16_MAX, &head.flags))
		return -EBADMSG;
	if (bits & JITBPF_PACKED_USER && lane_read(heads, JITBPF_USER_WORDS_MAX, &head.new_user))
		return -EBADMSG;
	if (bits & JITBPF_PACKED_KERNEL &&
	    lane_read(heads, JITBPF_KERNEL_FRAMES_MAX, &head.new_kernel))
		return -EBADMSG;
	if (bits & JITBPF_PACKED_EVENT && lane_read(heads, JITBPF_EVENTS_MAX - 1, &head.event))
		return -EBADMSG;
	if (head.flags & JITBPF_SAMPLE_WEIGHT && lane_read(heads, UINT64_MAX, &head.weight))
		return -EBADMSG;
	if (head.thread >= state->threads.size)
		return -EBADMSG;
	*ret = head;
	return 0;
}

static int add_nodes(struct stack_tree *tree, struct cursor *words, uint64_t count, bool is_kernel,
		     uint32_t *node)
{
	uint64_t difference;

	if (!count)
		return 0;
	if (stack_tree_is_full(tree, count) || (!is_kernel && tree->is_kernel.data[*node]))
		return -EBADMSG;
	while (count--) {
		uint64_t expected = stack_tree_expected(tree, *node, is_kernel);

		if (lane_read(words, UINT64_MAX, &difference))
			return -EBADMSG;
		if (stack_tree_add(tree, *node, expected + unzigzag(difference), is_kernel, node))
			return -ENOMEM;
	}
	return 0;
}

/* Write the words of the path from a node to its root, and their numbers. */
static int write_words(const struct stack_tree *tree, uint32_t node, struct jitbpf_sample *sample)
{
	uint32_t words[2] = {0}; /* user, kernel */

	while (node >= JITBPF_STACK_ROOTS) {
		bool is_kernel = tree->is_kernel.data[node];

		if (words[is_kernel] ==
		    (is_kernel ? JITBPF_KERNEL_FRAMES_MAX : JITBPF_USER_WORDS_MAX))
			return -EBADMSG;
		sample->words[words[0] + words[1]] = tree->nodes.data[node].word;
		words[is_kernel]++;
		node = tree->nodes.data[node].parent;
	}
	sample->user_words = (uint16_t)words[0];
	sample->kernel_words = (uint16_t)words[1];
	sample->user_end = node;
	return 0;
}

static void fill(struct jitbpf_sample *sample, const struct head *head,
		 const struct jitbpf_thread_chunk *thread, uint64_t time_ns)
{
	*sample = (struct jitbpf_sample){
		.h = {.type = JITBPF_SAMPLE, .flags = (uint16_t)head->flags, .time_ns = time_ns},
		.pid = thread->pid,
		.tid = thread->tid,
		.start_ns = thread->start_ns,
		.cpu = (uint16_t)head->cpu,
		.event = (uint16_t)head->event,
	};
	memcpy(sample->comm, thread->comm, sizeof(sample->comm));
}

int sample_unpack(struct record_unpacker *u, struct cursor lanes[JITBPF_LANE_COUNT], uint8_t bits)
{
	struct sample_state *state = &u->samples;
	uint64_t difference, leaf, time_ns;
	struct jitbpf_sample *sample;
	struct sample_cpu *cpu;
	struct head head;
	uint32_t node;
	int err = read_head(state, &lanes[JITBPF_LANE_HEADS], bits, &cpu, &head);

	if (err)
		return err;
	if (lane_read(&lanes[JITBPF_LANE_TIMES], UINT64_MAX, &difference) ||
	    lane_read(&lanes[JITBPF_LANE_NODES], state->tree.nodes.size - 1, &leaf))
		return -EBADMSG;
	time_ns = sample_state_expected(state, cpu, (uint32_t)head.event) + unzigzag(difference);
	node = (uint32_t)leaf;
	err = add_nodes(&state->tree, &lanes[JITBPF_LANE_WORDS], head.new_user, false, &node);
	err = err
		      ?: add_nodes(&state->tree, &lanes[JITBPF_LANE_WORDS], head.new_kernel, true,
				   &node);
	if (err)
		return err;
	if (vec_reserve(&u->record, FINISHED_SAMPLE_BYTES_MAX / sizeof(uint64_t)))
		return -ENOMEM;
	sample = (void *)u->record.data;
	fill(sample, &head, &state->threads.data[head.thread], time_ns);
	if (write_words(&state->tree, node, sample))
		return -EBADMSG;
	if (head.flags & JITBPF_SAMPLE_USER_REGS &&
	    words_unpack(&u->rows, lanes, JITBPF_SAMPLE, true, time_ns,
			 sizeof(struct jitbpf_user_regs) / sizeof(uint32_t),
			 (uint8_t *)sample + sample_kept_offset(sample)))
		return -EBADMSG;
	sample->h.size_bytes = (uint32_t)sample_finished_bytes(sample);
	if (head.flags & JITBPF_SAMPLE_WEIGHT)
		sample_set_weight(sample, head.weight);
	*sample_state_time(cpu, sample->event) = u->time_ns = time_ns;
	cpu->thread = (uint32_t)head.thread;
	state->cpu = (uint32_t)head.cpu;
	state->flags = (uint16_t)head.flags;
	return 1;
}

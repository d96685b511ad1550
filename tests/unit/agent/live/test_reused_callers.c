/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/reused_callers.h"
#include "tests/unit/cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct made {
	struct jitbpf_sample head;
	__u64 words[16];
};

static struct reused_callers *reused;

static int setup(void **state)
{
	reused = calloc(1, sizeof(*reused));
	return reused ? 0 : -1;
}

static int teardown(void **state)
{
	reused_callers_deinit(reused);
	free(reused);
	return 0;
}

/* A sample with one kernel frame, `has` user frames from `ip` on, and one word behind them. */
static struct made make(uint32_t cpu, uint32_t has, uint32_t lacks, uint64_t ip)
{
	struct made out = {
		.head =
			{
				.h = {.type = JITBPF_SAMPLE,
				      .flags = JITBPF_SAMPLE_REUSES_CALLERS |
					       JITBPF_SAMPLE_FRAME_POINTERS,
				      .size_bytes = (uint32_t)(sizeof(out.head) + (has + 2) * 8)},
				.cpu = cpu,
				.kernel_words = 1,
				.user_words = (uint16_t)(has + lacks),
				.user_end = JITBPF_END_ROOT | lacks << JITBPF_REUSED_SHIFT,
			},
		.words = {7},
	};

	for (uint32_t i = 0; i < has; i++)
		out.words[1 + i] = ip + i;
	out.words[1 + has] = 99;
	return out;
}

/* The user frames are `words`, which end with 0. */
static void expect(const struct made *sample, enum jitbpf_stack_end end, const uint64_t *words)
{
	const struct jitbpf_sample *whole;
	uint32_t count = 0;

	assert_int_equal(reused_callers_complete(reused, &sample->head, &whole), 0);
	while (words[count])
		count++;
	assert_int_equal(whole->user_end, end);
	assert_int_equal(whole->h.flags, JITBPF_SAMPLE_FRAME_POINTERS);
	assert_int_equal(whole->kernel_words, 1);
	assert_int_equal(whole->user_words, count);
	assert_int_equal(whole->h.size_bytes, sizeof(*whole) + (count + 2) * 8);
	assert_int_equal(whole->words[0], 7);
	assert_memory_equal(whole->words + 1, words, count * sizeof(*words));
	assert_int_equal(whole->words[1 + count], 99);
}

CASE_WITH(test_callers_of_the_last_sample, setup, teardown)
{
	const struct made first = make(0, 4, 0, 10), deeper = make(0, 3, 2, 20),
			  shallow = make(0, 1, 1, 30), other = make(1, 2, 0, 40),
			  same = make(0, 2, 1, 50);

	expect(&first, JITBPF_END_ROOT, (uint64_t[]){10, 11, 12, 13, 0});
	expect(&deeper, JITBPF_END_ROOT, (uint64_t[]){20, 21, 22, 12, 13, 0});
	expect(&other, JITBPF_END_ROOT, (uint64_t[]){40, 41, 0});
	expect(&shallow, JITBPF_END_ROOT, (uint64_t[]){30, 13, 0});
	expect(&same, JITBPF_END_ROOT, (uint64_t[]){50, 51, 13, 0});
}

CASE_WITH(test_callers_that_no_sample_had, setup, teardown)
{
	const struct made first = make(0, 3, 0, 10), more = make(0, 2, 3, 20),
			  after = make(0, 1, 1, 30), whole = make(0, 3, 0, 40),
			  last = make(0, 1, 1, 50);

	expect(&first, JITBPF_END_ROOT, (uint64_t[]){10, 11, 12, 0});
	expect(&more, JITBPF_END_UNREADABLE, (uint64_t[]){20, 21, 0});
	expect(&after, JITBPF_END_UNREADABLE, (uint64_t[]){30, 0});
	expect(&whole, JITBPF_END_ROOT, (uint64_t[]){40, 41, 42, 0});
	expect(&last, JITBPF_END_ROOT, (uint64_t[]){50, 42, 0});
}

CASE_WITH(test_plain_samples, setup, teardown)
{
	const struct made first = make(0, 2, 0, 10), again = make(0, 1, 1, 20);
	const struct jitbpf_sample *whole;
	struct made plain = make(0, 3, 0, 30);

	plain.head.h.flags = 0;
	expect(&first, JITBPF_END_ROOT, (uint64_t[]){10, 11, 0});
	assert_int_equal(reused_callers_complete(reused, &plain.head, &whole), 0);
	assert_ptr_equal(whole, &plain.head);
	expect(&again, JITBPF_END_ROOT, (uint64_t[]){20, 11, 0});
}

CASE_WITH(test_sizes_that_do_not_fit, setup, teardown)
{
	const struct jitbpf_sample *whole;
	struct made sample = make(0, 3, 0, 10);

	sample.head.h.size_bytes = sizeof(sample.head) + 3 * 8;
	assert_int_equal(reused_callers_complete(reused, &sample.head, &whole), -EBADMSG);
	sample = make(0, 0, 2, 10);
	assert_int_equal(reused_callers_complete(reused, &sample.head, &whole), -EBADMSG);
	sample = make(JITBPF_CPUS_MAX, 3, 0, 10);
	assert_int_equal(reused_callers_complete(reused, &sample.head, &whole), -EBADMSG);
	sample = make(0, 3, 0, 10);
	sample.head.kernel_words = JITBPF_KERNEL_FRAMES_MAX + 1;
	assert_int_equal(reused_callers_complete(reused, &sample.head, &whole), -EBADMSG);
	sample = make(0, 3, JITBPF_USER_FRAMES_MAX - 2, 10);
	assert_int_equal(reused_callers_complete(reused, &sample.head, &whole), -EBADMSG);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random interleavings of samples, code events, answers and verdicts. The model looks at each
 * sample that waits again and again, from its beginning: the finished samples are the same, and
 * come in the same rounds.
 */
#include <stdint.h>

#include "decode/record/sample_parts.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/intake/waiting_world.h"

#define SEEDS	40
#define ROUNDS	80
#define RECORDS 24 /* of a round, at most */

/*
 * Samples of 1,000 that may differ. If other samples have evicted or doubted what the walk of a
 * sample has passed, the model asks for it again, and may not get it in time.
 */
#define DIFFERENT_MAX 2

struct result_sample {
	struct jitbpf_sample *sample;
	uint64_t round; /* in which it came */
};

struct result {
	struct result_sample *samples; /* sorted by time */
	size_t count;
	uint64_t waits, late, replaced, untold;
};

static int compare(const void *a_, const void *b_)
{
	uint64_t a_ns = ((const struct result_sample *)a_)->sample->h.time_ns;
	uint64_t b_ns = ((const struct result_sample *)b_)->sample->h.time_ns;

	return a_ns < b_ns ? -1 : a_ns > b_ns;
}

static void take_results(struct result *ret)
{
	const struct waiting_samples *waiting = &world.run.pipeline->intake->waiting;

	ret->samples = calloc(world.records.size + 1, sizeof(*ret->samples));
	made_require(ret->samples);
	for (size_t i = 0; i < world.records.size; i++) {
		const struct jitbpf_record *record = world_record(i);
		struct result_sample *one = &ret->samples[ret->count];

		if (record->type != JITBPF_SAMPLE)
			continue;
		one->round = world.records.data[i].round;
		one->sample = malloc(record->size_bytes);
		made_require(one->sample);
		memcpy(one->sample, record, record->size_bytes);
		ret->count++;
		ret->replaced += !!(record->flags & JITBPF_SAMPLE_CODE_REPLACED);
		ret->untold += !!(record->flags & JITBPF_SAMPLE_CODE_UNTOLD);
	}
	qsort(ret->samples, ret->count, sizeof(*ret->samples), compare);
	for (int stage = 0; stage < WAIT_STAGES; stage++) {
		for (int end = 0; end < WAIT_ENDS; end++)
			ret->waits += waiting->counts[stage].ends[end];
		ret->late += waiting->counts[stage].ends[WAIT_LATE];
	}
}

static struct result run(uint64_t seed, bool polls)
{
	struct result result = {0};
	const struct ledger *ledger;

	world_begin(seed, polls);
	for (uint32_t i = 0; i < ROUNDS; i++)
		world_round(world_below(RECORDS));
	ledger = world_finish();
	made_require(!ledger->malformed_records);
	made_require(!world.run.pipeline->intake->waiting.budget.used);
	take_results(&result);
	world_end();
	return result;
}

static void end(struct result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->samples[i].sample);
	free(result->samples);
}

static bool is_same(const struct result_sample *a, const struct result_sample *b)
{
	return a->round == b->round && a->sample->h.size_bytes == b->sample->h.size_bytes &&
	       !memcmp(a->sample, b->sample, a->sample->h.size_bytes);
}

/* Both have the same leaf. */
static bool is_related(const struct jitbpf_sample *a, const struct jitbpf_sample *b)
{
	const struct frame_words of_a = sample_user_frames(a), of_b = sample_user_frames(b);

	return a->h.time_ns == b->h.time_ns && a->pid == b->pid && of_a.words[0] == of_b.words[0];
}

CASE(test_same_as_polling)
{
	uint64_t samples = 0, different = 0, waits = 0, late = 0, replaced = 0, untold = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct result keyed = run(seed, false), polled = run(seed, true);

		assert_int_equal(keyed.count, polled.count);
		for (size_t i = 0; i < keyed.count; i++) {
			assert_true(is_related(keyed.samples[i].sample, polled.samples[i].sample));
			different += !is_same(&keyed.samples[i], &polled.samples[i]);
		}
		samples += keyed.count;
		waits += keyed.waits;
		late += keyed.late;
		replaced += keyed.replaced;
		untold += keyed.untold;
		end(&keyed);
		end(&polled);
	}
	assert_true(different * 1000 <= samples * DIFFERENT_MAX);
	/* The runs have all kinds of waits, and of their ends. */
	assert_in_range(waits, samples / 4, 4 * samples);
	assert_in_range(late, samples / 100, samples / 2);
	assert_in_range(replaced, SEEDS, samples / 10);
	assert_in_range(untold, SEEDS, samples / 10);
}

/* Samples that are released in a round come after all other records, in order of arrival. */
CASE(test_order)
{
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		size_t begun = 0;

		world_begin(seed, false);
		for (uint32_t i = 0; i < ROUNDS; i++) {
			uint64_t last_ns = 0, before_ns = world.time_ns;
			bool released = false;

			world_round(world_below(RECORDS));
			for (; begun < world.records.size; begun++) {
				const struct jitbpf_record *record = world_record(begun);
				bool is_old = record->type == JITBPF_SAMPLE &&
					      record->time_ns <= before_ns;

				assert_false(released && record->type != JITBPF_SAMPLE);
				assert_false(released && record->time_ns < last_ns);
				released |= is_old;
				last_ns = record->time_ns;
			}
		}
		world_finish();
		world_end();
	}
}

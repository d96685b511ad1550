/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rounds over rings in memory, with a publisher that notes its calls. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/live/live_round.h"
#include "base/scope.h"
#include "tests/unit/agent/kernel/bpf/made_ring.h"
#include "tests/unit/agent/kernel/events/made_sideband.h"
#include "tests/unit/cases.h"

#define CPUS	 2
#define NOTES	 400
#define SLOT_MAX 512

struct fixture {
	struct made_ring samples[CPUS], code;
	struct perf_event_mmap_page *sideband;
	struct live_round round;
	/*
	 * What happened, in order: "s" a sample was emitted, "c" a JIT record, "x" an exit, "n" a
	 * name, "S" and "R" calls of the publisher's sampled() and round().
	 */
	char notes[NOTES + 1];
	uint32_t count;
	uint32_t pids[NOTES]; /* of the same */
	uint32_t drop_pid;    /* the publisher drops its records */
	uint64_t ended_ns;    /* argument of the last round() */
	int see_error, round_error, take_error;
	size_t large_bytes; /* of a record that round() emits, if it is not 0 */
};

static void note(struct fixture *f, char what, uint32_t pid)
{
	assert_true(f->count < NOTES);
	f->notes[f->count] = what;
	f->pids[f->count++] = pid;
}

static uint32_t pid_of(const struct jitbpf_record *record)
{
	return ((const uint32_t *)(record + 1))[0];
}

static int see(void *self, const struct jitbpf_record *record)
{
	struct fixture *f = self;

	if (f->see_error)
		return f->see_error;
	return pid_of(record) == f->drop_pid ? PUBLISHER_DROP : PUBLISHER_KEEP;
}

static int sampled(void *self, uint32_t pid)
{
	note(self, 'S', pid);
	return 0;
}

static int end_round(void *self, uint64_t round_ns, bool full, record_taker_fn take,
		     void *take_context)
{
	struct fixture *f = self;

	note(f, 'R', 0);
	f->ended_ns = round_ns;
	if (f->large_bytes && !full) {
		AUTO_FREE struct jitbpf_record *large = calloc(1, f->large_bytes);

		assert_non_null(large);
		*large = (struct jitbpf_record){(uint32_t)f->large_bytes, JITBPF_JIT, 0, 0};
		assert_int_equal(take(take_context, large), 0);
		return 1;
	}
	return f->round_error;
}

static const struct publisher_ops ops = {.see = see, .sampled = sampled, .round = end_round};

static int take(void *context, const struct jitbpf_record *record)
{
	struct fixture *f = context;
	char what = record->type == JITBPF_SAMPLE ? 's'
		    : record->type == JITBPF_JIT  ? 'c'
		    : record->type == JITBPF_EXIT ? 'x'
		    : record->type == JITBPF_COMM ? 'n'
						  : '?';

	note(f, what, pid_of(record));
	return f->take_error;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct cpu_event event = {0};

	*state = f;
	for (int i = 0; i < CPUS; i++) {
		struct ring ring;

		if (made_ring_init(&f->samples[i]) ||
		    ring_init(&ring, f->samples[i].fd, MADE_RING_BYTES) ||
		    vec_push(&f->round.sample_rings, ring))
			return -1;
	}
	if (made_ring_init(&f->code) || ring_init(&f->round.code_ring, f->code.fd, MADE_RING_BYTES))
		return -1;
	f->sideband = made_sideband();
	event.sideband = f->sideband;
	f->round.events.sideband_bytes = MADE_SIDEBAND_BYTES;
	f->round.publishers[0] = (struct publisher){&ops, f};
	f->round.publisher_count = 1;
	f->drop_pid = UINT32_MAX;
	return vec_push(&f->round.events.cpus, event);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	live_round_deinit(&f->round);
	for (int i = 0; i < CPUS; i++) {
		ring_deinit(&f->round.sample_rings.data[i]);
		made_ring_deinit(&f->samples[i]);
	}
	vec_deinit(&f->round.sample_rings);
	ring_deinit(&f->round.code_ring);
	made_ring_deinit(&f->code);
	vec_deinit(&f->round.events.cpus);
	free(f->sideband);
	free(f);
	return 0;
}

/* Put a record of a type about pid into a ring, in a slot of slot_bytes. Returns its position. */
static uint64_t put(struct made_ring *ring, uint32_t type, uint32_t pid, uint32_t slot_bytes,
		    uint32_t bits)
{
	union {
		struct jitbpf_record h;
		uint32_t words[SLOT_MAX / sizeof(uint32_t)];
	} record = {0};

	record.h.type = (uint16_t)type;
	record.h.size_bytes = sizeof(struct jitbpf_sample);
	record.words[sizeof(record.h) / sizeof(uint32_t)] = pid;
	return made_ring_reserve(ring, &record, slot_bytes, bits);
}

static void put_sample(struct fixture *f, int cpu, uint32_t pid)
{
	put(&f->samples[cpu], JITBPF_SAMPLE, pid, 128, 0);
}

static void put_jit(struct fixture *f, uint32_t pid)
{
	put(&f->code, JITBPF_JIT, pid, 256, 0);
}

static void put_name(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	const struct {
		uint32_t pid, tid;
		char comm[16];
	} body = {.pid = pid, .tid = pid, .comm = "name"};

	made_sideband_put(f->sideband, PERF_RECORD_COMM, 0, &body, sizeof(body),
			  &(struct made_sideband_id){pid, pid, time_ns, 0, 0});
}

static void put_fork(struct fixture *f, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	const struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
	} body = {pid, parent, pid, parent, time_ns};

	made_sideband_put(f->sideband, PERF_RECORD_FORK, 0, &body, sizeof(body),
			  &(struct made_sideband_id){parent, parent, time_ns, 0, 0});
}

static int drain(struct fixture *f, bool last)
{
	memset(f->notes, 0, sizeof(f->notes));
	f->count = 0;
	return live_round_drain(&f->round, last, take, f);
}

/* A publisher that always has more must end when the round holds too much; the next one may wait.
 */
CASE_WITH(test_full_round, setup, teardown)
{
	struct fixture *f = *state;
	unsigned turns[2] = {0};

	f->large_bytes = 4u << 20;
	for (int i = 0; i < 2; i++) {
		do {
			turns[i]++;
		} while (drain(f, false) == SOURCE_OPEN);
		assert_string_equal(f->notes, "R");
	}
	assert_int_equal(turns[0], LIVE_ROUND_BYTES / f->large_bytes + 2);
	assert_int_equal(turns[1], turns[0]);
}

/* Whatever came first: samples of all CPUs, then code, then the side-band, then the publishers. */
CASE_WITH(test_order, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t before_ns = clock_now_ns();

	put_name(f, 7, before_ns);
	put_jit(f, 7);
	put_sample(f, 1, 8);
	put_sample(f, 0, 7);
	put_jit(f, 8);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "SsSsccnR");
	assert_int_equal(f->pids[1], 7);
	assert_int_equal(f->pids[3], 8);
	assert_true(f->round.begin_ns >= before_ns && f->round.begin_ns <= clock_now_ns());
	assert_int_equal(f->ended_ns, f->round.begin_ns);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "R");
}

/*
 * A code record that is not committed holds the round open: the records behind it may be loads of
 * code that the samples ran. The round keeps the time of its first drain.
 */
CASE_WITH(test_open_round, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t busy, begin_ns;

	put_sample(f, 0, 7);
	put_jit(f, 1);
	busy = put(&f->code, JITBPF_JIT, 2, 256, BPF_RINGBUF_BUSY_BIT);
	put_jit(f, 3);
	assert_int_equal(drain(f, false), SOURCE_OPEN);
	assert_string_equal(f->notes, "Ssc");
	begin_ns = f->round.begin_ns;
	put_sample(f, 1, 9);
	assert_int_equal(drain(f, false), SOURCE_OPEN);
	assert_string_equal(f->notes, "Ss");
	made_ring_set_length(&f->code, busy, 256);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "ccR");
	assert_int_equal(f->pids[0], 2);
	assert_int_equal(f->ended_ns, begin_ns);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_true(f->ended_ns > begin_ns);
}

/* A publisher that has not read all holds the round open, and is called again; the other is not. */
CASE_WITH(test_publisher_that_waits, setup, teardown)
{
	struct fixture *f = *state;
	struct fixture other = {0};
	uint64_t begin_ns;

	f->round.publishers[1] = (struct publisher){&ops, &other};
	f->round.publisher_count = 2;
	f->round_error = 1;
	put_sample(f, 0, 7);
	assert_int_equal(drain(f, false), SOURCE_OPEN);
	assert_string_equal(f->notes, "SsR");
	assert_string_equal(other.notes, "SR");
	begin_ns = f->round.begin_ns;
	put_sample(f, 0, 8);
	assert_int_equal(drain(f, false), SOURCE_OPEN);
	assert_string_equal(f->notes, "SsR");
	f->round_error = 0;
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "R");
	assert_string_equal(other.notes, "SRS");
	assert_int_equal(f->ended_ns, begin_ns);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(other.notes, "SRSR");
	assert_true(f->ended_ns > begin_ns);
}

/* Many rounds: records come to lie at both ends of each ring. */
CASE_WITH(test_rings_wrap, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 1; i < 100; i++) {
		put_sample(f, 0, i);
		put(&f->code, JITBPF_JIT, i, 64 + i * 4, 0);
		put_name(f, i, clock_now_ns());
		assert_int_equal(drain(f, false), SOURCE_ROUND);
		assert_string_equal(f->notes, "SscnR");
		for (int at = 0; at < 4; at++)
			assert_int_equal(f->pids[at], i);
	}
	assert_true(*made_ring_position(&f->samples[0]) > 3 * MADE_RING_BYTES);
	assert_true(*made_ring_position(&f->code) > 6 * MADE_RING_BYTES);
}

CASE_WITH(test_publisher_drops, setup, teardown)
{
	struct fixture *f = *state;

	f->drop_pid = 7;
	put_jit(f, 7);
	put_jit(f, 8);
	put_name(f, 7, clock_now_ns());
	put_sample(f, 0, 7); /* samples are not shown to see() */
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "SscR");
	assert_int_equal(f->pids[2], 8);
}

CASE_WITH(test_lost_sideband, setup, teardown)
{
	const uint64_t body[2] = {1, 41};
	struct fixture *f = *state;

	made_sideband_put(f->sideband, PERF_RECORD_LOST, 0, body, sizeof(body),
			  &(struct made_sideband_id){0});
	put_name(f, 7, clock_now_ns());
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "nR");
	assert_int_equal(f->round.sideband_lost, 41);
}

/* Records of the side-band are sorted by time, and filtered by the forks among them. */
CASE_WITH(test_only_tracked, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t now_ns = clock_now_ns();

	f->round.only_tracked = true;
	assert_int_equal(process_filter_add(&f->round.tracked, 7, now_ns), 0);
	put_name(f, 8, now_ns + 2); /* a child, known by the fork below */
	put_fork(f, 8, 7, now_ns + 1);
	put_name(f, 9, now_ns + 1);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "?nR");
	assert_int_equal(f->pids[0], 8);
	assert_int_equal(f->pids[1], 8);
	/* An exit by the code ring is noted, so that the process is untracked later. */
	put(&f->code, JITBPF_EXIT, 8, 128, 0);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "xR");
	assert_int_equal(f->round.exited.size, 1);
	assert_int_equal(f->round.exited.data[0].pid, 8);
}

/* A record from after the start of the drain waits, until the last drain. */
CASE_WITH(test_late_sideband_waits, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t later_ns = clock_now_ns() + 3600000000000ull;

	f->round.only_tracked = true;
	assert_int_equal(process_filter_add(&f->round.tracked, 7, 0), 0);
	put_name(f, 7, later_ns);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "R");
	assert_int_equal(drain(f, true), SOURCE_ROUND);
	assert_string_equal(f->notes, "nR");
}

CASE_WITH(test_impossible_sizes, setup, teardown)
{
	struct fixture *f = *state;

	put(&f->samples[0], JITBPF_SAMPLE, 7, sizeof(struct jitbpf_sample) - 8, 0);
	assert_int_equal(drain(f, false), -EIO);
	put(&f->code, JITBPF_JIT, 7, sizeof(struct jitbpf_sample) - 8, 0);
	assert_int_equal(drain(f, false), -EIO);
	put(&f->code, JITBPF_JIT, 7, 8, 0);
	assert_int_equal(drain(f, false), -EIO);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
}

CASE_WITH(test_failures, setup, teardown)
{
	struct fixture *f = *state;

	f->see_error = -ENOMEM;
	put_jit(f, 7);
	assert_int_equal(drain(f, false), -ENOMEM);
	f->see_error = 0;
	f->take_error = -ENOSPC;
	put_sample(f, 0, 7);
	assert_int_equal(drain(f, false), -ENOSPC);
	f->take_error = 0;
	f->round_error = -EBADF;
	assert_int_equal(drain(f, false), -EBADF);
	f->round_error = 0;
	assert_int_equal(drain(f, false), SOURCE_ROUND);
}

/* Before the first round, the code ring is drained alone; the publishers see its records. */
CASE_WITH(test_code_alone, setup, teardown)
{
	struct fixture *f = *state;

	f->drop_pid = 7;
	put_jit(f, 7);
	put_jit(f, 8);
	put_sample(f, 0, 8);
	assert_int_equal(live_round_drain_code(&f->round, take, f), 0);
	assert_string_equal(f->notes, "c");
	assert_false(f->round.open);
	assert_int_equal(drain(f, false), SOURCE_ROUND);
	assert_string_equal(f->notes, "SsR");
}

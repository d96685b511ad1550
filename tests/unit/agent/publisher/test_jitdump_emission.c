/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/publisher/jitdump_emission.h"
#include "base/scope.h"
#include "decode/record/code_event.h"
#include "tests/unit/cases.h"

#define PID	  42
#define INNER_PID 7
#define SEC	  1000000000ull

struct emitted {
	struct jitdump_followed followed;
	struct jitdump_emission emission;
	byte_vec room;
	process_text text;
	uint64_t budget_bytes;
	struct code_event event; /* the last one; strings are not valid any more */
	struct jitbpf_code code;
	struct jitbpf_code_refused refused;
	size_t events, codes, refusals;
	int fail;
};

static int take(void *context, const struct jitbpf_record *record)
{
	struct emitted *emitted = context;

	if (emitted->fail)
		return emitted->fail;
	if (record->type == JITBPF_CODE_EVENT) {
		emitted->events++;
		assert_int_equal(code_event_decode((const void *)record, record->size_bytes,
						   &emitted->event),
				 0);
	} else if (record->type == JITBPF_CODE) {
		emitted->codes++;
		memcpy(&emitted->code, record, sizeof(emitted->code));
	} else {
		assert_int_equal(record->type, JITBPF_CODE_REFUSED);
		emitted->refusals++;
		memcpy(&emitted->refused, record, sizeof(emitted->refused));
	}
	return 0;
}

static int setup(void **state)
{
	struct emitted *emitted = calloc(1, sizeof(*emitted));
	uint64_t now_ns = clock_now_ns();

	assert_non_null(emitted);
	emitted->followed = (struct jitdump_followed){
		.file.events.header.pid = INNER_PID,
		.pid = PID,
		.number = 3,
		.mapped_ns = now_ns - SEC,
	};
	emitted->emission = (struct jitdump_emission){
		.followed = &emitted->followed,
		.came_ns = now_ns - 2 * SEC,
		.now_ns = now_ns,
		.code_bytes = CODE_ROUND_BYTES,
		.budget_bytes = &emitted->budget_bytes,
		.record = &emitted->room,
		.text = &emitted->text,
		.take = take,
		.take_context = emitted,
	};
	*state = emitted;
	return 0;
}

static int teardown(void **state)
{
	struct emitted *emitted = *state;

	vec_deinit(&emitted->room);
	vec_deinit(&emitted->followed.heirs);
	process_text_deinit(&emitted->text);
	free(emitted);
	return 0;
}

static int emit(struct emitted *emitted, uint32_t inner_pid, uint64_t time_ns, size_t code_bytes)
{
	AUTO_FREE uint8_t *code = calloc(1, code_bytes);
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_JITDUMP, .sequence = 9},
		.pid = inner_pid,
		.kind = JITBPF_CODE_LOAD,
		.time_ns = time_ns,
		.address = 0x1000,
		.size_bytes = code_bytes,
		.name = {"f", 1},
	};

	return jitdump_emit(&emitted->emission, &event, code);
}

CASE_WITH(test_load_and_its_code, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t time_ns = emitted->emission.now_ns - 1000;

	assert_int_equal(emit(emitted, INNER_PID, time_ns, 100), 0);
	assert_int_equal(emitted->events, 1);
	assert_int_equal(emitted->event.pid, PID);
	assert_int_equal(emitted->event.origin.engine, 3);
	assert_int_equal(emitted->event.time_ns, time_ns);
	assert_int_equal(emitted->event.flags, 0);
	assert_int_equal(emitted->codes, 1);
	assert_int_equal(emitted->code.sequence, 0);
	assert_int_equal(emitted->code.h.size_bytes, sizeof(emitted->code) + 100);
	assert_int_equal(emitted->emission.late_events, 0);
}

/* Times that cannot be are replaced, and the event says so. */
CASE_WITH(test_times, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t came_ns = emitted->emission.came_ns;

	assert_int_equal(emit(emitted, INNER_PID, clock_now_ns() + 100 * SEC, 4), 0);
	assert_int_equal(emitted->event.flags, JITBPF_EVENT_TIME_CORRECTED);
	assert_true(emitted->event.time_ns <= clock_now_ns());
	assert_int_equal(emitted->event.time_ns, emitted->event.reported_ns);

	assert_int_equal(emit(emitted, INNER_PID, came_ns - 1, 4), 0);
	assert_int_equal(emitted->event.flags, JITBPF_EVENT_TIME_CORRECTED);
	assert_int_equal(emitted->event.time_ns, emitted->followed.mapped_ns);
	assert_int_equal(emitted->codes, 2);

	emitted->followed.mapped_ns = came_ns; /* mapped before the run */
	assert_int_equal(emit(emitted, INNER_PID, 0, 4), 0);
	assert_int_equal(emitted->event.flags, JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN);
	assert_int_equal(emitted->event.time_ns, came_ns);
	assert_int_equal(emitted->codes, 2);
}

/* A record that was not there when samples of its time were taken in. */
CASE_WITH(test_late_events, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t now_ns = emitted->emission.now_ns;

	emitted->followed.settled_ns = now_ns - SEC / 2;
	assert_int_equal(emit(emitted, INNER_PID, now_ns - SEC / 2 - 1000, 4), 0);
	assert_int_equal(emitted->emission.late_events, 0); /* it may have taken so long to write */
	assert_int_equal(emit(emitted, INNER_PID, now_ns - SEC + SEC / 4, 4), 0);
	assert_int_equal(emitted->emission.late_events, 1);
}

CASE_WITH(test_budgets, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t time_ns = emitted->emission.now_ns;

	assert_int_equal(emit(emitted, INNER_PID, time_ns, JITBPF_CODE_COPY_MAX + 1), 0);
	assert_int_equal(emitted->code.h.size_bytes, sizeof(emitted->code) + JITBPF_CODE_COPY_MAX);
	assert_int_equal(emitted->code.size_bytes, JITBPF_CODE_COPY_MAX + 1);
	emitted->emission.code_bytes = 99;
	assert_int_equal(emit(emitted, INNER_PID, time_ns, 100), 0);
	assert_int_equal(emitted->events, 2);
	assert_int_equal(emitted->codes, 1);
}

CASE_WITH(test_writers, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t time_ns = emitted->emission.now_ns;

	assert_int_equal(jitdump_followed_add_heir(&emitted->followed, PID + 1), 0);
	emitted->followed.heirs.data[0].inner_pid = INNER_PID + 1;
	assert_int_equal(emit(emitted, INNER_PID + 1, time_ns, 4), 0);
	assert_int_equal(emitted->event.pid, PID + 1);
	assert_int_equal(emit(emitted, INNER_PID + 2, time_ns, 4), 0);
	assert_int_equal(emit(emitted, 0, time_ns, 4), 0);
	assert_int_equal(emitted->events, 1);
	assert_int_equal(jitdump_emit_counts(&emitted->emission), 0);
	assert_int_equal(emitted->refused.malformed, 2);
}

/* Of heirs with one inner pid, the newest counts. */
CASE_WITH(test_pid_used_again, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t time_ns = emitted->emission.now_ns;

	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(jitdump_followed_add_heir(&emitted->followed, PID + 1 + i), 0);
		emitted->followed.heirs.data[i].inner_pid = INNER_PID + 1;
		for (uint32_t records = 0; records < 2; records++) {
			assert_int_equal(emit(emitted, INNER_PID + 1, time_ns, 4), 0);
			assert_int_equal(emitted->event.pid, PID + 1 + i);
		}
	}
	emitted->followed.heirs.data[1].ended_ns = 1;
	emitted->followed.read_ns = 2;
	jitdump_followed_forget(&emitted->followed);
	assert_int_equal(emit(emitted, INNER_PID + 1, time_ns, 4), 0);
	assert_int_equal(emitted->event.pid, PID + 1);
}

/* Thousands of heirs that have ended: each is looked at once, and searches count. */
CASE_WITH(test_many_dead_heirs, setup, teardown)
{
	struct emitted *emitted = *state;
	uint64_t time_ns = emitted->emission.now_ns;

	emitted->budget_bytes = 10 * JITDUMP_HEIRS_MAX;
	for (uint32_t i = 0; i < JITDUMP_HEIRS_MAX; i++) /* beyond all pids */
		assert_int_equal(jitdump_followed_add_heir(&emitted->followed, (1u << 23) + i), 0);
	assert_int_equal(emit(emitted, INNER_PID + 1, time_ns, 4), 0);
	vec_for_each (heir, &emitted->followed.heirs)
		assert_true(heir->is_gone && !heir->inner_pid);
	assert_int_equal(emitted->budget_bytes, 9 * JITDUMP_HEIRS_MAX);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(emit(emitted, INNER_PID + 1, time_ns, 4), 0);
	assert_int_equal(emitted->budget_bytes, 0);
	assert_int_equal(emitted->followed.file.counts.foreign, 11);
}

/* Counts are emitted once. */
CASE_WITH(test_counts, setup, teardown)
{
	struct emitted *emitted = *state;
	struct jitdump_counts *counts = &emitted->followed.file.counts;

	assert_int_equal(jitdump_emit_counts(&emitted->emission), 0);
	assert_int_equal(emitted->refusals, 0);
	*counts = (struct jitdump_counts){1, 2, 3, 4, 5};
	assert_int_equal(jitdump_emit_counts(&emitted->emission), 0);
	assert_int_equal(emitted->refused.pid, PID);
	assert_int_equal(emitted->refused.malformed, 1 + 5);
	assert_int_equal(emitted->refused.incomplete, 2);
	assert_int_equal(emitted->refused.over_budget, 3);
	assert_int_equal(emitted->refused.unreadable, 4);
	counts->malformed++;
	assert_int_equal(jitdump_emit_counts(&emitted->emission), 0);
	assert_int_equal(emitted->refused.malformed, 1);
	assert_int_equal(emitted->refused.incomplete, 0);
	assert_int_equal(jitdump_emit_counts(&emitted->emission), 0);
	assert_int_equal(emitted->refusals, 2);
}

CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct emitted *emitted = *state;

	emitted->fail = -EIO;
	assert_int_equal(emit(emitted, INNER_PID, emitted->emission.now_ns, 4), -EIO);
	assert_int_equal(emitted->emission.err, -EIO);
}

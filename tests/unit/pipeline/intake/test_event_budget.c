/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one process may add to the recording, and what is recorded of the rest. */
#include <stdint.h>

#include <string.h>

#include "pipeline/intake/event_budget.h"
#include "tests/unit/cases.h"

#define EVENT_BYTES (1u << 20)
#define SECOND_NS   1000000000ull

static struct jitbpf_code_refused refused[8];
static struct jitbpf_journal gaps[8];
static unsigned refused_count, gap_count;

static int take(void *context, const struct jitbpf_record *record)
{
	if (record->type == JITBPF_CODE_REFUSED)
		memcpy(&refused[refused_count++], record, sizeof(refused[0]));
	else
		memcpy(&gaps[gap_count++], record, sizeof(gaps[0]));
	assert_true(refused_count < 8 && gap_count < 8);
	return 0;
}

static int take_none(void *context, const struct jitbpf_record *record)
{
	return 0;
}

static void end_round(struct event_budget *budget, uint64_t time_ns)
{
	refused_count = gap_count = 0;
	assert_int_equal(event_budget_end_round(budget, time_ns, false, take, NULL), 0);
}

static struct process_table processes; /* empty, but for the tests of owners */

static uint32_t event_bytes = EVENT_BYTES;

static unsigned send(struct event_budget *budget, uint32_t pid, unsigned count, uint64_t time_ns,
		     uint16_t flags)
{
	struct jitbpf_code_event event = {
		.h = {.size_bytes = event_bytes, .type = JITBPF_CODE_EVENT, .flags = flags},
		.pid = pid,
		.start_ns = 5,
	};
	unsigned admitted = 0;

	for (unsigned i = 0; i < count; i++) {
		event.h.time_ns = time_ns + i;
		admitted += event_budget_admits(budget, &processes, &event, false);
	}
	return admitted;
}

CASE(test_burst_and_rate)
{
	const unsigned burst = EVENT_BUDGET_BURST_BYTES / EVENT_BYTES;
	const unsigned rate = EVENT_BUDGET_BYTES_PER_S / EVENT_BYTES;
	struct event_budget budget = {0};

	end_round(&budget, 100 * SECOND_NS);
	assert_int_equal(send(&budget, 7, burst + 10, 1000, 0), burst);
	/* Others have budgets of their own, and events from before the run are free. */
	assert_int_equal(send(&budget, 8, burst, 1000, 0), burst);
	assert_int_equal(send(&budget, 9, 1, 1000, 0), 1);
	assert_int_equal(send(&budget, 7, 5, 1000, JITBPF_EVENT_BEFORE_RUN), 5);
	/* Stale names end at once, and refusals are counted at the end of the period. */
	end_round(&budget, 100 * SECOND_NS + 1);
	assert_int_equal(gap_count, 1);
	assert_int_equal(refused_count, 0);
	end_round(&budget, 100 * SECOND_NS + 2);
	assert_int_equal(gap_count, 0);
	end_round(&budget, 101 * SECOND_NS);
	assert_int_equal(gap_count, 1);
	assert_int_equal(refused_count, 1);
	assert_int_equal(refused[0].pid, 7);
	assert_int_equal(refused[0].start_ns, 5);
	assert_int_equal(refused[0].over_budget, 10);
	assert_int_equal(refused[0].h.flags, JITBPF_REFUSED_RATE);
	assert_int_equal(gaps[0].pid, 7);
	assert_int_equal(gaps[0].from_ns, 1000 + burst);
	assert_int_equal(gaps[0].to_ns, 1000 + burst + 9);
	assert_int_equal(send(&budget, 7, burst, 2000, 0), rate);
	/* Once refused, all is refused until the end of the period, so that the gap is one. */
	end_round(&budget, 102 * SECOND_NS);
	assert_int_equal(refused[0].over_budget, burst - rate);
	end_round(&budget, 103 * SECOND_NS);
	assert_int_equal(refused_count, 0);
	/* Those that used nothing for long are forgotten. */
	end_round(&budget, 203 * SECOND_NS);
	assert_int_equal(budget.uses.size, 0);
	assert_int_equal(send(&budget, 7, burst, 3000, 0), burst);
	event_budget_deinit(&budget);
}

/* At half of the burst, events are to lose what they can do without. */
CASE(test_tight)
{
	const unsigned half = EVENT_BUDGET_TIGHT_BYTES / EVENT_BYTES;
	struct jitbpf_code_event event = {
		.h = {.size_bytes = EVENT_BYTES, .type = JITBPF_CODE_EVENT},
		.pid = 7,
		.start_ns = 5,
	};
	struct event_budget budget = {0};

	assert_false(event_budget_is_tight(&budget, &event));
	assert_int_equal(send(&budget, 7, half - 1, 1000, 0), half - 1);
	assert_false(event_budget_is_tight(&budget, &event));
	assert_int_equal(send(&budget, 7, 1, 1000, 0), 1);
	assert_true(event_budget_is_tight(&budget, &event));
	event.h.flags = JITBPF_EVENT_BEFORE_RUN;
	assert_false(event_budget_is_tight(&budget, &event));
	event.h.flags = 0;
	event.pid = 8;
	assert_false(event_budget_is_tight(&budget, &event));
	event_budget_deinit(&budget);
}

CASE(test_many_processes)
{
	const uint64_t bytes = EVENT_BUDGET_BYTES_PER_S / 20; /* of a period */
	struct event_budget budget = {0};

	event_bytes = (uint32_t)bytes;
	for (uint32_t pid = 1; pid <= 100; pid++)
		assert_int_equal(send(&budget, pid, 1 + pid % 3, 1000, 0), 1 + pid % 3);
	end_round(&budget, 100 * SECOND_NS);
	end_round(&budget, 100 * SECOND_NS + SECOND_NS / 20);
	assert_int_equal(budget.uses.size, 67);
	vec_for_each (use, &budget.uses)
		assert_int_equal(use->bytes, use->pid % 3 * bytes);
	for (uint32_t pid = 1; pid <= 100; pid++)
		assert_int_equal(send(&budget, pid, 1, 2000, 0), 1);
	assert_int_equal(budget.uses.size, 100);
	event_bytes = EVENT_BYTES;
	event_budget_deinit(&budget);
}

static void own(uint32_t pid, uint32_t uid)
{
	const struct jitbpf_owner owner = {
		.h = {.size_bytes = sizeof(owner), .type = JITBPF_OWNER, .time_ns = 1},
		.pid = pid,
		.start_ns = 5,
		.charged_uid = uid,
		.cgroup = 1,
	};

	assert_int_equal(process_table_owner(&processes, &owner), 0);
}

/* A user with many processes adds no more than one owner may, and another user has room. */
CASE(test_owners)
{
	const unsigned all = EVENT_BUDGET_ALL_BYTES / EVENT_BYTES;
	const unsigned rate = EVENT_BUDGET_OWNER_BYTES_PER_S / EVENT_BYTES;
	const struct code_budget code = code_budget_default;
	struct event_budget budget = {0};
	struct module_table modules = {0};
	struct string_pool *strings;
	unsigned admitted = 0;

	assert_int_equal(string_pool_create(&strings), 0);
	process_table_init(&processes, strings, &modules, &code, NULL);
	end_round(&budget, 100 * SECOND_NS);
	for (uint32_t pid = 1000; pid < 1100; pid++) {
		own(pid, 1);
		admitted += send(&budget, pid, 10, 1000, 0);
	}
	assert_in_range(admitted, all / 2, all * 3 / 4);
	own(7, 2);
	assert_int_equal(send(&budget, 7, 20, 1000, 0), 20);
	assert_int_equal(budget.charged.size, 2);
	/* In the long run, its processes add together what one owner may. */
	for (uint32_t second = 101; second < 131; second++) {
		assert_int_equal(
			event_budget_end_round(&budget, second * SECOND_NS, false, take_none, NULL),
			0);
		for (uint32_t pid = 1000; pid < 1100; pid++)
			admitted += send(&budget, pid, 1, second * SECOND_NS, 0);
		assert_true(admitted <= all * 3 / 4 + rate * (second - 100));
	}
	assert_true(admitted > 20 * rate);
	/* All is given back, and nothing is kept. */
	assert_int_equal(event_budget_end_round(&budget, 1000 * SECOND_NS, true, take_none, NULL),
			 0);
	assert_int_equal(event_budget_end_round(&budget, 1001 * SECOND_NS, true, take_none, NULL),
			 0);
	assert_int_equal(budget.uses.size, 0);
	assert_int_equal(budget.all.used, 0);
	assert_int_equal(budget.charged.size, 0);
	assert_int_equal(budget.all.owners.size, 0);
	event_budget_deinit(&budget);
	process_table_deinit(&processes);
	module_table_deinit(&modules);
	string_pool_destroy(strings);
	processes = (struct process_table){0};
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads whose scope tables exceed what their process may add at once keep their names. */
#include <stdint.h>

#include "decode/record/code_event.h"
#include "pipeline/intake/event_budget.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"
#include "uapi/scope_table.h"

enum { METHODS = 250000, LOADS = 24 };

#define TABLE_BYTES                                                                                \
	(sizeof(struct jitbpf_scope_table) + METHODS * sizeof(struct jitbpf_scope_method) + 1)

static void make_large_load(struct made_run *run, uint64_t time_ns, uint32_t number,
			    const void *scopes)
{
	char name[32];
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_JVMTI, .sequence = number},
		.pid = MADE_PID,
		.tid = MADE_PID,
		.start_ns = MADE_START,
		.time_ns = time_ns,
		.reported_ns = time_ns,
		.since_ns = time_ns,
		.kind = JITBPF_CODE_LOAD,
		.method_id = number + 1,
		.address = MADE_CODE + number * 0x100,
		.size_bytes = 0x100,
		.scopes = scopes,
		.scope_bytes = TABLE_BYTES,
	};

	snprintf(name, sizeof(name), "method %u", number);
	event.name = (struct code_string){.bytes = name, .size_bytes = strlen(name)};
	code_event_encode(&event, make_record(run, JITBPF_CODE_EVENT,
					      code_event_record_bytes(&event), time_ns));
}

CASE(test_names_stay)
{
	const struct jitbpf_scope_table counts = {.method_count = METHODS, .string_bytes = 1};
	AUTO_FREE void *scopes = calloc(1, TABLE_BYTES);
	struct made_run run;
	const struct ledger *ledger;
	char name[32];

	assert_true(LOADS * TABLE_BYTES > EVENT_BUDGET_BURST_BYTES);
	memcpy(scopes, &counts, sizeof(counts));
	made_run_begin(&run, &(struct pipeline_options){0});
	for (uint32_t i = 0; i < LOADS; i++)
		make_large_load(&run, 10 + i, i, scopes);
	for (uint32_t i = 0; i < LOADS; i++)
		make_sample(&run, 100 + i, MADE_CODE + i * 0x100);
	made_round(&run, 200);
	ledger = made_finish(&run, 300);
	/* Beyond half of the burst, tables are refused. */
	assert_int_equal(ledger->jit.over_rate, LOADS - EVENT_BUDGET_TIGHT_BYTES / TABLE_BYTES);
	assert_int_equal(ledger->jit.methods, LOADS);
	for (uint32_t i = 0; i < LOADS; i++) {
		snprintf(name, sizeof(name), "method %u", i);
		assert_string_equal(run.seen[i].name, name);
	}
	made_run_end(&run);
}

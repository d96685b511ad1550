/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A ledger with every kind of row, for tests of summaries. */
#ifndef TESTS_MADE_LEDGER_H
#define TESTS_MADE_LEDGER_H

#include "engines/engines.h"
#include "tests/unit/sink/made_view.h"

MADE void made_process(struct made_view *m, uint32_t pid, const char *comm, uint64_t resolved,
		       uint64_t unknown, uint64_t cut, uint64_t lost)
{
	struct ledger_process process = {
		.pid = pid,
		.comm = made_string(m, comm),
		.samples.fate = {resolved, unknown, cut, lost},
		.samples.cut = {[JITBPF_END_BAD_FRAME] = cut},
	};
	struct ledger *ledger = &m->ledger;

	for (int i = 0; i < FATE_COUNT; i++)
		ledger->samples.fate[i] += process.samples.fate[i];
	ledger->samples.cut[JITBPF_END_BAD_FRAME] += cut;
	assert_int_equal(ledger_add(ledger, &process, m->view.round), 0);
}

/* The latest process runs the runtime of a file, as that of a number from 0 on. */
MADE void made_runs(struct made_view *m, const char *path, uint32_t number)
{
	struct engine_file file = engine_file_of(path);

	m->ledger.processes.data[m->ledger.processes.size - 1].runtimes[number] =
		engine_runtime_number(&file);
}

MADE void made_full_ledger(struct made_view *m)
{
	struct ledger *ledger = &m->ledger;

	made_process(m, 1, "idle", 0, 0, 0, 0); /* no counts: shown nowhere */
	made_process(m, 30, "small", 1, 0, 1, 0);
	made_process(m, 20, "engine", 1200, 3, 30, 1);
	made_process(m, 10, "tiny", 2, 0, 0, 0);
	ledger->processes.data[2].jit =
		(struct jit_counts){.methods = 9000, .code_bytes = 1234567, .unloads = 1};
	ledger->jit = ledger->processes.data[2].jit;
	ledger->jit.sequence_gaps = 7;
	ledger->samples.cut[JITBPF_END_BAD_FRAME] = 21;
	ledger->samples.cut[JITBPF_END_DEPTH] = 10;
	ledger->malformed_records = 2;
	ledger->throttles = 3;
	ledger->throttled_ns = 500000000;
	ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN] = 1240;
	ledger->counters[JITBPF_COUNT_SAMPLES_RING_FULL] = 1;
	ledger->counters[JITBPF_COUNT_JIT_HITS] = 9001;
	ledger->counters[JITBPF_COUNT_STACKS_FINISHED] = 100;
	ledger->samples.frame_pointers = 124;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/ledger_rows.h"

#include <string.h>

const struct ledger_word ledger_fates[FATE_COUNT] = {
	[FATE_RESOLVED] = {"resolved", "resolved"},
	[FATE_CODE_UNKNOWN] = {"code_unknown", "[unknown] code"},
	[FATE_STACK_CUT] = {"stack_cut", "stack cut"},
	[FATE_LOST] = {"lost", "lost"},
};

const struct ledger_word ledger_cuts[LEDGER_CUT_COUNT] = {
	[JITBPF_END_NONE] = {"none", "no user stack"},
	[JITBPF_END_ROOT] = {"root", "at the root"},
	[JITBPF_END_BAD_FRAME] = {"bad_frame", "bad frame pointer"},
	[JITBPF_END_UNREADABLE] = {"unreadable", "stack not readable"},
	[JITBPF_END_DEPTH] = {"depth", "deeper than 1,024 frames"},
	[JITBPF_END_COMPAT] = {"compat", "32-bit code"},
	[JITBPF_END_NO_RULE] = {"no_rule", "no unwind rule"},
	[JITBPF_END_COPY] = {"copy", "deeper than the part that is copied"},
	[JITBPF_END_NO_ROOM] = {"no_room", "no room for a copy of the stack"},
	[LEDGER_CUT_LEFT_OUT] = {"left_out", "too many call paths (--max-memory)"},
};

const struct ledger_word ledger_memories[LEDGER_MEMORY_COUNT] = {
	[LEDGER_MEMORY_CODE] = {"code", "JIT methods and mappings"},
	[LEDGER_MEMORY_PROFILE] = {"profile", "call paths, names, threads and processes"},
	[LEDGER_MEMORY_FILES] = {"files", "files"},
};

const struct ledger_word ledger_counters[JITBPF_COUNTER_MAX] = {
#define X(symbol, key, words) [JITBPF_COUNT_##symbol] = {key, words},
	JITBPF_COUNTERS_LIST(X)
#undef X
};

#define JIT_ROW(member, words)                                                                     \
	{                                                                                          \
		{#member, words}, offsetof(struct jit_counts, member)                              \
	}

#define PUBLISHER_ROW(publisher, key, words)                                                       \
	{                                                                                          \
		{"published_" key, words},                                                         \
			offsetof(struct jit_counts, published[JITBPF_PUBLISHER_##publisher])       \
	}

const struct ledger_jit_word ledger_jit[LEDGER_JIT_COUNT] = {
	JIT_ROW(methods, "methods"),
	JIT_ROW(code_bytes, "bytes of code"),
	JIT_ROW(unloads, "unloads"),
	JIT_ROW(inlines, "inlined ranges"),
	JIT_ROW(updates, "updates of parts of methods"),
	JIT_ROW(moves, "moves of methods"),
	JIT_ROW(other_events, "events that are not about code"),
	JIT_ROW(late, "methods loaded before the recording began"),
	JIT_ROW(recovered, "events recovered from journals"),
	PUBLISHER_ROW(SHIM, "shim", "loads published through the shim"),
	PUBLISHER_ROW(JITDUMP, "jitdump", "loads published by jitdump"),
	PUBLISHER_ROW(PERF_MAP, "perf_map", "loads published by perf map"),
	PUBLISHER_ROW(JVMTI, "jvmti", "loads published by a Java virtual machine's agent"),
	JIT_ROW(merged, "loads that repeat those of another publisher"),
	JIT_ROW(inline_no_parent, "inlined ranges without a parent at that address"),
	JIT_ROW(inline_outside, "inlined ranges that exceed their parent"),
	JIT_ROW(inline_overlap, "inlined ranges that overlap others"),
	JIT_ROW(update_refused, "updates of unknown code, or across segments"),
	JIT_ROW(in_gap, "loads refused: their end may be among lost events"),
	JIT_ROW(truncated, "events without some names, lines or inlined methods: too large"),
	JIT_ROW(incomplete, "incomplete records: a part is missing"),
	JIT_ROW(malformed, "malformed records"),
	JIT_ROW(invalid, "invalid records: empty or wrapping range"),
	JIT_ROW(over_budget, "events refused: over the budget of the process"),
	JIT_ROW(not_understood, "events and fields of unknown kinds"),
	JIT_ROW(sequence_gaps, "events missing: gaps in the sequence numbers"),
	JIT_ROW(left_out, "events dropped: journals were full"),
	JIT_ROW(unreadable, "journals that could not be read"),
	JIT_ROW(other_version,
		"events and journals of another version of jitbpf: start the process anew"),
	JIT_ROW(replaced, "methods that other code replaced without a report"),
	JIT_ROW(unchecked, "methods that other code may have replaced: not checked in time"),
	JIT_ROW(replaced_samples, "samples in such methods before they were found out"),
	JIT_ROW(time_corrected, "impossible load times, corrected"),
};

_Static_assert(sizeof(struct jit_counts) == LEDGER_JIT_COUNT * sizeof(uint64_t),
	       "every count of jit_counts has its row");

uint64_t ledger_process_taken(const struct ledger_process *process)
{
	uint64_t taken = 0;

	for (int i = 0; i < FATE_COUNT; i++)
		taken += process->fate[i];
	return taken;
}

static int compare(const void *a_, const void *b_)
{
	const struct ledger_process *a = *(const struct ledger_process *const *)a_;
	const struct ledger_process *b = *(const struct ledger_process *const *)b_;
	uint64_t taken_a = ledger_process_taken(a), taken_b = ledger_process_taken(b);

	if (taken_a != taken_b)
		return taken_a < taken_b ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool ledger_process_counts(const struct ledger_process *process)
{
	static const struct jit_counts none;

	return ledger_process_taken(process) || memcmp(&process->jit, &none, sizeof(none)) != 0;
}

int ledger_rank(const struct ledger *ledger, struct ledger_ranking *ranking)
{
	for (size_t i = 0; i < ledger->processes.size; i++) {
		const struct ledger_process *process = &ledger->processes.data[i];

		if (ledger_process_counts(process) && vec_push(&ranking->processes, process))
			return -ENOMEM;
	}
	if (ranking->processes.size)
		qsort(ranking->processes.data, ranking->processes.size,
		      sizeof(*ranking->processes.data), compare);
	return 0;
}

void ledger_ranking_deinit(struct ledger_ranking *ranking)
{
	vec_deinit(&ranking->processes);
}

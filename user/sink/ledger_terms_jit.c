/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terms of JIT records and code. */
#include "sink/ledger_terms.h"

#define JIT_ROW(member, ...)                                                                       \
	{                                                                                          \
		{#member, __VA_ARGS__}, offsetof(struct jit_counts, member)                        \
	}

#define PUBLISHER_ROW(publisher, key, ...)                                                         \
	{                                                                                          \
		{"published_" key, __VA_ARGS__},                                                   \
			offsetof(struct jit_counts, published[JITBPF_PUBLISHER_##publisher])       \
	}

#define ENGINE_BUG "report it to the developers of the engine"

const struct ledger_jit_word ledger_jit[LEDGER_JIT_COUNT] = {
	JIT_ROW(methods, "methods",
		"Methods, traces and stubs of JIT code that engines published."),
	JIT_ROW(code_bytes, "bytes of code", "The size of all published JIT code."),
	JIT_ROW(unloads, "unloads", "Methods whose end their engine reported."),
	JIT_ROW(inlines, "inlined ranges",
		"Ranges of machine code that come from inlined methods."),
	JIT_ROW(updates, "updates of parts of methods", "Changes of parts of methods."),
	JIT_ROW(moves, "moves of methods", "Methods that got another address."),
	JIT_ROW(other_events, "events that are not about code",
		"Events of the JIT API that describe no code, such as the end of a process."),
	JIT_ROW(late, "methods loaded before the recording began",
		"Methods that were read from the journals of processes that ran already."),
	JIT_ROW(recovered, "events recovered from journals",
		"Events that were lost on their way, and read from the journal of the process."),
	PUBLISHER_ROW(SHIM, "shim", "loads published through the shim",
		      "Loads that came through libjitbpf.so, which engines of the JIT API load."),
	PUBLISHER_ROW(JITDUMP, "jitdump", "loads published by jitdump",
		      "Loads that came from jitdump files."),
	PUBLISHER_ROW(PERF_MAP, "perf_map", "loads published by perf map",
		      "Loads that came from perf maps."),
	PUBLISHER_ROW(JVMTI, "jvmti", "loads published by a Java virtual machine's agent",
		      "Loads that came from libjitbpf-jvmti.so, the agent for Java."),
	PUBLISHER_ROW(FOUND, "memory", "methods found in the memory of virtual machines",
		      "Code that nobody published, found by the structures of its virtual machine "
		      "when it was sampled."),
	JIT_ROW(merged, "loads that repeat those of another publisher",
		"Loads of code that another publisher had reported; each is one method."),
	JIT_ROW(inline_no_parent, "inlined ranges without a parent at that address",
		"Inlined ranges that were refused: their method is not known there.",
		"The engine reports them in another order, or the method's load was lost."),
	JIT_ROW(inline_outside, "inlined ranges that exceed their parent",
		"Inlined ranges that were refused: they are not inside of their method.",
		"The engine reports wrong ranges.", ENGINE_BUG),
	JIT_ROW(inline_overlap, "inlined ranges that overlap others",
		"Inlined ranges that were refused: they neither contain nor follow each other.",
		"The engine reports wrong ranges.", ENGINE_BUG),
	JIT_ROW(update_refused, "updates of unknown code, or across segments",
		"Updates that were refused.",
		"The method's load was lost, or the engine reports wrong ranges."),
	JIT_ROW(in_gap, "loads refused: their end may be among lost events",
		"Methods that are not shown, since other code may have replaced them.",
		"Events were lost, and the journal of the process does not have them.",
		"use a larger --code-ring"),
	JIT_ROW(truncated, "events without some names, lines or inlined methods: too large",
		"Events that were shortened: their strings or tables did not fit a record, or its "
		"place in a journal.",
		"Very long names, very many inlined methods, or a journal that is full (left_out)."),
	JIT_ROW(incomplete, "incomplete records: a part is missing",
		"Records that came in parts, of which one was lost.",
		"The ring of JIT records was full.", "use a larger --code-ring"),
	JIT_ROW(malformed, "malformed records",
		"Records with impossible lengths, which were skipped.",
		"The program writes records of its own, or is damaged."),
	JIT_ROW(invalid, "invalid records: empty or wrapping range",
		"Loads that were refused: their range is no code.",
		"The engine reports code of size 0, or its process is not known.", ENGINE_BUG),
	JIT_ROW(over_budget, "events refused: over the budget of the process",
		"Code that is not shown: its process has used its share of the memory.",
		"A process publishes very much code.", "use a larger --max-memory"),
	JIT_ROW(evicted, "methods that gave way to code of other users or cgroups",
		"Methods without samples that were forgotten: they are [unknown] from then on.",
		"The memory is full, and others need it. Who has most gives way first.",
		"use a larger --max-memory"),
	JIT_ROW(over_rate, "events refused or shortened: published too fast for long",
		"Events that were left out or lost their inlined methods, so that a recording stays "
		"small. Code that they may have ended is shown as [unknown].",
		"A process publishes 64 MB of events at once, or more than 4 MB/s for long; all of a "
		"user's processes, 8 MB/s.",
		"start the recording when most code was published: journals are read without this limit"),
	JIT_ROW(not_understood, "events and fields of unknown kinds",
		"Events that this version does not know.", "The shim or the engine is newer.",
		"use a newer jitbpf"),
	JIT_ROW(sequence_gaps, "events missing: gaps in the sequence numbers",
		"Events that were sent and did not arrive, and could not be recovered. Code that "
		"they may have ended is shown as [unknown].",
		"The ring of JIT records was full, and the process has no journal, or has ended.",
		"use a larger --code-ring"),
	JIT_ROW(left_out, "events for which journals had no room",
		"Code that an attach to a running process does not see, or not by name. What the "
		"journal has is used.",
		"A process has more live code than its journal holds (JITBPF_JOURNAL_MB).",
		"start the process with a larger JITBPF_JOURNAL_MB, or record it from its start"),
	JIT_ROW(unreadable, "journals that could not be read",
		"Attempts to read the live code of a process, which failed. Its earlier code is "
		"shown as [unknown].",
		"The process ended meanwhile, did not let itself be read in time, or its journal is "
		"damaged.",
		"record from the start: 'jitbpf record -- COMMAND'"),
	JIT_ROW(other_version, "events and journals of another version of jitbpf",
		"Events and journals that were not read; the code of their processes is [unknown].",
		"jitbpf was upgraded while the process ran, or the process has another libjitbpf.so.",
		"start the process anew, with the libjitbpf.so of this version"),
	JIT_ROW(replaced, "methods that other code replaced without a report",
		"Methods that jitbpf ended, because other code was found at their addresses.",
		"The engine frees code without a report."),
	JIT_ROW(unchecked, "methods that other code may have replaced: not checked in time",
		"Methods that jitbpf ended, because their code could not be compared in time.",
		"The memory of the process could not be read, the engine reported new code there before "
		"the check, or very many methods were in doubt."),
	JIT_ROW(replaced_samples, "samples in code that may not be the reported code",
		"Samples of unknown code: the code at their addresses was not the reported code, or "
		"could not be compared in time.",
		"The engine frees code without a report, or a virtual machine reports it late."),
	JIT_ROW(time_corrected, "impossible load times, corrected",
		"Loads whose reported time is impossible; the time of their arrival is used.",
		"The engine uses another clock."),
};

_Static_assert(sizeof(struct jit_counts) == LEDGER_JIT_COUNT * sizeof(uint64_t),
	       "every count of jit_counts has its row");

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters of the BPF programs and the agent. The BPF counter map, the COUNTERS record and
 * the reports are generated from this list. Only append.
 * X(SYMBOL, "key in JSON", "text in reports")
 */
#ifndef JITBPF_UAPI_LOSS_H
#define JITBPF_UAPI_LOSS_H

#define JITBPF_COUNTERS_LIST(X)                                                                    \
	X(SAMPLES_TAKEN, "samples_taken", "samples taken")                                         \
	X(SAMPLES_RING_FULL, "samples_ring_full", "samples lost: sample ring full")                \
	X(SAMPLES_NO_SCRATCH, "samples_no_scratch", "samples lost: no scratch space")              \
	X(JIT_HITS, "jit_hits", "JIT records seen by the probe")                                   \
	X(JIT_RING_FULL, "jit_ring_full", "JIT records lost: code ring full")                      \
	X(JIT_UNREADABLE, "jit_unreadable", "JIT records lost: memory could not be read")          \
	X(JIT_BAD_SIZE, "jit_bad_size", "JIT records lost: impossible size")                       \
	X(SIDEBAND_LOST, "sideband_lost", "process events lost: no room")                          \
	X(AGENT_NO_MEMORY, "agent_no_memory", "records lost: out of memory")                       \
	X(FILES_UNANSWERED, "files_unanswered", "mapped files that timed out")                     \
	X(FILES_OVER_BUDGET, "files_over_budget", "mapped files skipped: over the budget")         \
	X(MAPPINGS_OVER_BUDGET, "mappings_over_budget", "file mappings skipped: over the budget")  \
	X(DEBUG_REFUSED, "debug_refused", "files with damaged or too much debug info")             \
	X(DEBUG_DROPPED, "debug_dropped", "debug info evicted from the cache")                     \
	X(SPLITS_MISSING, "debug_splits_missing", "debug info units not found (.dwo, .dwp)")       \
	X(NAMES_LEFT_OUT, "names_left_out", "recorded names skipped: over the budget")             \
	X(JIT_LOSS_UNNOTED, "jit_loss_unnoted",                                                    \
	  "JIT records lost, not recovered: too many processes")                                   \
	X(SHIM_COPIES, "shim_copies", "attached copies of the shim")                               \
	X(SHIMS_REFUSED, "shims_refused", "files named like the shim, but not the shim")           \
	X(SHIMS_OVER_BUDGET, "shims_over_budget", "mappings of shims skipped: over the budget")    \
	X(MAPS_CUT, "maps_cut", "processes with mappings not read at the start")                   \
	X(STACKS_FINISHED, "stacks_finished", "stacks completed in user space")                    \
	X(STACKS_LATE, "stacks_late", "stacks cut: unwind rules came too late")                    \
	X(UNWIND_CODE_UNREAD, "unwind_code_unread", "JIT regions whose code was not read in time") \
	X(UNWIND_EVICTED, "unwind_evicted", "pages of unwind rules evicted")                       \
	X(UNWIND_MAPPINGS_LEFT_OUT, "unwind_mappings_left_out",                                    \
	  "mappings not in the unwind tables")                                                     \
	X(COUNTERS_UNREAD, "counters_unread", "counters that could not be read, and are too low")  \
	X(JITDUMPS, "jitdumps", "jitdump files followed")                                          \
	X(JITDUMPS_REFUSED, "jitdumps_refused",                                                    \
	  "jitdump files refused: another user's, or unreadable")                                  \
	X(JITDUMPS_OVER_BUDGET, "jitdumps_over_budget", "jitdump files not read: over the budget") \
	X(JITDUMP_LATE, "jitdump_late", "jitdump records that came after samples of their time")   \
	X(JITDUMPS_CLOCK, "jitdumps_clock",                                                        \
	  "jitdump files refused: times of the TSC (unset JITDUMP_USE_ARCH_TIMESTAMP)")            \
	X(NAMES_LATE, "names_late", "places without a name: it came too late for the recording")   \
	X(LOOP_PAUSES, "loop_pauses", "pauses of the event loop over 100 ms")                      \
	X(LOOP_LONGEST_MS, "loop_longest_ms", "longest pause of the event loop, in ms")            \
	X(PROBES_DEFERRED, "probes_deferred",                                                      \
	  "probes that waited: a process held the lock of its memory map")                         \
	X(PROCESSES_UNANSWERED, "processes_unanswered",                                            \
	  "processes whose mappings were not read: no answer in time")                             \
	X(FILES_UNVERIFIED, "files_unverified",                                                    \
	  "mapped files not used: another file is at the path")                                    \
	X(READERS_FAILED, "readers_failed",                                                        \
	  "processes that parse files and failed: names are missing")                              \
	X(JIT_OVER_SHARE, "jit_over_share",                                                        \
	  "  of the JIT records lost, those over their owner's share of the code ring")            \
	X(CODE_NOT_COPIED, "code_not_copied",                                                      \
	  "loads whose machine code was not copied: code ring too full")                           \
	X(CODE_NOT_KEPT, "code_not_kept",                                                          \
	  "samples whose machine code was not kept: over the budget")

enum jitbpf_counter {
#define X(symbol, key, words) JITBPF_COUNT_##symbol,
	JITBPF_COUNTERS_LIST(X)
#undef X
		JITBPF_COUNTER_MAX
};

#endif

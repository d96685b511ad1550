/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is counted on the kernel's side and in the agent, one list: the BPF
 * counter map, the COUNTERS record and the reports are made from it.
 * Only append. X(SYMBOL, "json_key", "words for people").
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
	X(FILES_UNANSWERED, "files_unanswered", "mapped files that did not answer in time")        \
	X(FILES_OVER_BUDGET, "files_over_budget", "mapped files over the budget, not looked at")   \
	X(MAPPINGS_OVER_BUDGET, "mappings_over_budget", "mappings of files over the budget")       \
	X(DEBUG_REFUSED, "debug_refused", "files whose debug info is damaged or over the limits")  \
	X(DEBUG_DROPPED, "debug_dropped", "times debug info was dropped to make room")             \
	X(SPLITS_MISSING, "debug_splits_missing", "units of debug info not found (.dwo, .dwp)")    \
	X(NAMES_LEFT_OUT, "names_left_out", "recorded names left out: over the budget")            \
	X(JIT_LOSS_UNNOTED, "jit_loss_unnoted", "JIT records lost: of whom could not be noted")    \
	X(SHIM_COPIES, "shim_copies", "copies of the shim attached to")                            \
	X(SHIMS_REFUSED, "shims_refused", "files of the shim's name that are no copies of it")     \
	X(SHIMS_OVER_BUDGET, "shims_over_budget", "mappings of more such files, not looked at")    \
	X(MAPS_CUT, "maps_cut", "processes with more mappings than were read when we came")        \
	X(STACKS_FINISHED, "stacks_finished", "stacks finished outside the kernel")                \
	X(STACKS_LATE, "stacks_late", "stacks for which unwind rules came too late")               \
	X(UNWIND_CODE_UNREAD, "unwind_code_unread", "JIT regions whose code was not read in time") \
	X(UNWIND_EVICTED, "unwind_evicted", "pages of unwind rules that made room for others")     \
	X(UNWIND_MAPPINGS_LEFT_OUT, "unwind_mappings_left_out", "mappings too many to unwind by")  \
	X(COUNTERS_UNREAD, "counters_unread", "counters that could not be read: too low here")

enum jitbpf_counter {
#define X(symbol, key, words) JITBPF_COUNT_##symbol,
	JITBPF_COUNTERS_LIST(X)
#undef X
		JITBPF_COUNTER_MAX
};

#endif

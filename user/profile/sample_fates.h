/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What became of samples: of a process, or of all, and of one event. Each sample has one fate:
 *   taken = resolved + code unknown + stack cut + lost
 */
#ifndef JITBPF_PROFILE_SAMPLE_FATES_H
#define JITBPF_PROFILE_SAMPLE_FATES_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

enum sample_fate {
	FATE_RESOLVED,
	FATE_CODE_UNKNOWN, /* some frame is at an address without known code */
	FATE_STACK_CUT,	   /* all frames are known, but the stack walk did not reach the root */
	FATE_LOST,	   /* taken, but not delivered or not readable */
	FATE_COUNT
};

/*
 * Why a stack is cut: an enum jitbpf_stack_end, or LEDGER_CUT_LEFT_OUT, if the profile had no room
 * for the outer part of its call path (--max-memory).
 */
#define LEDGER_CUT_LEFT_OUT JITBPF_END_COUNT
#define LEDGER_CUT_COUNT    (JITBPF_END_COUNT + 1)

/* Only counts, all uint64_t: deltas have them as they are. */
struct sample_fates {
	uint64_t fate[FATE_COUNT];
	uint64_t cut[LEDGER_CUT_COUNT]; /* FATE_STACK_CUT by reason */
	/* Samples of any fate but lost in which a caller was found by frame pointer. */
	uint64_t frame_pointers;
	/*
	 * Of any fate but lost: samples with a known function of a runtime, those in which frames
	 * of one are missing (JITBPF_SAMPLE_RUNTIME_CUT), and those with a frame whose function is
	 * not known.
	 */
	uint64_t runtime_functions, runtime_cut, runtime_unknown;
	/*
	 * FATE_STACK_CUT with code that runtime frames stand for and that no engine has published:
	 * JIT code of the runtime.
	 */
	uint64_t cut_unpublished;
};

/* What became of one sample that was delivered. */
struct sample_outcome {
	enum sample_fate fate;
	uint32_t cut; /* the reason, with FATE_STACK_CUT */
	bool by_frame_pointer;
	bool has_runtime_function, runtime_cut, has_runtime_unknown;
	bool code_unpublished;
};

/* Count a sample. */
void sample_fates_count(struct sample_fates *fates, const struct sample_outcome *outcome);

/* Returns the number of samples taken, as the sum of all fates. */
uint64_t sample_fates_taken(const struct sample_fates *fates);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_fates.h"

void sample_fates_count(struct sample_fates *fates, const struct sample_outcome *outcome)
{
	fates->fate[outcome->fate]++;
	if (outcome->fate == FATE_STACK_CUT) {
		fates->cut[outcome->cut]++;
		fates->cut_unpublished += outcome->code_unpublished;
	}
	fates->frame_pointers += outcome->by_frame_pointer;
	fates->runtime_functions += outcome->has_runtime_function;
	fates->runtime_cut += outcome->runtime_cut;
	fates->runtime_unknown += outcome->has_runtime_unknown;
}

uint64_t sample_fates_taken(const struct sample_fates *fates)
{
	uint64_t taken = 0;

	for (int i = 0; i < FATE_COUNT; i++)
		taken += fates->fate[i];
	return taken;
}

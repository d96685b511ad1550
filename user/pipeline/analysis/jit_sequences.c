/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/jit_sequences.h"

void jit_sequences_begin(struct jit_sequences *sequences, uint64_t program_ns)
{
	uint64_t gaps;

	if (sequences->program_ns == program_ns)
		return;
	gaps = jit_sequences_gaps(sequences);
	jit_sequences_deinit(sequences);
	*sequences = (struct jit_sequences){.program_ns = program_ns, .gaps = gaps};
	sequence_set_count_from(&sequences->come, 0);
}

int jit_sequences_add(struct jit_sequences *sequences, uint64_t sequence, bool from_journal)
{
	int err = 0;

	if (sequence_set_has(from_journal ? &sequences->come : &sequences->read, sequence))
		return 0;
	if (from_journal)
		err = sequence_set_add(&sequences->read, sequence);
	if (err >= 0)
		err = sequence_set_add(&sequences->come, sequence);
	return err < 0 ? err : 1;
}

uint64_t jit_sequences_gaps(const struct jit_sequences *sequences)
{
	return sequences->gaps + sequence_set_missing(&sequences->come);
}

void jit_sequences_deinit(struct jit_sequences *sequences)
{
	sequence_set_deinit(&sequences->come);
	sequence_set_deinit(&sequences->read);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/unwind_ahead.h"

#include <string.h>

#include "decode/record/sample_parts.h"

/* Returns true if a request was made. */
static bool ask(const struct unwind_account *account, uint64_t return_address, uint64_t time_ns)
{
	const struct owner_budget *outstanding = &account->unwinder->outstanding;
	uint64_t address = return_address - 1, before = outstanding->used;
	struct code_site site = code_site_at(account->process, address, time_ns);
	struct unwind_row row;

	if (site.kind != LOCATION_NATIVE && site.kind != LOCATION_JIT)
		return false;
	/* Without memory, the walk itself fails. */
	return unwind_rule_at(account, &site, address, &row) > 0 && outstanding->used > before;
}

void unwind_ask_ahead(struct unwinder *unwinder, const struct process *process,
		      const struct jitbpf_sample *sample, const struct jitbpf_stack_copy *copy)
{
	const struct unwind_account account = {unwinder, process, .ahead = true};
	uint32_t asked = 0;

	for (uint32_t at = 0; copy->size_bytes - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
		uint64_t word;

		if (asked == UNWIND_AHEAD_MAX || !unwind_may_ask(&account, UNWIND_ASKED_MAX / 2))
			break;
		if (stack_copy_misses(copy, at, sizeof(word)))
			continue;
		memcpy(&word, copy->data + at, sizeof(word));
		if (word && word < USER_ADDRESS_END)
			asked += ask(&account, word, sample->h.time_ns);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/kept_code.h"

#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "decode/record/sample_parts.h"

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const uint64_t *)items)[item] == *(const uint64_t *)key;
}

static uint64_t hash_of(uint64_t identity)
{
	return hash_mix(identity, 2);
}

/* Returns true if the region is new and its owner has room. */
static bool admit(struct kept_code *kept, const struct known_code *code, struct owner_key key)
{
	uint64_t bytes = KEPT_CODE_CHARGE + code->bytes_known;
	struct budget_owner *owner;
	uint32_t number;
	int err;

	kept->budget.limit = kept->max_bytes ?: KEPT_CODE_BYTES_MAX;
	if (index_map_find(&kept->index, hash_of(code->identity), equal, kept->regions.data,
			   &code->identity) != INDEX_MAP_NONE ||
	    owner_budget_get(&kept->budget, key, &owner))
		return false;
	err = owner_budget_charge(&kept->budget, owner, bytes);
	if (err) {
		kept->refused++;
		owner_budget_put(&kept->budget, owner);
		return false;
	}
	err = vec_intern(&kept->regions, &kept->index, hash_of(code->identity), equal,
			 &code->identity, &number);
	if (err < 0) {
		owner_budget_release(&kept->budget, owner, bytes);
		owner_budget_put(&kept->budget, owner);
	}
	/* Otherwise, charge and reference stay until kept_code_renew(). */
	return err == 1;
}

int kept_code_emit(struct kept_code *kept, struct unwinder *unwinder, const struct process *process,
		   const struct jitbpf_sample *sample, const struct record_consumer *consumer)
{
	struct frame_words user = sample_user_frames(sample);
	struct jitbpf_kept_code *record;
	struct typed_frame innermost;
	struct known_code code;
	size_t words;

	/* JIT code that ran for a function of a runtime is a frame of an interpreter. */
	if (!process || !frame_words_next(&user, &innermost) ||
	    (innermost.kind != JITBPF_FRAME_ADDRESS &&
	     innermost.kind != JITBPF_FRAME_INTERPRETER) ||
	    !unwinder_code_at(unwinder, process, innermost.value, sample->h.time_ns, &code))
		return 0;
	words = (sizeof(*record) + code.bytes_known) / sizeof(uint64_t) + 1;
	if (vec_reserve(&kept->room, words) ||
	    !admit(kept, &code, process_owner_key(&process->owner)))
		return 0;
	record = (struct jitbpf_kept_code *)kept->room.data;
	*record = (struct jitbpf_kept_code){
		.h = {.size_bytes = (uint32_t)sizeof(*record) + code.bytes_known,
		      .type = JITBPF_KEPT_CODE,
		      .time_ns = sample->h.time_ns},
		.pid = sample->pid,
		.start_ns = sample->start_ns,
		.address = code.address,
		.size_bytes = code.size_bytes,
	};
	memcpy(record->data, code.bytes, code.bytes_known);
	return consumer->take(consumer->context, &record->h);
}

void kept_code_deinit(struct kept_code *kept)
{
	owner_budget_deinit(&kept->budget);
	index_map_deinit(&kept->index);
	vec_deinit(&kept->regions);
	vec_deinit(&kept->room);
}

void kept_code_renew(struct kept_code *kept)
{
	uint64_t refused = kept->refused, max_bytes = kept->max_bytes;

	kept_code_deinit(kept);
	*kept = (struct kept_code){.refused = refused, .max_bytes = max_bytes};
}

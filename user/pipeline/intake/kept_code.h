/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the machine code of sampled JIT code in the recording (`record --code`): before the first
 * sample whose innermost user frame is in a region, a JITBPF_KEPT_CODE record with the code of that
 * region. So code that is overwritten later is kept, too. A recording has at most
 * KEPT_CODE_BYTES_MAX of such code, which the owners of the processes share.
 */
#ifndef JITBPF_PIPELINE_INTAKE_KEPT_CODE_H
#define JITBPF_PIPELINE_INTAKE_KEPT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "pipeline/finished_records.h"
#include "state/process/process_table.h"
#include "unwind/unwinder.h"

#define KEPT_CODE_BYTES_MAX (64u << 20)
#define KEPT_CODE_CHARGE    256u /* bytes that a region is charged for, beside its code */

/* Zero-initialized is empty. */
struct kept_code {
	VEC(uint64_t) regions; /* identities of those in the recording */
	struct index_map index;
	struct owner_budget budget;
	VEC(uint64_t) room; /* for a record */
	uint64_t max_bytes; /* instead of KEPT_CODE_BYTES_MAX, if it is not 0 */
	uint64_t refused;   /* samples in regions without room in the budget */
};

/*
 * Emit the code of a finished sample that consumer takes next. Returns 0 or a negative errno of the
 * consumer; without memory, the code is left out.
 */
int kept_code_emit(struct kept_code *kept, struct unwinder *unwinder, const struct process *process,
		   const struct jitbpf_sample *sample, const struct record_consumer *consumer);

/* Call it when a new recording begins: forgets which regions' code was emitted. */
void kept_code_renew(struct kept_code *kept);
void kept_code_deinit(struct kept_code *kept);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings and names that were read again after a loss of side-band records. Records that equal the
 * known mapping or name are dropped, or a recording would contain all mappings again for each loss.
 * A mapping whose file was identified late is one that is known: it gets its file's identity.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/intake/intake_state.h"

static int emit_unknown(struct intake *intake, const struct jitbpf_mapping *mapping)
{
	union {
		struct jitbpf_mapping record;
		char room[sizeof(struct jitbpf_mapping) + sizeof(JITBPF_MAPPING_UNKNOWN_PATH)];
	} out = {.record = {
			 .h = {.size_bytes =
				       sizeof(out.record) + sizeof(JITBPF_MAPPING_UNKNOWN_PATH),
			       .type = JITBPF_MAPPING,
			       .time_ns = mapping->h.time_ns},
			 .pid = mapping->pid,
			 .tid = mapping->tid,
			 .start_ns = mapping->start_ns,
			 .address = mapping->address,
			 .size_bytes = mapping->size_bytes,
		 }};

	memcpy(out.record.path, JITBPF_MAPPING_UNKNOWN_PATH, sizeof(JITBPF_MAPPING_UNKNOWN_PATH));
	return intake_emit(intake, &out.record.h);
}

/* Emit a copy of a record with other flags. */
static int emit_with(struct intake *intake, const struct jitbpf_record *record, uint16_t flags)
{
	AUTO_FREE struct jitbpf_record *plain = malloc(record->size_bytes);

	if (!plain)
		return -ENOMEM;
	memcpy(plain, record, record->size_bytes);
	plain->flags = flags;
	return intake_emit(intake, plain);
}

static int take_mapping(struct intake *intake, const struct jitbpf_mapping *mapping)
{
	enum known_mapping known = process_table_known(intake->processes, mapping);
	uint16_t finished = mapping->h.flags & JITBPF_MAPPING_READ_ONLY;

	if (mapping->h.flags & JITBPF_MAPPING_IDENTIFIED)
		return known == KNOWN_SAME
			       ? emit_with(intake, &mapping->h, finished | JITBPF_MAPPING_SAME)
			       : 0;
	/* The lost records may have been about this memory. */
	if (mapping->h.flags & JITBPF_MAPPING_DOUBTFUL && known == KNOWN_SAME && intake->unwinder)
		return intake_mapped(intake, mapping);
	if (mapping->h.flags & JITBPF_MAPPING_DOUBTFUL)
		return known == KNOWN_OTHER ? emit_unknown(intake, mapping) : 0;
	return known == KNOWN_SAME ? 0 : emit_with(intake, &mapping->h, finished);
}

static int take_comm(struct intake *intake, const struct jitbpf_comm *comm)
{
	const struct process *process =
		process_table_find(intake->processes, comm->pid, comm->start_ns, comm->h.time_ns);

	if (process &&
	    !strcmp(string_pool_get(intake->processes->strings, process->comm), comm->comm))
		return 0;
	return emit_with(intake, &comm->h, 0);
}

int intake_take_read_again(struct intake *intake, const struct jitbpf_record *record)
{
	return record->type == JITBPF_MAPPING
		       ? take_mapping(intake, (const struct jitbpf_mapping *)record)
		       : take_comm(intake, (const struct jitbpf_comm *)record);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/shim_records.h"

#include <errno.h>

#include "uapi/code_event.h"

/* --- refusals ------------------------------------------------------------------------ */

static int put_refusal(const struct shim_refusal *refusal, struct round_buffer *round)
{
	struct jitbpf_code_refused record = {
		.h = {.size_bytes = sizeof(record),
		      .type = JITBPF_CODE_REFUSED,
		      .flags = refusal->flags,
		      .time_ns = refusal->time_ns},
		.pid = refusal->pid,
		.publisher = JITBPF_PUBLISHER_SHIM,
		.start_ns = refusal->start_ns,
		.malformed = refusal->malformed,
		.incomplete = refusal->incomplete,
		.over_budget = refusal->over_budget,
	};

	return round_buffer_add(round, record.h.time_ns, &record.h);
}

int shim_records_put_refusals(struct shim_records *records, struct round_buffer *round)
{
	int err = 0;

	vec_for_each (refusal, &records->refusals)
		err = err ?: put_refusal(refusal, round);
	records->refusals.size = 0;
	return err;
}

/* Add the counts to those of the process in this round. Returns 0 or -ENOMEM. */
static int refuse(struct shim_records *records, const struct shim_refusal *refusal,
		  struct round_buffer *round)
{
	int err = 0;

	if (!refusal->malformed && !refusal->incomplete && !refusal->over_budget)
		return 0;
	vec_for_each (known, &records->refusals) {
		if (known->pid != refusal->pid || known->start_ns != refusal->start_ns ||
		    known->flags != refusal->flags)
			continue;
		known->malformed += refusal->malformed;
		known->incomplete += refusal->incomplete;
		known->over_budget += refusal->over_budget;
		if (refusal->time_ns > known->time_ns)
			known->time_ns = refusal->time_ns;
		return 0;
	}
	if (records->refusals.size >= SHIM_REFUSALS_MAX)
		err = shim_records_put_refusals(records, round);
	return err ?: vec_push(&records->refusals, *refusal);
}

/* Add the refusals of an assembly since `before` was copied from it. */
static void add_refused(struct shim_refusal *refusal, const struct jit_assembly *before,
			const struct jit_assembly *now)
{
	refusal->malformed += now->malformed - before->malformed;
	refusal->incomplete += now->incomplete - before->incomplete;
	refusal->over_budget += now->over_budget - before->over_budget;
}

/* --- unfinished events ----------------------------------------------------------------- */

static struct shim_unfinished *find(struct shim_records *records, uint32_t pid, uint64_t start_ns)
{
	vec_for_each (unfinished, &records->unfinished) {
		if (unfinished->pid == pid && unfinished->start_ns == start_ns)
			return unfinished;
	}
	return NULL;
}

/* Drop and count the unfinished events of a process. The last process moves to its place. */
static int remove_unfinished(struct shim_records *records, struct shim_unfinished *unfinished,
			     uint64_t time_ns, struct round_buffer *round)
{
	struct shim_refusal refusal = {
		.pid = unfinished->pid,
		.start_ns = unfinished->start_ns,
		.time_ns = time_ns,
	};
	struct jit_assembly before = unfinished->assembly;

	jit_assembly_flush(&unfinished->assembly);
	add_refused(&refusal, &before, &unfinished->assembly);
	jit_assembly_deinit(&unfinished->assembly);
	*unfinished = records->unfinished.data[--records->unfinished.size];
	return refuse(records, &refusal, round);
}

/* Add a process without unfinished events. Returns 0 or -ENOMEM. */
static int add_unfinished(struct shim_records *records, const struct jitbpf_jit *jit,
			  struct round_buffer *round, struct shim_unfinished **ret)
{
	struct shim_unfinished *stalest = records->unfinished.data;
	int err = 0;

	if (records->unfinished.size >= SHIM_UNFINISHED_MAX) {
		vec_for_each (unfinished, &records->unfinished) {
			if (unfinished->touched < stalest->touched)
				stalest = unfinished;
		}
		err = remove_unfinished(records, stalest, jit->h.time_ns, round);
	}
	err = err
		      ?: vec_push(&records->unfinished,
				  ((struct shim_unfinished){.pid = jit->pid,
							    .start_ns = jit->start_ns}));
	if (!err)
		*ret = &records->unfinished.data[records->unfinished.size - 1];
	return err;
}

/* --- events -------------------------------------------------------------------------------- */

static int put_event(const struct jit_event *jit_event, const struct jitbpf_jit *jit,
		     struct shim_refusal *refusal, struct round_buffer *round)
{
	struct code_event event;
	struct jitbpf_record *record;
	size_t size_bytes;

	jit_event_convert(jit_event, jit, &event);
	size_bytes = code_event_record_bytes(&event);
	if (!size_bytes) {
		refusal->over_budget++;
		return 0;
	}
	record = round_buffer_place(round, event.time_ns, (uint32_t)size_bytes);
	if (!record)
		return -ENOMEM;
	code_event_encode(&event, (struct jitbpf_code_event *)record);
	return 0;
}

/* Take an event with one part, of a process without unfinished events. */
static int take_whole(const struct jitbpf_jit *jit, const struct jitbpf_jit_header *header,
		      struct shim_refusal *refusal, struct round_buffer *round)
{
	struct jit_event event;

	if (header->part_count != 1 ||
	    jit_fields_decode(header, jit->data + sizeof(*header),
			      header->size_bytes - sizeof(*header), &event)) {
		refusal->malformed++;
		return 0;
	}
	return put_event(&event, jit, refusal, round);
}

static int take_part(struct shim_records *records, struct shim_unfinished *unfinished,
		     const struct jitbpf_jit *jit, struct shim_refusal *refusal,
		     struct round_buffer *round)
{
	struct jit_assembly before = unfinished->assembly;
	struct jit_event event;
	bool complete = false;
	int err = jit_assembly_add(&unfinished->assembly, jit->tid, jit->data, jit->data_bytes,
				   &event, &complete);

	add_refused(refusal, &before, &unfinished->assembly);
	unfinished->touched = ++records->taken;
	if (!err && complete)
		err = put_event(&event, jit, refusal, round);
	if (err != -ENOMEM && !unfinished->assembly.slots.size)
		err = remove_unfinished(records, unfinished, jit->h.time_ns, round);
	return err == -EBADMSG ? 0 : err;
}

int shim_records_take(struct shim_records *records, const struct jitbpf_jit *jit,
		      struct round_buffer *round)
{
	struct shim_refusal refusal = {
		.pid = jit->pid, .start_ns = jit->start_ns, .time_ns = jit->h.time_ns};
	bool from_journal = jit->h.flags & JITBPF_JIT_FROM_JOURNAL;
	struct shim_unfinished *unfinished = NULL;
	struct jitbpf_jit_header header;
	int err = 0;

	if (!from_journal)
		unfinished = find(records, jit->pid, jit->start_ns);
	err = jit_part_decode(jit->data, jit->data_bytes, &header);
	if (err) {
		refusal.flags = err == -ENOTSUP ? JITBPF_REFUSED_OTHER_VERSION : 0;
		refusal.malformed++;
		return refuse(records, &refusal, round);
	}
	if (!unfinished && !from_journal && header.part_count > 1)
		err = add_unfinished(records, jit, round, &unfinished);
	if (err)
		return err;
	/* A journal's record has one part, and does not continue an event of the thread. */
	err = unfinished ? take_part(records, unfinished, jit, &refusal, round)
			 : take_whole(jit, &header, &refusal, round);
	return err ?: refuse(records, &refusal, round);
}

int shim_records_end(struct shim_records *records, uint32_t pid, uint64_t time_ns,
		     struct round_buffer *round)
{
	int err = 0;

	for (size_t i = records->unfinished.size; i-- && !err;) {
		if (records->unfinished.data[i].pid == pid)
			err = remove_unfinished(records, &records->unfinished.data[i], time_ns,
						round);
	}
	return err;
}

int shim_records_end_all(struct shim_records *records, uint64_t time_ns, struct round_buffer *round)
{
	int err = 0;

	while (records->unfinished.size && !err)
		err = remove_unfinished(records, records->unfinished.data, time_ns, round);
	return err;
}

void shim_records_deinit(struct shim_records *records)
{
	vec_for_each (unfinished, &records->unfinished)
		jit_assembly_deinit(&unfinished->assembly);
	vec_deinit(&records->unfinished);
	vec_deinit(&records->refusals);
}

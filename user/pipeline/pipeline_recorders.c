/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recorders of a run: which of them gets a record, and how one follows the other. */
#include <string.h>

#include "pipeline/analysis/begun_processes.h"
#include "pipeline/analysis/runtimes.h"
#include "pipeline/analysis/snapshot.h"
#include "pipeline/pipeline_state.h"

static int write_to(struct recorder *recorder, const struct jitbpf_record *record, uint16_t flags)
{
	return flags ? recorder_write_with(recorder, record, flags)
		     : recorder_write(recorder, record);
}

static int take_snapshot(void *recorder, const struct jitbpf_record *record)
{
	return recorder_write(recorder, record);
}

/* Write a record, with more flags, if the recording of an epoch has it. */
static int write_if_recorded(struct pipeline *p, uint32_t epoch, struct recorder *recorder,
			     const struct jitbpf_record *record, uint16_t flags)
{
	const struct jitbpf_owner *owner = (const struct jitbpf_owner *)record;
	const struct record_receiver to = {take_snapshot, recorder};
	int err = 0;

	if (!analysis_is_recorded(p->analysis, epoch, record))
		return 0;
	if (record->type == JITBPF_OWNER)
		err = analysis_record_cgroup(p->analysis, epoch, owner->cgroup, record->time_ns,
					     to);
	if (record->type == JITBPF_SAMPLE)
		err = analysis_record_functions(p->analysis, epoch,
						(const struct jitbpf_sample *)record, to);
	return err ?: write_to(recorder, record, flags);
}

void pipeline_write_record(struct pipeline *p, const struct jitbpf_record *record, uint16_t flags)
{
	bool is_sample = record->type == JITBPF_SAMPLE, done = false;

	if ((record->type == JITBPF_KEPT_CODE && !p->records_code) ||
	    record->type == JITBPF_RUNTIME_FUNCTION) /* with the first sample */
		return;
	vec_for_each (closing, &p->closing) {
		if (record->time_ns > closing->until_ns || (is_sample && done))
			continue;
		if (!closing->error)
			closing->error = write_if_recorded(p, closing->epoch, closing->recorder,
							   record, flags);
		if (!done && !is_sample)
			flags |= JITBPF_RECORD_COUNTED;
		done = true;
	}
	if (p->recorder && !p->recorder_error && !(is_sample && done))
		p->recorder_error = write_if_recorded(p, analysis_epoch(p->analysis), p->recorder,
						      record, flags);
}

int pipeline_rotate(struct pipeline *p, struct recorder *recorder, struct recorder *next,
		    const struct run_info *info)
{
	const struct run_info *now = analysis_view(p->analysis)->info;
	struct closing_recorder closing = {
		.until_ns = now->start_ns + now->duration_ns,
		.epoch = analysis_epoch(p->analysis),
		.recorder = recorder,
		.error = p->recorder_error,
	};
	int err = vec_reserve(&p->closing, p->closing.size + 1);

	err = err ?: analysis_begin_epoch(p->analysis, info);
	if (err)
		return err;
	p->closing.data[p->closing.size++] = closing;
	intake_renew_code(p->intake);
	p->recorder_error =
		analysis_snapshot(p->analysis, (struct record_receiver){take_snapshot, next});
	if (!p->recorder_error)
		p->recorder_error = recorder_end_round(next, closing.until_ns);
	return 0;
}

int pipeline_complete_epoch(struct pipeline *p, bool now, struct pipeline_epoch *ret)
{
	const struct view *view;
	int err = analysis_complete_epoch(p->analysis, now, &view);

	if (err || !view)
		return err;
	*ret = (struct pipeline_epoch){
		.recorder = p->closing.data[0].recorder,
		.view = view,
		.recorder_error = p->closing.data[0].error,
	};
	return 1;
}

void pipeline_drop_epoch(struct pipeline *p)
{
	if (!p->closing.size)
		return;
	analysis_drop_epoch(p->analysis);
	p->closing.size--;
	memmove(p->closing.data, p->closing.data + 1, p->closing.size * sizeof(*p->closing.data));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/run_turn.h"

#include <stdio.h>

#include "agent/clock.h"
#include "run/messages/file_trouble.h"
#include "run/messages/jvm_reports.h"
#include "run/run_outputs.h"

struct recorder *run_current_recorder(const struct run *run)
{
	if (run->rotation.options)
		return rotation_recorder(&run->rotation);
	return run->recorder ?: page_recording_recorder(&run->page_recording);
}

int run_round(struct run *run)
{
	int state;

	loop_health_begin(live_source_health(run->live), clock_now_ns());
	state = pipeline_round(run->pipeline, &run->source, run_current_recorder(run));
	file_store_forget(run->files, pipeline_modules(run->pipeline));
	return state < 0 ? run_complain(state, "recording") : state;
}

/* The run goes on: the command is not ended, and what has a name keeps it. */
static void tell_broker_loss(struct run *run)
{
	if (run->broker_lost || !broker_is_lost(&run->broker))
		return;
	run->broker_lost = true;
	status_line_clear(&run->status);
	fprintf(stderr,
		"jitbpf: jitbpf-broker (process %d), which starts jitbpf's helper processes, was "
		"killed: programs that start from now on have no names, and others may lack "
		"some: end this recording, and begin another\n",
		(int)run->broker.pid);
}

void run_end_turn(struct run *run)
{
	struct loop_health *health = live_source_health(run->live);
	uint64_t now_ns = clock_now_ns();

	loop_health_end(health, now_ns);
	attach_trouble_tell(run->live, &run->status);
	tell_broker_loss(run);
	jvm_reports_tell(run->live, &run->status, &run->jvms_told);
	if (self_stats_due(&run->stats, now_ns)) {
		struct self_counts counts = {
			.files = file_store_counts(run->files).known,
			.modules = pipeline_modules(run->pipeline)->slots.size,
			.methods = pipeline_progress(run->pipeline).jit_methods,
			.lost = live_source_lost(run->live),
		};

		self_stats_write(&run->stats, &counts, health, now_ns);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/no_samples.h"

#include <stdio.h>

#include "profile/ledger.h"

void no_samples_say_shown(const struct view *view, const struct sample_filter *filter,
			  const char *path)
{
	if (ledger_taken(view->ledger) || !sample_filter_is_set(filter))
		return;
	fprintf(stderr,
		"jitbpf: no sample of %s is selected by --from, --to, --pid, --thread, --comm or "
		"--container: 'jitbpf report -f top %s' shows which processes have samples\n",
		path, path);
}

void no_samples_say_recorded(const struct view *view, const struct target_options *target,
			     uint32_t freq_hz)
{
	if (ledger_taken(view->ledger))
		return;
	if (target->choice.pids.size || choice_checks_samples(&target->choice))
		fprintf(stderr, "jitbpf: no sample was taken: no process that -p, -u, -G or "
				"--container chooses used CPU time; 'jitbpf top' shows "
				"the processes that do\n");
	else if (target->command && !target->system_wide)
		fprintf(stderr,
			"jitbpf: no sample was taken: the command used too little CPU time for %u "
			"samples per second: use a higher -F\n",
			freq_hz);
}

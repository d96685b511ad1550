/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/no_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

void no_samples_say_shown(const struct view *view, const struct sample_filter *filter,
			  const char *path)
{
	if (ledger_taken(view->ledger) || !sample_filter_is_set(filter))
		return;
	say("jitbpf: no sample of %s is selected by --from, --to, --pid, --thread, --comm or "
	    "--container: 'jitbpf report -f top %s' shows which processes have samples\n",
	    path, path);
}

/* The choice is the user's own text, such as a name with an escape sequence. */
static void say_idle(const struct target_options *target, uint32_t freq_hz)
{
	CLEANUP(text_deinit) struct text text = {0};
	bool one = target->choice.pids.size == 1;
	AUTO_FREE char *chosen = NULL;
	size_t size;
	FILE *words = open_memstream(&chosen, &size);

	if (words) {
		choice_write(&target->choose, &target->choice, words);
		fclose(words);
	}
	text_printf(&text, "jitbpf: no sample was taken of %s ", one ? "process" : "processes");
	if (chosen)
		text_put_name(&text, chosen, 0, 0);
	text_printf(&text,
		    ": %s used no CPU time, or too little for %u samples per second; 'jitbpf top' "
		    "shows which processes use some\n",
		    one ? "it" : "they", freq_hz);
	text_write(&text, stderr);
}

void no_samples_say_recorded(const struct view *view, const struct target_options *target,
			     uint32_t freq_hz)
{
	if (ledger_taken(view->ledger))
		return;
	if (target->choice.pids.size || choice_checks_samples(&target->choice))
		say_idle(target, freq_hz);
	else if (target->command && !target->system_wide)
		say("jitbpf: no sample was taken: the command used too little CPU time for %u "
		    "samples per second: use a higher -F\n",
		    freq_hz);
}

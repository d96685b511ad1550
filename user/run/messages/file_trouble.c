/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/messages/file_trouble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/scope.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

/* Returns true if `what` was reported before: several threads may have given up the same file. */
static bool is_said(const struct file_store *files, uint32_t number, const char *what)
{
	for (uint32_t i = 0; i < number; i++) {
		if (!strcmp(file_store_given_up(files, i), what))
			return true;
	}
	return false;
}

void attach_trouble_tell(struct live_source *live, struct status_line *status)
{
	struct attach_holder holder;
	time_t now_s = time(NULL);
	struct tm now;

	while (live_source_take_holder(live, &holder)) {
		localtime_r(&now_s, &now);
		status_line_clear(status);
		say("jitbpf: since %02d:%02d:%02d, process %u (user %u) holds the lock of its "
		    "memory map. Probes are deferred until the lock is free: else all forks of "
		    "the machine would wait for it. JIT names may be missing: check whether "
		    "the process hangs\n",
		    now.tm_hour, now.tm_min, now.tm_sec, holder.pid, holder.uid);
	}
}

void attach_trouble_say(const struct live_source *live)
{
	struct attach_deferrals deferrals = live_source_deferrals(live);

	if (!deferrals.count)
		return;
	say("jitbpf: process %u (user %u) held the lock of its memory map for up to %.1f s, so "
	    "probes were attached late (%" PRIu64 ") or not at all (%" PRIu64
	    "). JIT names may be missing: check whether the process hangs\n",
	    deferrals.last.pid, deferrals.last.uid, (double)deferrals.longest_ns / 1e9,
	    deferrals.count - deferrals.waiting, deferrals.waiting);
}

void file_trouble_say(const struct file_store *files)
{
	CLEANUP(text_deinit) struct text text = {0};
	uint64_t unopened = file_store_counts(files).no_descriptor;
	const char *what;

	if (unopened) {
		text_put_string(&text, "jitbpf: ");
		text_put_decimal(&text, unopened);
		text_put_string(&text, unopened == 1 ? " mapped file was" : " mapped files were");
		text_put_string(&text, " not opened, since jitbpf had no descriptor left: names "
				       "may be missing: raise the limit of open files "
				       "(ulimit -Hn)\n");
	}
	for (uint32_t i = 0; (what = file_store_given_up(files, i)); i++) {
		if (is_said(files, i, what))
			continue;
		text_put_string(&text, "jitbpf: no answer in time from ");
		text_put_name(&text, what, 0, 0);
		text_put_string(&text, ": names may be missing\n");
	}
	if (file_store_mappings_error(files))
		text_put_string(&text,
				"jitbpf: the kernel refuses /proc/PID/map_files: deleted and "
				"replaced files have no names: grant "
				"CAP_CHECKPOINT_RESTORE\n");
	if (file_store_debuginfod_error(files) == -ENOSYS)
		text_put_string(&text, "jitbpf: $DEBUGINFOD_URLS is set, but libdebuginfod.so.1 "
				       "is not installed: names may be missing\n");
	else if (file_store_debuginfod_error(files) == -EPERM)
		text_put_string(
			&text,
			"jitbpf: debuginfod was not used: its cache would belong to another user: "
			"set DEBUGINFOD_CACHE_PATH\n");
	text_write(&text, stderr);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports why names may be missing: files, servers and processes that did not answer in time, and
 * files for which no descriptor was left.
 */
#ifndef JITBPF_RUN_MESSAGES_FILE_TROUBLE_H
#define JITBPF_RUN_MESSAGES_FILE_TROUBLE_H

#include "agent/files/file_store.h"
#include "agent/live/live_source.h"
#include "run/messages/status_line.h"

/* Print the reports to standard error, one line each. No thread may use the store any more. */
void file_trouble_say(const struct file_store *files);

/* During the run: print each process that defers the registration of probes, once. */
void attach_trouble_tell(struct live_source *live, struct status_line *status);

/*
 * After the run: print the last process that deferred the registration of probes, and the number of
 * probes.
 */
void attach_trouble_say(const struct live_source *live);

#endif

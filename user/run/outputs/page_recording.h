/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording of a live page whose run has no recording as an output, as with `jitbpf live`: a
 * file without a name, which browsers can save a copy of. It is gone when the run ends. If it
 * reaches a limit, or fails, the run continues without it.
 */
#ifndef JITBPF_RUN_OUTPUTS_PAGE_RECORDING_H
#define JITBPF_RUN_OUTPUTS_PAGE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "run/messages/status_line.h"
#include "run/outputs/disk_limits.h"
#include "run/outputs/recording_copies.h"

#define PAGE_RECORDING_MAX (1ull << 30) /* bytes, without --max-size */

/* Zero-initialized: none. */
struct page_recording {
	FILE *file;
	struct recorder *recorder;
	bool ended;
	uint64_t check_ns; /* when the limits are next checked, CLOCK_MONOTONIC */
};

/*
 * Create the file, with the rights to write to /var/tmp or /tmp. Prints a message if that is not
 * possible: then there is none.
 */
void page_recording_open(struct page_recording *ret);

/* Returns 0 or a negative errno. */
int page_recording_begin(struct page_recording *recording, const struct run_info *info);

/* Returns the recorder of the next round, or NULL if there is none, or no more. */
struct recorder *page_recording_recorder(const struct page_recording *recording);

/* What can be saved; also after its end. */
struct written_recording page_recording_written(const struct page_recording *recording);

/*
 * After a round: end the recording, with a message, at its limits or after an error (negative
 * errno) of its recorder.
 */
void page_recording_check(struct page_recording *recording, const struct disk_limits *limits,
			  int error, struct status_line *status);

void page_recording_deinit(struct page_recording *recording);

#endif

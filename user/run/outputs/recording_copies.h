/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends copies of the run's recording to browsers that save it. The event loop makes the end of a
 * copy in steps (pipeline/record/recorder.h); a thread for each copy reads the file and writes it
 * to the browser's socket, so a slow browser delays nothing else.
 */
#ifndef JITBPF_RUN_OUTPUTS_RECORDING_COPIES_H
#define JITBPF_RUN_OUTPUTS_RECORDING_COPIES_H

#include <stdint.h>

#include "pipeline/pipeline.h"

struct recording_copies;

/* The recording that the run is writing now. */
struct written_recording {
	struct recorder *recorder; /* NULL: there is none */
	int fd;			   /* its file, which must be regular and readable */
};

/* pipeline is borrowed. Returns 0 or -ENOMEM. */
int recording_copies_create(struct pipeline *pipeline, struct recording_copies **ret);

/*
 * Let the threads send the rest for up to limit_ms, and cut the copies that are left. Before
 * pipeline_destroy(). NULL is allowed.
 */
void recording_copies_destroy(struct recording_copies *copies, uint32_t limit_ms);

/*
 * Write a copy to a socket, which is owned from now on. A copy that is not possible is empty: if
 * too many are being sent, if there is no recording, or if its file cannot be read.
 */
void recording_copies_ask(struct recording_copies *copies, int socket);

/* Work on the copies, after a round. */
void recording_copies_round(struct recording_copies *copies, const struct written_recording *now);

#endif

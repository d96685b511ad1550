/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a recording: a tee on the source. Every record that goes into the
 * pipeline is also given here; each distinct stack is written once.
 */
#ifndef JITBPF_PIPELINE_RECORDER_H
#define JITBPF_PIPELINE_RECORDER_H

#include <stdint.h>
#include <stdio.h>

#include "sink/sink.h"
#include "state/module_table.h"
#include "uapi/record.h"

struct recorder; /* see recorder.c */

/* Write the file header and what info says. Borrows out. Returns 0 or negative errno. */
int recorder_create(FILE *out, const struct run_info *info, struct recorder **ret);
void recorder_destroy(struct recorder *recorder);

/* Write one record (already checked: decode/record_check.h). Returns 0 or negative errno. */
int recorder_write(struct recorder *recorder, const struct jitbpf_record *record);

/* End a round whose drain began at time_ns. Returns 0 or negative errno. */
int recorder_end_round(struct recorder *recorder, uint64_t time_ns);

/*
 * Write the names of all native and kernel locations, a last round, and the
 * end. modules gives the identities of native locations. Returns 0 or negative errno.
 */
int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules);

#endif

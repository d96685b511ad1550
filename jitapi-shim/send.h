/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends one event: to the journal and, if a profiler is attached, to the probe. */
#ifndef JITBPF_SHIM_SEND_H
#define JITBPF_SHIM_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/record.h"

/* The name of this library's journal, which uapi/jit_journal.h lists. Each library defines it. */
extern const char send_journal_name[];

/* Returns false if an event would reach neither the probe nor the journal. */
bool send_wanted(void);

/* Begin the record of an event that happens now: its time, no thread, and no fields. */
void send_begin(struct record *record, uint16_t event, const void *caller);

/* Number the record and send it. */
void send_record(struct record *record);

#endif

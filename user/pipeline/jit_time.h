/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a JIT event happened, which is before the record of it was made. */
#ifndef JITBPF_PIPELINE_JIT_TIME_H
#define JITBPF_PIPELINE_JIT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/*
 * Returns true if the shim's own time of an event, which it takes before it makes the record, is
 * plausible for a hit at hit_ns. It is not in another time namespace, or if the process lies.
 */
bool jit_time_is_plausible(uint64_t event_ns, uint64_t hit_ns);

/* The event's time in ns, CLOCK_MONOTONIC: the shim's where that is plausible, else the hit's. */
uint64_t jit_time(const struct jitbpf_jit *jit);

#endif

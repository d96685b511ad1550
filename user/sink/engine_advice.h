/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What to do about code that engines do not publish, for the page (page/engines.ts). */
#ifndef JITBPF_SINK_ENGINE_ADVICE_H
#define JITBPF_SINK_ENGINE_ADVICE_H

#include "sink/write/json.h"

/*
 * Write the member "engines": a list of the engines that are known by process names. The last entry
 * has the advice for all other processes.
 */
void engine_advice_write(struct json *json);

#endif

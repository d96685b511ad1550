/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger as one JSON object, on its own or inside the page. */
#ifndef JITBPF_SINK_FORMAT_SUMMARY_JSON_H
#define JITBPF_SINK_FORMAT_SUMMARY_JSON_H

#include "sink/write/json.h"
#include "sink/sink.h"

/* Returns 0 or -ENOMEM. */
int summary_json_write(struct json *json, const struct view *view);

#endif

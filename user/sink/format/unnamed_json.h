/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files without names of functions in JSON, as docs/report.schema.json describes them. */
#ifndef JITBPF_SINK_FORMAT_UNNAMED_JSON_H
#define JITBPF_SINK_FORMAT_UNNAMED_JSON_H

#include "sink/file_packages.h"
#include "sink/naming.h"
#include "sink/write/json.h"

/* Write an array of the files, with what to do about each. packages may be NULL. Returns 0 or
 * -ENOMEM. */
int unnamed_json_write(struct json *json, const struct unnamed_file *files, size_t count,
		       const struct file_packages *packages);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface to compare memory of a process with a file. */
#ifndef JITBPF_PIPELINE_INTAKE_TEXT_SOURCE_H
#define JITBPF_PIPELINE_INTAKE_TEXT_SOURCE_H

#include <stdbool.h>

#include "uapi/record.h"

/* Implemented by the agent, and by tests. */
struct text_source {
	/*
	 * Returns true if the memory at the addresses of a MAPPING record has the bytes of the file
	 * that the record names.
	 */
	bool (*equals)(void *context, const struct jitbpf_mapping *mapping);
	void *context;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the machine code of a function for its annotation. */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATED_CODE_H
#define JITBPF_SINK_ANNOTATE_ANNOTATED_CODE_H

#include "sink/annotate/annotation.h"

/*
 * Set address, size, code and `lack` of an annotation, of which the function is set. last_offset is
 * the highest one with samples. Returns 0 or -ENOMEM.
 */
int annotated_code_read(struct annotation *annotation, const struct annotation_sources *sources,
			uint64_t last_offset);

/* Returns the module of a native function, or NULL. */
const struct module *annotated_module(const struct annotation_sources *sources,
				      const struct sampled_function *function);

#endif

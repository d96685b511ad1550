/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the live JIT code that a process has published in a jitdump file. For `list`. */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_DUMP_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/engine_maps.h"
#include "agent/publisher/jitdump_file.h"

struct engine_dump {
	bool unreadable;    /* not a file that jitbpf follows */
	const char *engine; /* that writes such files; NULL: not known */
	uint64_t methods, bytes;
};

/*
 * Read a jitdump file of a process, within a budget of bytes, and with what is in the process's
 * stdio buffer. Code of processes that inherited the file is not counted. Returns 0 or -ENOMEM.
 */
int engine_dump_read(struct jitdump_reader *reader, uint32_t pid,
		     const struct engine_mapping *mapping, const char *path,
		     struct engine_dump *ret);

#endif

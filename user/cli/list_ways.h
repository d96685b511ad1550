/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How `jitbpf list` says in which way a process publishes its code. */
#ifndef JITBPF_CLI_LIST_WAYS_H
#define JITBPF_CLI_LIST_WAYS_H

#include "agent/publisher/engine_list.h"

struct list_way {
	const char *key;   /* for JSON */
	const char *words; /* for people */
	const char *next;  /* consequence or advice; NULL: none, or it depends on the engine */
};

const struct list_way *list_way_of(const struct engine_row *row);

#endif

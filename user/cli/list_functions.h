/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `jitbpf list` says about the functions of runtimes. */
#ifndef JITBPF_CLI_LIST_FUNCTIONS_H
#define JITBPF_CLI_LIST_FUNCTIONS_H

#include "agent/publisher/engine_list.h"
#include "sink/write/json.h"
#include "sink/write/text_table.h"

/* Add a cell: "CPython 3.11: shown", or nothing without such a runtime. */
void list_functions_add(struct text_table *table, const struct engine_row *row);

/* Write the member "runtimes" of a process, unless it is empty. */
void list_functions_write(struct json *json, const struct process_runtimes *runtimes);

/* Say once for each runtime and version what is needed to have its functions. */
void list_functions_advise(const struct engine_list *list);

#endif

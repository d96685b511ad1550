/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --code`: machine code and source lines in the page, for its code pane. */
#ifndef JITBPF_CLI_EMBEDDED_CODE_H
#define JITBPF_CLI_EMBEDDED_CODE_H

#include "agent/files/sources/source_files.h"
#include "cli/options/options.h"
#include "cli/replay.h"
#include "sink/annotate/page_code.h"

/* Contains pointers to its own members, so it must not be moved in memory. */
struct embedded_code {
	struct source_reader *reader;
	struct source_files files;
	struct source_lines lines;
	struct page_code code;
	struct page_extra extra;
	struct replay_code replay; /* for replay_open() */
};

/*
 * Start the reader of source files, as source_reader_create(). folders are borrowed. Returns 0 or a
 * negative errno; the caller calls embedded_code_deinit() in any case, if it is zero-initialized.
 */
int embedded_code_init(struct embedded_code *code, const struct invoking_user *user,
		       const string_list *folders);

/* Call it between replay_open() and replay_run(). Returns 0 or -ENOMEM. */
int embedded_code_attach(struct embedded_code *code, const struct replay *replay);

/* Print which source files the page contains. */
void embedded_code_say(const struct embedded_code *code);

void embedded_code_deinit(struct embedded_code *code);

#endif

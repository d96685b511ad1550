/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/embedded_code.h"

#include "agent/files/file_store.h"
#include "run/messages/say.h"
#include "sink/annotate/code_history.h"

int embedded_code_init(struct embedded_code *code, const struct invoking_user *user,
		       const string_list *folders)
{
	int err = source_reader_create(user, &code->reader);

	code->files = (struct source_files){.reader = code->reader,
					    .folders = folders->data,
					    .folder_count = folders->size,
					    .for_others = true};
	code->lines = (struct source_lines){.line = source_files_line,
					    .trouble = source_files_trouble,
					    .context = &code->files};
	code->code.sources = &code->lines;
	code->extra = (struct page_extra){.write = page_code_write, .context = &code->code};
	code->replay.extra = &code->extra;
	return err;
}

int embedded_code_attach(struct embedded_code *code, const struct replay *replay)
{
	struct sink *history;
	int err = code_history_create(CODE_LIVES_MAX, &history);

	if (err)
		return err;
	code->code.history = history;
	code->code.symbolizer = replay->symbolizer;
	file_store_source(replay->files, &code->code.files);
	return pipeline_add_live(replay->pipeline, &sink_code_history, history);
}

void embedded_code_say(const struct embedded_code *code)
{
	size_t count = 0;

	vec_for_each (file, &code->files.files)
		count += !file->error;
	say("jitbpf: the page has machine code, and lines of %zu source files: whoever gets it "
	    "can read them\n",
	    count);
}

void embedded_code_deinit(struct embedded_code *code)
{
	source_files_deinit(&code->files);
	source_reader_destroy(code->reader);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/go_rows.h"
#include "decode/x86/call_site.h"
#include "runtimes/code_compare.h"
#include "decode/x86/gaps/code_gaps.h"
#include "runtimes/code_interpreter.h"
#include "decode/x86/code_unwind.h"
#include "runtimes/runtime_readers.h"

/* An open file. A file that failed to open is kept too, so that it is not tried for each page. */
struct open_file {
	const struct module *module; /* held */
	struct blob blob;
	int open_error;		  /* there is no blob */
	struct unwind_file *file; /* NULL if `error` is set, also of a file that is no ELF file */
	struct go_rows *go;	  /* the same; for gaps in the call frame information */
	struct code_gaps *gaps;	  /* the same */
	int error;
	/* As a host of an engine: the frame that JIT code is entered with. */
	struct code_entry entry;
	bool entry_known;
	/* As the file of a runtime: what `reader` has said of it. NULL: it was not asked. */
	const struct runtime_reader *reader;
	struct runtime_facts facts;
	uint64_t facts_offset, facts_address;
	int facts_error;
};

struct unwind_files {
	struct file_source source;
	struct open_file *open[UNWIND_FILES_OPEN_MAX]; /* most recently used first */
	uint32_t open_count;
};

static void close_file(struct open_file *file)
{
	unwind_file_destroy(file->file);
	go_rows_destroy(file->go);
	code_gaps_destroy(file->gaps);
	blob_close(&file->blob);
	module_release(file->module);
	free(file);
}

static void close_last(struct unwind_files *files)
{
	close_file(files->open[--files->open_count]);
}

static void close_first(struct unwind_files *files)
{
	close_file(files->open[0]);
	files->open_count--;
	memmove(&files->open[0], &files->open[1], files->open_count * sizeof(files->open[0]));
}

void unwind_files_forget(struct unwind_files *files, const struct module *module)
{
	for (uint32_t i = 0; i < files->open_count; i++) {
		if (files->open[i]->module != module)
			continue;
		close_file(files->open[i]);
		files->open_count--;
		memmove(&files->open[i], &files->open[i + 1],
			(files->open_count - i) * sizeof(files->open[0]));
		return;
	}
}

static size_t bytes_of(const struct open_file *file)
{
	return file->file ? unwind_file_bytes(file->file) + go_rows_bytes(file->go) +
				    code_gaps_bytes(file->gaps)
			  : 0;
}

/* Close files over the memory limit, least recently used first. The current file stays open. */
static void close_what_is_too_much(struct unwind_files *files)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < files->open_count; i++)
		bytes += bytes_of(files->open[i]);
	while (bytes > UNWIND_FILES_BYTES_MAX && files->open_count > 1) {
		bytes -= bytes_of(files->open[files->open_count - 1]);
		close_last(files);
	}
}

static int open_rows(struct open_file *file)
{
	struct unwind_gap_source source, go;
	int err = code_gaps_create(&file->blob, &file->gaps);

	if (!err) {
		source = code_gaps_source(file->gaps);
		err = go_rows_create(&file->blob, &source, &file->go);
	}
	err = err ?: unwind_file_create(&file->blob, &file->file);
	if (err) {
		go_rows_destroy(file->go);
		code_gaps_destroy(file->gaps);
		file->go = NULL;
		file->gaps = NULL;
		return err;
	}
	go = go_rows_source(file->go);
	unwind_file_add_source(file->file, &go);
	unwind_file_add_source(file->file, &source);
	return 0;
}

static struct open_file *open_file(struct unwind_files *files, const struct module *module)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->module = module_hold(module);
	file->open_error = files->source.open_module(files->source.context, module, &file->blob);
	file->error = file->open_error ?: open_rows(file);
	return file;
}

/* Returns NULL if memory is short. */
static struct open_file *file_of(struct unwind_files *files, const struct module *module)
{
	struct open_file *file;
	uint32_t at = 0;

	while (at < files->open_count && files->open[at]->module != module)
		at++;
	file = at < files->open_count ? files->open[at] : open_file(files, module);
	if (!file)
		return NULL;
	if (at == UNWIND_FILES_OPEN_MAX) {
		close_last(files);
		at--;
	}
	files->open_count += at == files->open_count;
	memmove(&files->open[1], &files->open[0], at * sizeof(files->open[0]));
	files->open[0] = file;
	return file;
}

static int make_page(void *context, const struct module *module, uint32_t page, bool quick,
		     struct unwind_rows *ret)
{
	struct unwind_files *files = context;
	const struct open_file *file = file_of(files, module);
	int err;

	if (!file)
		return -ENOMEM;
	err = file->error;
	if (!err) {
		code_gaps_set_quick(file->gaps, quick);
		err = unwind_file_page(file->file, page, ret);
		code_gaps_set_quick(file->gaps, false);
	}
	if (file->error == -ETIMEDOUT)
		close_first(files); /* it may answer a later request */
	close_what_is_too_much(files);
	return err;
}

static int can_return(void *context, const struct module *module, uint64_t offset, bool *ret)
{
	struct unwind_files *files = context;
	const struct open_file *file = file_of(files, module);
	int err;

	if (!file)
		return -ENOMEM;
	err = file->open_error ?: code_can_return_to(&file->blob, offset, ret);
	if (file->error == -ETIMEDOUT)
		close_first(files); /* it may answer a later request */
	return err;
}

/* Find out how a region's code is entered. Returns 0 or -ENOMEM. */
static int entry_of(struct unwind_files *files, const struct engine_host *host,
		    struct code_entry *ret)
{
	struct open_file *file = host->module ? file_of(files, host->module) : NULL;

	if (host->module && !file)
		return -ENOMEM;
	if (file && !file->entry_known) {
		file->entry = code_entry_called;
		if (file->file)
			code_entry_inside(file->file, host->function, &file->entry);
		file->entry_known = true;
		close_what_is_too_much(files);
	}
	*ret = file ? file->entry : code_entry_called;
	return 0;
}

static int add_command(struct unwind_rows *rows, enum unwind_command command)
{
	return unwind_rows_add(rows, 0, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

static int make_region(struct unwind_files *files, const struct unwind_code *code,
		       struct unwind_rows *ret)
{
	struct code_entry entry;
	int err;

	if (code->host.frames == ENGINE_FRAMES_RETURNED_TO)
		return add_command(ret, UNWIND_FROZEN);
	if (code->host.frames == ENGINE_FRAMES_FIRST)
		return add_command(ret, UNWIND_ROOT);
	if (code->host.frames == ENGINE_FRAMES_INTERPRETER)
		return code_interpreter(code->bytes, code->bytes_read, code->address, ret);
	err = entry_of(files, &code->host, &entry);
	if (code->host.frames == ENGINE_FRAMES_PUSHED)
		entry = code_entry_pushed;
	entry.one_frame = code->host.frames == ENGINE_FRAMES_ONE;
	return err ?: code_unwind(code->bytes, code->bytes_read, code->address, &entry, ret);
}

static int make_code(void *files, const struct unwind_code *code, struct unwind_rows *ret)
{
	int err = make_region(files, code, ret);

	if (!err && code->bytes_read < code->size_bytes)
		err = unwind_rows_add(ret, (uint32_t)code->bytes_read,
				      UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), UNWIND_RBP_KEPT);
	return err;
}

static int compare(void *files, const struct code_pair *pair, bool *ret_same)
{
	(void)files;
	*ret_same = code_is_same(pair);
	return 0;
}

static int read_facts(struct open_file *file)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err = file->open_error ?: elf_file_init(&elf, &file->blob);

	/* A file that is not for this machine shows nothing. */
	if (err)
		return err == -ENOEXEC ? -ENOENT : err;
	if (!elf_file_address(&elf, file->facts_offset, &file->facts_address))
		return -EINVAL;
	return file->reader->facts(&elf, &file->facts);
}

static int facts(void *context, const struct module *module, const struct runtime_reader *reader,
		 uint64_t offset, struct runtime_facts *ret, uint64_t *ret_address)
{
	struct unwind_files *files = context;
	struct open_file *file = file_of(files, module);
	int err;

	if (!file)
		return -ENOMEM;
	if (file->reader != reader || file->facts_offset != offset) {
		file->reader = reader;
		file->facts_offset = offset;
		file->facts_error = read_facts(file);
	}
	err = file->facts_error;
	if (!err) {
		*ret = file->facts;
		*ret_address = file->facts_address;
	}
	/* The process may have been at its exec, and the file may answer a later request. */
	if (file->open_error && err != -ETIMEDOUT && err != -ENOMEM)
		err = -EAGAIN;
	if (file->open_error || file->error == -ETIMEDOUT || err == -ETIMEDOUT)
		close_first(files);
	return err;
}

static int runtime(void *context, const struct module *module, const struct runtime_reader **ret)
{
	struct unwind_files *files = context;
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	struct open_file *file = file_of(files, module);
	int err;

	*ret = NULL;
	if (!file)
		return -ENOMEM;
	err = file->open_error ?: elf_file_init(&elf, &file->blob);
	err = err ?: runtime_reader_of_file(&elf, ret);
	if (file->open_error && err != -ETIMEDOUT && err != -ENOMEM)
		err = -EAGAIN; /* as for facts() */
	if (file->open_error || file->error == -ETIMEDOUT || err == -ETIMEDOUT)
		close_first(files);
	return err;
}

int unwind_files_create(const struct file_source *source, struct unwind_files **ret,
			struct unwind_maker *ret_maker)
{
	struct unwind_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->source = *source;
	*ret_maker = (struct unwind_maker){
		.page = make_page,
		.can_return = can_return,
		.code = make_code,
		.compare = compare,
		.facts = facts,
		.runtime = runtime,
		.context = files,
	};
	*ret = files;
	return 0;
}

void unwind_files_destroy(struct unwind_files *files)
{
	if (!files)
		return;
	while (files->open_count)
		close_last(files);
	free(files);
}

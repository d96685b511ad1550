/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbolizer.h"

#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "symbolize/name/demangle.h"
#include "symbolize/kernel_symbol.h"

_Static_assert(SYMBOL_FRAMES_MAX == DEBUG_FRAMES_MAX && DEBUG_FRAMES_MAX == GO_FRAMES_MAX,
	       "each of the one is one of the other");

struct symbolizer {
	struct known_files files;
	struct kernel_source kernel;
	bool no_demangle;
	char *names[SYMBOL_FRAMES_MAX]; /* strings of the last call that had to be allocated */
	char kernel_words[KERNEL_WORDS_BYTES];
};

int symbolizer_create(const struct file_source *source, struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return -ENOMEM;
	known_files_init(&symbolizer->files, source, SYMBOLIZER_BYTES_MAX);
	*ret = symbolizer;
	return 0;
}

void symbolizer_destroy(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	known_files_deinit(&symbolizer->files);
	for (unsigned i = 0; i < SYMBOL_FRAMES_MAX; i++)
		free(symbolizer->names[i]);
	free(symbolizer);
}

void symbolizer_set_kernel_source(struct symbolizer *symbolizer, const struct kernel_source *source)
{
	symbolizer->kernel = *source;
}

void symbolizer_set_no_demangle(struct symbolizer *symbolizer)
{
	symbolizer->no_demangle = true;
}

void symbolizer_forget(struct symbolizer *symbolizer, const struct module *module)
{
	known_files_forget(&symbolizer->files, module);
}

size_t symbolizer_file_count(const struct symbolizer *symbolizer)
{
	return symbolizer->files.files.size;
}

struct symbolizer_counts symbolizer_counts(const struct symbolizer *symbolizer)
{
	return symbolizer->files.counts;
}

void symbolizer_set_budget(struct symbolizer *symbolizer, uint64_t size_bytes)
{
	known_files_set_budget(&symbolizer->files, size_bytes);
}

/*
 * Set the name of frame i to `demangled`, which is taken over, or if that is NULL to `name`. A name
 * that is too long is truncated.
 */
static int set_name(struct symbolizer *symbolizer, uint32_t i, const char *name, char *demangled,
		    struct symbol_frame *frame)
{
	free(symbolizer->names[i]);
	symbolizer->names[i] = demangled;
	if (!demangled && strnlen(name, SYMBOL_NAME_BYTES_MAX + 1) > SYMBOL_NAME_BYTES_MAX) {
		symbolizer->names[i] = strndup(name, SYMBOL_NAME_BYTES_MAX);
		if (!symbolizer->names[i])
			return -ENOMEM;
	}
	frame->name = symbolizer->names[i] ? symbolizer->names[i] : name;
	return 0;
}

/* Get the frames of the function table of Go. */
static int go_frames(struct known_file *file, uint64_t address,
		     struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct go_frame found[GO_FRAMES_MAX];
	int err = symbol_file_go_inlines(file->symbols, address, found, ret_count);

	for (uint32_t i = 0; i < *ret_count; i++)
		frames[i] = (struct debug_frame){
			.name = found[i].name, .file = found[i].file, .line = found[i].line};
	return err;
}

/* Get the frames of the debug info, or of Go's. If there are none, sets one empty frame. */
static int debug_frames(struct known_file *file, uint64_t address,
			struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	int err = 0;

	*ret_count = 0;
	if (file->debug)
		err = debug_info_frames(file->debug, address, frames, ret_count);
	if (!err && !*ret_count)
		err = go_frames(file, address, frames, ret_count);
	if (!err && !*ret_count) {
		frames[0] = (struct debug_frame){.name = ""};
		*ret_count = 1;
	}
	return err;
}

/* Merge two sources: inlined calls and lines of the debug info, and the function's symbol. */
static int fill_frames(struct symbolizer *symbolizer, const struct known_file *file,
		       uint64_t address, const char *module, const struct debug_frame *from,
		       struct symbol_frame *frames, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		const char *name = from[i].name, *symbol = NULL;

		frames[i] = (struct symbol_frame){
			.module = module,
			.file = from[i].file,
			.decl_file = from[i].decl_file,
			.line = from[i].line,
			.inlined = i + 1 < count,
		};
		if (i + 1 == count)
			symbol = symbol_file_find(file->symbols, address, &frames[i].symbol_offset);
		/* Else an inlined call of the function, which has no symbol, would have no file. */
		if (symbol && !*name)
			frames[i].decl_file = symbol_file_source(file->symbols);
		name = symbol ?: name;
		err = set_name(symbolizer, i, name, symbolizer->no_demangle ? NULL : demangle(name),
			       &frames[i]);
	}
	return err;
}

int symbolizer_native(struct symbolizer *symbolizer, const struct module *module,
		      uint64_t file_offset, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		      uint32_t *ret_count)
{
	struct debug_frame debug[DEBUG_FRAMES_MAX];
	struct known_file *file;
	uint64_t address;
	uint32_t count;
	int err;

	err = known_files_get(&symbolizer->files, module, &file);
	if (err)
		return err;
	if (!file->symbols || !symbol_file_address(file->symbols, file_offset, &address)) {
		frames[0] = (struct symbol_frame){.name = "", .module = module->path};
		*ret_count = 1;
		return 0;
	}
	err = debug_frames(file, address, debug, &count);
	err = err ?: fill_frames(symbolizer, file, address, module->path, debug, frames, count);
	if (err)
		return err;
	known_files_settle(&symbolizer->files, file);
	*ret_count = count;
	return 0;
}

int symbolizer_range(struct symbolizer *symbolizer, const struct module *module,
		     uint64_t file_offset, struct function_range *ret)
{
	uint64_t address, start, end;
	struct known_file *file;
	int err = known_files_get(&symbolizer->files, module, &file);

	if (err)
		return err;
	if (!file->symbols || !symbol_file_address(file->symbols, file_offset, &address) ||
	    !symbol_file_range(file->symbols, address, &start, &end) ||
	    address - start > file_offset)
		return -ENOENT;
	*ret = (struct function_range){
		.offset = file_offset - (address - start),
		.size_bytes = end == UINT64_MAX ? end : end - start,
		.address = start,
	};
	known_files_settle(&symbolizer->files, file);
	return 0;
}

/* Query the kernel source. *ret points into symbolizer->kernel_words. */
static int kernel_symbol_at(struct symbolizer *symbolizer, uint64_t address,
			    struct kernel_symbol *ret)
{
	const struct kernel_source *kernel = &symbolizer->kernel;
	int err = -ENOENT;

	if (kernel->words)
		err = kernel->words(kernel->context, address, symbolizer->kernel_words,
				    sizeof(symbolizer->kernel_words));
	if (!err && !kernel_symbol_parse(symbolizer->kernel_words, ret))
		err = -ENOENT;
	return err;
}

/* "__pfx_" symbols are padding before functions, which contains no call. */
static bool is_padding(const struct kernel_symbol *symbol)
{
	return begins_with(symbol->name, "__pfx_");
}

int symbolizer_kernel(struct symbolizer *symbolizer, uint64_t address,
		      struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct symbol_frame frame = {.name = "", .module = "[kernel.kallsyms]"};
	struct kernel_symbol symbol;
	int err = kernel_symbol_at(symbolizer, address, &symbol);

	/*
	 * The address is a return address minus 1, unless an interrupt occurred
	 * on the first byte of a function: then it is one too low, in the
	 * padding.
	 */
	if (!err && is_padding(&symbol)) {
		err = kernel_symbol_at(symbolizer, address + 1, &symbol);
		symbol.offset--;
	}
	if (err == -ENOMEM)
		return err;
	if (!err) {
		frame.name = symbol.name;
		frame.symbol_offset = symbol.offset;
		if (symbol.module)
			frame.module = symbol.module;
	} else {
		symbolizer->files.counts.kernel_unnamed++;
	}
	frames[0] = frame;
	*ret_count = 1;
	return 0;
}

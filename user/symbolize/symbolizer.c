/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbolizer.h"

#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "symbolize/demangle.h"
#include "symbolize/kernel_symbol.h"
#include "symbolize/symbol_file.h"

/* A module that was asked for, whether or not its symbols are held at present. */
struct known_file {
	uint32_t module; /* its number */
	bool failed;	 /* for good */
	uint64_t used;	 /* the last call that did */
	struct symbol_file *symbols;
};

struct symbolizer {
	struct file_source source;
	struct kernel_source kernel;
	VEC(struct known_file) files;
	struct index_map index; /* by module number */
	uint64_t calls;
	uint64_t held_bytes, budget_bytes;
	struct symbolizer_counts counts;
	char *name; /* that of the last call, where it had to be made */
	char kernel_words[KERNEL_WORDS_BYTES];
};

int symbolizer_create(const struct file_source *source, struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->source = *source;
	symbolizer->budget_bytes = SYMBOLIZER_BYTES_MAX;
	*ret = symbolizer;
	return 0;
}

void symbolizer_destroy(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	vec_for_each (file, &symbolizer->files)
		symbol_file_destroy(file->symbols);
	vec_deinit(&symbolizer->files);
	index_map_deinit(&symbolizer->index);
	free(symbolizer->name);
	free(symbolizer);
}

void symbolizer_set_kernel_source(struct symbolizer *symbolizer, const struct kernel_source *source)
{
	symbolizer->kernel = *source;
}

struct symbolizer_counts symbolizer_counts(const struct symbolizer *symbolizer)
{
	return symbolizer->counts;
}

static bool file_is_of_module(const void *files_, uint32_t item, const void *module)
{
	const struct known_file *files = files_;

	return files[item].module == *(const uint32_t *)module;
}

/* Borrowed until the next file is added. */
static int file_of_module(struct symbolizer *symbolizer, uint32_t module, struct known_file **ret)
{
	uint64_t hash = hash_mix(module, 0);
	uint32_t item = index_map_find(&symbolizer->index, hash, file_is_of_module,
				       symbolizer->files.data, &module);
	struct known_file added = {.module = module};

	if (item == INDEX_MAP_NONE) {
		item = (uint32_t)symbolizer->files.size;
		if (vec_push(&symbolizer->files, added))
			return -ENOMEM;
		if (index_map_insert(&symbolizer->index, hash, item)) {
			symbolizer->files.size--;
			return -ENOMEM;
		}
		symbolizer->counts.files++;
	}
	*ret = &symbolizer->files.data[item];
	return 0;
}

static void make_room(struct symbolizer *symbolizer, const struct known_file *but)
{
	while (symbolizer->held_bytes > symbolizer->budget_bytes) {
		struct known_file *oldest = NULL;

		vec_for_each (file, &symbolizer->files) {
			if (file->symbols && file != but && (!oldest || file->used < oldest->used))
				oldest = file;
		}
		if (!oldest)
			return;
		symbolizer->held_bytes -= symbol_file_bytes(oldest->symbols);
		symbol_file_destroy(oldest->symbols);
		oldest->symbols = NULL;
		symbolizer->counts.dropped++;
	}
}

void symbolizer_set_budget(struct symbolizer *symbolizer, uint64_t size_bytes)
{
	symbolizer->budget_bytes = size_bytes;
	make_room(symbolizer, NULL);
}

/* Read the symbols of a file, for the first time or once more. */
static int file_load(struct symbolizer *symbolizer, const struct module *module,
		     struct known_file *file)
{
	CLEANUP(blob_close) struct blob blob = {0};
	bool again = file->used;
	int err;

	err = symbolizer->source.open_module(symbolizer->source.context, module, &blob);
	if (err) {
		file->failed = err != -ENOMEM;
		symbolizer->counts.without_file += file->failed;
		return err;
	}
	err = symbol_file_create(&blob, &file->symbols);
	if (err) {
		file->failed = err != -ENOMEM;
		symbolizer->counts.refused += file->failed;
		return err;
	}
	if (!again && !symbol_file_count(file->symbols))
		symbolizer->counts.without_names++;
	symbolizer->held_bytes += symbol_file_bytes(file->symbols);
	make_room(symbolizer, file);
	return 0;
}

/* Show a name, cut where it is too long, or what was made of it, which is taken over. */
static int set_name(struct symbolizer *symbolizer, const char *name, char *demangled,
		    struct symbol_frame *frame)
{
	free(symbolizer->name);
	symbolizer->name = demangled;
	if (!demangled && strnlen(name, SYMBOL_NAME_BYTES_MAX + 1) > SYMBOL_NAME_BYTES_MAX) {
		symbolizer->name = strndup(name, SYMBOL_NAME_BYTES_MAX);
		if (!symbolizer->name)
			return -ENOMEM;
	}
	frame->name = symbolizer->name ? symbolizer->name : name;
	return 0;
}

int symbolizer_native(struct symbolizer *symbolizer, const struct module *module,
		      uint64_t file_offset, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		      uint32_t *ret_count)
{
	struct symbol_frame frame = {.name = "", .module = module->path};
	struct known_file *file;
	const char *name = NULL;
	int err;

	err = file_of_module(symbolizer, module->number, &file);
	if (err)
		return err;
	if (!file->symbols && !file->failed && file_load(symbolizer, module, file) == -ENOMEM)
		return -ENOMEM;
	file->used = ++symbolizer->calls;
	if (file->symbols)
		name = symbol_file_find(file->symbols, file_offset, &frame.symbol_offset);
	if (name) {
		err = set_name(symbolizer, name, demangle(name), &frame);
		if (err)
			return err;
	}
	frames[0] = frame;
	*ret_count = 1;
	return 0;
}

int symbolizer_kernel(struct symbolizer *symbolizer, uint64_t address,
		      struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct symbol_frame frame = {.name = "", .module = "[kernel.kallsyms]"};
	const struct kernel_source *kernel = &symbolizer->kernel;
	struct kernel_symbol symbol;
	int err = -ENOENT;

	if (kernel->words)
		err = kernel->words(kernel->context, address, symbolizer->kernel_words,
				    sizeof(symbolizer->kernel_words));
	if (err == -ENOMEM)
		return err;
	if (!err && kernel_symbol_parse(symbolizer->kernel_words, &symbol)) {
		frame.name = symbol.name;
		frame.symbol_offset = symbol.offset;
		if (symbol.module)
			frame.module = symbol.module;
	} else {
		symbolizer->counts.kernel_unnamed++;
	}
	frames[0] = frame;
	*ret_count = 1;
	return 0;
}

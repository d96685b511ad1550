/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_readers.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "runtimes/perl/perl_reader.h"
#include "runtimes/php/php_reader.h"
#include "runtimes/ruby/ruby_reader.h"
#include "runtimes/runtime_symbols.h"
#include "runtimes/v8/v8_reader.h"

static const struct runtime_reader *const readers[] = {&cpython_reader, &php_reader, &ruby_reader,
						       &hotspot_reader, &v8_reader,  &perl_reader};

const struct runtime_reader *runtime_reader_of(const struct engine *engine)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (readers[i]->engine == engine)
			return readers[i];
	}
	return NULL;
}

const struct runtime_reader *runtime_reader_named(const char *engine)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (!strcmp(readers[i]->engine->name, engine))
			return readers[i];
	}
	return NULL;
}

int runtime_reader_of_file(const struct elf_file *elf, const struct runtime_reader **ret)
{
	struct runtime_symbol symbols[ARRAY_SIZE(readers)] = {0};
	int err;

	*ret = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		symbols[i].name = readers[i]->symbol;
	err = runtime_symbols_find_exported(elf, symbols, ARRAY_SIZE(symbols));
	/* A static program exports nothing. */
	if (err)
		return err == -ENOENT ? 0 : err;
	for (size_t i = 0; i < ARRAY_SIZE(readers) && !*ret; i++) {
		if (symbols[i].is_found)
			*ret = readers[i];
	}
	return 0;
}

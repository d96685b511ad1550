/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_readers.h"

#include <string.h>

#include "base/scope.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/php/php_reader.h"

static const struct runtime_reader *const readers[] = {&cpython_reader, &php_reader};

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

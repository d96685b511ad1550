/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All readers of runtimes. A new one is listed in runtime_readers.c. */
#ifndef JITBPF_RUNTIMES_RUNTIME_READERS_H
#define JITBPF_RUNTIMES_RUNTIME_READERS_H

#include "runtimes/runtime_reader.h"

/* Returns the reader of a runtime, or NULL: its frames cannot be read. */
const struct runtime_reader *runtime_reader_of(const struct engine *engine);

/* As runtime_reader_of(), by the name of the engine. */
const struct runtime_reader *runtime_reader_named(const char *engine);

/*
 * Find the reader of the runtime that a file has, by the symbols that it exports. Returns 0 with
 * NULL in *ret if there is none; or a negative errno.
 */
int runtime_reader_of_file(const struct elf_file *elf, const struct runtime_reader **ret);

#endif

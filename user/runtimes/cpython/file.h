/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the file of CPython, a program or a library, says. It is the same for all processes that
 * have mapped the file, and takes some milliseconds to find.
 */
#ifndef JITBPF_RUNTIMES_CPYTHON_FILE_H
#define JITBPF_RUNTIMES_CPYTHON_FILE_H

#include "decode/elf/elf_file.h"
#include "engines/engines.h"
#include "uapi/runtime_recipe.h"

/* Addresses are those of the file. */
struct cpython_file {
	uint64_t runtime;   /* _PyRuntime */
	uint64_t code_type; /* PyCode_Type; 0: not known */
	struct engine_version version;
	struct runtime_range loops[RUNTIME_LOOPS_MAX];
	uint32_t loop_count;
	struct runtime_range unsettled; /* as in struct runtime_recipe */
};

/*
 * Returns 0; -ENOENT (the file has no interpreter, or no symbol that shows it), or another negative
 * errno. Without the version, and for one that is not known, *ret has no `unsettled`.
 */
int cpython_file_read(const struct elf_file *elf, struct cpython_file *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognizes the programs and libraries of runtimes by their file names, for the files of engines/.
 * All functions take a file name without its folder.
 */
#ifndef JITBPF_ENGINES_RUNTIME_FILE_H
#define JITBPF_ENGINES_RUNTIME_FILE_H

#include <stdbool.h>

#include "engines/engines.h"

/*
 * Returns true for a name and what releases append to it: digits, dots, a dash before them, and
 * letters of `flags` behind them: "python3.13t", "luajit-2.1.0". With library, ".so" follows, and
 * perhaps a number: "libpython3.11.so.1.0".
 */
bool runtime_file_is_program(const char *file, const char *name, const char *flags);
bool runtime_file_is_library(const char *file, const char *name, const char *flags);

/* Returns the version at the beginning of a text: up to three numbers with dots between them. */
struct engine_version runtime_file_version(const char *text);

/* The same for the text behind the first `mark` in a path that a digit follows. */
struct engine_version runtime_file_version_behind(const char *path, const char *mark);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What function() has to know: the file, and what it does not export. */
#ifndef JITBPF_RUNTIMES_V8_V8_LAYOUT_H
#define JITBPF_RUNTIMES_V8_V8_LAYOUT_H

#include "runtimes/runtime_reader.h"
#include "runtimes/v8/v8_file.h"

/* Versions of V8 whose structures are known. */
#define V8_MAJOR_MIN 10
#define V8_MAJOR_MAX 13

/* Members behind exported ones. */
#define V8_LITERAL_BEHIND_FLAGS 4 /* number of the function in its script, of 4 bytes */
#define V8_ID_BEHIND_ENDS	8 /* of a script */

/*
 * The words that identify a function: what SharedFunctionInfo says of its parameters and its number
 * in the script; the number of the script; and the length of its source. The collector moves all
 * these objects, so no address is one of them.
 */
struct runtime_check v8_function_check(const struct v8_file *file);

/* Returns false if the offsets are not those of objects as this reader knows them. */
bool v8_layout_is_known(const struct v8_file *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

/* Limits for names whose printing cannot be aborted: input length and expanded length. */
#define UNSTOPPABLE_BYTES_MAX 1024
#define UNFOLDED_BYTES_MAX    (8u << 20)

#define PLT_SUFFIX "@plt"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

typedef int (*demangler_fn)(const char *name, int options, demangle_callbackref add, void *context);

struct output {
	VEC(char) text;
	bool stoppable, failed;
	jmp_buf stop;
};

/*
 * Receive a piece of output. Back references let a name of 100 bytes expand to exabytes, and the
 * library has no way to abort, so the callback jumps out of it. That leaks no memory if the library
 * prints from the stack. Names for which the library needs the heap cannot be stopped in this way.
 */
static void output_add(const char *piece, size_t size_bytes, void *context)
{
	struct output *out = context;
	size_t before = out->text.size;

	if (out->failed || !size_bytes)
		return;
	if (size_bytes > DEMANGLE_OUTPUT_MAX - before ||
	    vec_reserve(&out->text, before + size_bytes + 1)) {
		out->failed = true;
		if (out->stoppable)
			longjmp(out->stop, 1);
		return;
	}
	memcpy(out->text.data + before, piece, size_bytes);
	out->text.size = before + size_bytes;
}

static char *print(demangler_fn demangler, const char *name, bool stoppable)
{
	struct output out = {.stoppable = stoppable};

	if (!setjmp(out.stop) && !demangler(name, OPTIONS, output_add, &out))
		out.failed = true;
	if (out.failed || !out.text.size) {
		vec_deinit(&out.text);
		return NULL;
	}
	out.text.data[out.text.size] = '\0';
	return out.text.data;
}

/* On average, each back reference multiplies the length by at most the cube root of 3. */
static bool unfolds_to_little(const char *name, char mark)
{
	size_t unfolded = strlen(name);

	if (unfolded > UNSTOPPABLE_BYTES_MAX)
		return false;
	for (; unfolded <= UNFOLDED_BYTES_MAX && (name = strchr(name, mark)); name++)
		unfolded += unfolded * 4 / 9 + 1;
	return unfolded <= UNFOLDED_BYTES_MAX;
}

/* Returns true if the name has non-ASCII identifiers ("u" and a length), decoded on the heap. */
static bool rust_needs_heap(const char *name)
{
	for (; (name = strchr(name, 'u')); name++) {
		if (name[1] >= '0' && name[1] <= '9')
			return true;
	}
	return false;
}

static char *demangle_rust(const char *name)
{
	bool stoppable = !rust_needs_heap(name);

	if (!stoppable && !unfolds_to_little(name, 'B'))
		return NULL;
	return print(rust_demangle_callback, name, stoppable);
}

static char *demangle_d(const char *name)
{
	char *text = unfolds_to_little(name, 'Q') ? dlang_demangle(name, OPTIONS) : NULL;

	if (text && strlen(text) > DEMANGLE_OUTPUT_MAX) {
		free(text);
		return NULL;
	}
	return text;
}

static char *demangle_whole(const char *name)
{
	char *text;

	if (name[0] != '_' || !strchr("ZRDG", name[1]) || !name[1] ||
	    strnlen(name, DEMANGLE_INPUT_MAX + 1) > DEMANGLE_INPUT_MAX)
		return NULL;
	switch (name[1]) {
	case 'D':
		return demangle_d(name);
	case 'R':
		return demangle_rust(name);
	default:
		/* Rust's legacy mangling looks like C++, with a hash that should not be shown. */
		text = demangle_rust(name);
		return text ? text : print(cplus_demangle_v3_callback, name, true);
	}
}

/* Demangle the function of a PLT entry and append the suffix again. */
static char *demangle_plt(const char *name, size_t length)
{
	char *function = strndup(name, length), *joined = NULL;
	char *text = function ? demangle_whole(function) : NULL;

	if (text && asprintf(&joined, "%s" PLT_SUFFIX, text) < 0)
		joined = NULL;
	free(function);
	free(text);
	return joined;
}

char *demangle(const char *name)
{
	size_t length = strnlen(name, DEMANGLE_INPUT_MAX + 1), suffix = strlen(PLT_SUFFIX);

	if (length > suffix && length <= DEMANGLE_INPUT_MAX && ends_with(name, PLT_SUFFIX))
		return demangle_plt(name, length - suffix);
	return demangle_whole(name);
}

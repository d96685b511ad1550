/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * numba. It compiles Python with LLVM, and encodes Python's names in names of C identifiers that
 * are mangled as in C++.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"

/* Default attributes of arrays are omitted. */
static const struct spelling {
	const char *made;
	const char *meant; /* not longer than `made` */
} spellings[] = {
	{", mutable, aligned>", ">"},
	{", readonly, aligned>", ", readonly>"},
};

/* Characters that occur in pairs in names: "<locals>", "DictType[int64,int64]". */
static const char openers[] = "<[(", closers[] = ">])";

#define PAIRS (sizeof(openers) - 1)

/* Returns true if a demangled name has numba's version tag, or array types in numba's form. */
static bool is_numba(const char *text)
{
	const char *tag = strstr(text, "[abi:v");

	return (tag && tag[6] >= '0' && tag[6] <= '9') || strstr(text, "_3clocals_3e") ||
	       strstr(text, ", mutable, aligned>");
}

/* Returns the character that "_3c" at text encodes, or 0 if it encodes none. */
static char spelled_out(const char *text)
{
	char digits[3] = {text[0] == '_' ? text[1] : 0, text[0] == '_' && text[1] ? text[2] : 0};
	int c;

	if (strspn(digits, "0123456789abcdef") != 2)
		return 0;
	c = (int)strtol(digits, NULL, 16);
	return c >= ' ' && c < 0x7f && !isalnum(c) && c != '_' ? (char)c : 0;
}

/* Find the last encoded occurrence of each closing character. */
static void find_last_closers(const char *text, const char *ret[PAIRS])
{
	for (; *text; text++) {
		char c = spelled_out(text);
		const char *closer = c ? strchr(closers, c) : NULL;

		if (closer)
			ret[closer - closers] = text;
	}
}

/*
 * Decode in place, and drop tags that only distinguish compilations.
 *
 * The mangler encodes special characters in hexadecimal but leaves "_" as it
 * is, so the encoding is ambiguous: "conv_2d" is not "conv-". Only text between
 * paired brackets is decoded.
 */
static void decode(char *text)
{
	const char *last_closers[PAIRS] = {NULL};
	char *out = text;
	int depth = 0;

	find_last_closers(text, last_closers);
	while (*text) {
		char c = spelled_out(text);
		const char *opener = c ? strchr(openers, c) : NULL;
		size_t skip = 0;

		if (begins_with(text, "[abi:") && strchr(text, ']')) {
			text = strchr(text, ']') + 1;
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(spellings) && !skip; i++) {
			const struct spelling *spelling = &spellings[i];

			if (!begins_with(text, spelling->made))
				continue;
			skip = strlen(spelling->made);
			memcpy(out, spelling->meant, strlen(spelling->meant));
			out += strlen(spelling->meant);
		}
		if (opener && text < last_closers[opener - openers])
			depth++;
		if (!skip && c && depth) {
			*out++ = c;
			skip = 3;
			depth -= strchr(closers, c) != NULL;
		}
		if (!skip)
			*out++ = *text;
		text += skip ? skip : 1;
	}
	*out = 0;
}

/* Wrappers are named "cfunc._Z...", ".kernel.1___gufunc__._Z...". */
static size_t name_prefix_bytes(const char *name)
{
	const char *dot = begins_with(name, "_Z") ? NULL : strstr(name, "._Z");

	return dot ? (size_t)(dot + 1 - name) : 0;
}

static void respell(char *name, bool had_prefix)
{
	if (had_prefix || is_numba(name))
		decode(name);
}

static const struct engine_setting settings[] = {
	/* numba's default is the next variable. Debug info stops inlining, but gives lines. */
	{.name = "NUMBA_DEBUGINFO",
	 .rule = ENGINE_SETTING_DEFAULT,
	 .text = "0",
	 .debug_text = "1",
	 .follows = "NUMBA_ENABLE_PROFILING"},
	{.name = "NUMBA_ENABLE_PROFILING", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

const struct engine engine_numba = {
	.name = "numba",
	.name_prefix_bytes = name_prefix_bytes,
	.respell = respell,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

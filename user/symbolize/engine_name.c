/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/engine_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/demangle.h"

struct spelling {
	const char *made;  /* by numba's mangler */
	const char *meant; /* not longer */
};

/*
 * The mangler writes other characters in hexadecimal, but "_" as it is, so that
 * the way back is open only for words: "conv_2d" is no "conv-". Of arrays, what
 * they nearly always are goes without saying.
 */
static const struct spelling spellings[] = {
	{"_3clocals_3e", "<locals>"},	  {"_3clambda_3e", "<lambda>"},
	{"_3clistcomp_3e", "<listcomp>"}, {"_3cdictcomp_3e", "<dictcomp>"},
	{"_3csetcomp_3e", "<setcomp>"},	  {"_3cgenexpr_3e", "<genexpr>"},
	{", mutable, aligned>", ">"},	  {", readonly, aligned>", ", readonly>"},
};

static bool begins_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* numba tags each function with a version, and older ones at least describe arrays so. */
static bool is_numba(const char *text)
{
	const char *tag = strstr(text, "[abi:v");

	return (tag && tag[6] >= '0' && tag[6] <= '9') || strstr(text, "_3clocals_3e") ||
	       strstr(text, ", mutable, aligned>");
}

/* Rewrite in place, without the tags that only tell one compilation from another. */
static void respell(char *text)
{
	char *out = text;

	while (*text) {
		size_t skip = 0, i;

		if (begins_with(text, "[abi:") && strchr(text, ']')) {
			text = strchr(text, ']') + 1;
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(spellings) && !skip; i++) {
			const struct spelling *spelling = &spellings[i];

			if (!begins_with(text, spelling->made))
				continue;
			skip = strlen(spelling->made);
			memcpy(out, spelling->meant, strlen(spelling->meant));
			out += strlen(spelling->meant);
		}
		if (!skip)
			*out++ = *text;
		text += skip ? skip : 1;
	}
	*out = 0;
}

char *engine_name(const char *name)
{
	/* numba's wrappers: "cfunc._Z...", ".kernel.1___gufunc__._Z..." */
	const char *dot = begins_with(name, "_Z") ? NULL : strstr(name, "._Z");
	const char *mangled = dot ? dot + 1 : name;
	AUTO_FREE char *text = demangle(mangled);
	char *joined;

	if (!text)
		return NULL;
	if (dot || is_numba(text))
		respell(text);
	if (!dot)
		return TAKE_PTR(text);
	if (asprintf(&joined, "%.*s%s", (int)(mangled - name), name, text) < 0)
		return NULL;
	return joined;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/native_function.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"

#define DIGITS "0123456789"
#define HEX    "0123456789abcdef"
#define CLONE  " [clone "

enum numbering { NUMBER_NONE, NUMBER_MAYBE, NUMBER_ALWAYS };

/* What GCC and LLVM append to the name of a function for another piece of its code. */
static const struct ending {
	const char *text;
	enum numbering numbering; /* ".0" follows */
	enum code_tier tier;
} endings[] = {
	{".cold", NUMBER_MAYBE, CODE_TIER_COLD},    {".part", NUMBER_ALWAYS, CODE_TIER_PART},
	{".__part", NUMBER_ALWAYS, CODE_TIER_PART}, {".constprop", NUMBER_ALWAYS, CODE_TIER_CLONE},
	{".isra", NUMBER_ALWAYS, CODE_TIER_CLONE},  {".localalias", NUMBER_MAYBE, CODE_TIER_PLAIN},
};

/* Numbers by which a linker tells functions of one name apart. */
static const char *const build_numbers[] = {".llvm", ".lto_priv", ".__uniq"};

/* Languages that join the names of a package and a function by a dot. */
static const char *const dotted[] = {".go", ".zig", ".odin"};

static bool has_dotted_names(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(dotted); i++) {
		if (ends_with(file, dotted[i]))
			return true;
	}
	return false;
}

/* Returns the length of a name without ".0" at its end; 0 if it has none. */
static size_t before_number(const char *name, size_t bytes)
{
	size_t at = bytes;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at && at < bytes && name[at - 1] == '.' ? at - 1 : 0;
}

/* Returns the length of a name without a text at its end; 0 if it ends otherwise, or is the text.
 */
static size_t before_text(const char *name, size_t bytes, const char *text)
{
	size_t text_bytes = strlen(text);

	return bytes > text_bytes && !memcmp(name + bytes - text_bytes, text, text_bytes)
		       ? bytes - text_bytes
		       : 0;
}

/*
 * Returns the length of a name without its last ending, and raises *tier to that of the ending;
 * 0 if it has none.
 */
static size_t before_ending(const char *name, size_t bytes, enum code_tier *tier)
{
	size_t number = before_number(name, bytes);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		const struct ending *ending = &endings[i];
		size_t rest = 0;

		if (ending->numbering != NUMBER_NONE && number)
			rest = before_text(name, number, ending->text);
		if (!rest && ending->numbering != NUMBER_ALWAYS)
			rest = before_text(name, bytes, ending->text);
		if (rest) {
			*tier = ending->tier > *tier ? ending->tier : *tier;
			return rest;
		}
	}
	return 0;
}

/* As before_ending(), for " [clone .cold]" at the end of a demangled name. */
static size_t before_clone(const char *name, size_t bytes, enum code_tier *tier)
{
	const char *open = bytes && name[bytes - 1] == ']' ? memrchr(name, '[', bytes) : NULL;
	size_t at = open ? (size_t)(open - name) : 0, inside;

	/* The blank behind "[clone" stands for the function. */
	if (at < 2 || !bytes_begin_with(open - 1, bytes - at + 1, CLONE))
		return 0;
	open += strlen(CLONE) - 2;
	inside = (size_t)(name + bytes - 1 - open);
	do
		inside = before_ending(open, inside, tier);
	while (inside > 1);
	return inside ? at - 1 : 0;
}

enum code_tier native_to_function(char *name, const char *file)
{
	enum code_tier tier = CODE_TIER_PLAIN, raised = tier;
	size_t bytes = strlen(name), rest = bytes;

	if (has_dotted_names(file))
		return CODE_TIER_PLAIN;
	while (rest) {
		bytes = rest;
		tier = raised;
		rest = before_ending(name, bytes, &raised) ?: before_clone(name, bytes, &raised);
	}
	name[bytes] = 0;
	return tier;
}

/* --- numbers of builds ---------------------------------------------------------------- */

/* Remove `bytes` at `at`. */
static void cut(char *at, size_t bytes)
{
	memmove(at, at + bytes, strlen(at + bytes) + 1);
}

/* ".llvm.123", at the end or before " [clone" or "]", becomes ".llvm". */
static void unnumber_builds(char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(build_numbers); i++) {
		char *at = name;

		while ((at = strstr(at, build_numbers[i]))) {
			size_t digits;

			at += strlen(build_numbers[i]);
			digits = *at == '.' ? strspn(at + 1, DIGITS) : 0;
			if (digits && strchr(" ].", at[1 + digits]))
				cut(at, 1 + digits);
		}
	}
}

/* "17h0123456789abcdefE" of a linkage name of Rust becomes "E". */
static void unnumber_rust(char *name)
{
	char *at = begins_with(name, "_ZN") ? strstr(name, "17h") : NULL;

	for (; at; at = strstr(at + 1, "17h")) {
		if (strspn(at + 3, HEX) == 16 && at[19] == 'E') {
			cut(at, 19);
			return;
		}
	}
}

/* The kernel names a BPF program by a hash of its instructions. */
static void unnumber_bpf(char *name)
{
	size_t prefix = strlen("bpf_prog_");

	if (begins_with(name, "bpf_prog_") && strspn(name + prefix, HEX) == 16 &&
	    name[prefix + 16] == '_' && name[prefix + 17])
		cut(name + prefix, 17);
}

void native_unnumber(char *name)
{
	unnumber_builds(name);
	unnumber_rust(name);
	unnumber_bpf(name);
}

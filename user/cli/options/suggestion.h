/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * "Did you mean ...?" for a name that a user mistyped. The suggested name is only printed, never
 * used instead.
 */
#ifndef JITBPF_CLI_OPTIONS_SUGGESTION_H
#define JITBPF_CLI_OPTIONS_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The best name so far. Zero-initialized with the word; names are borrowed. A word of one character
 * has no suggestion.
 */
struct suggestion {
	const char *word;
	size_t word_bytes;
	const char *near, *begins; /* one edit away; begins with the word */
	bool near_many, begins_many;
};

/* Add a name. A name that is added again counts once. */
void suggestion_add(struct suggestion *suggestion, const char *name);

/*
 * Returns the only name that is one edit away from the word: a character more, fewer, other, or two
 * exchanged. If there is none, returns the only name that begins with the word, or NULL.
 */
const char *suggestion_get(const struct suggestion *suggestion);

#endif

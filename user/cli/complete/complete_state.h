/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A completion, for the files that implement it. */
#ifndef JITBPF_CLI_COMPLETE_COMPLETE_STATE_H
#define JITBPF_CLI_COMPLETE_COMPLETE_STATE_H

#include "base/vec.h"
#include "cli/complete/complete.h"
#include "cli/options/options.h"

struct candidate {
	char *value;
	const char *about; /* trusted, or NULL */
	char *comm;	   /* untrusted, or NULL */
};

struct completion {
	const char *shell, *type;
	const char *word;      /* to be completed */
	size_t fixed;	       /* bytes of it that each candidate begins with */
	size_t operands;       /* number of operands before it */
	const char *recording; /* the last recording among them, or NULL */
	char kind[512];	       /* the first line */
	VEC(struct candidate) candidates;
	bool failed; /* out of memory */
};

/*
 * Add a candidate for the part of the word after its fixed part, if the candidate begins with that
 * part. Takes ownership of comm. about: see struct candidate.
 */
void completion_add(struct completion *completion, const char *rest, const char *about, char *comm);

/* Returns how many bytes of a text have only signs that no shell expands. */
size_t completion_plain_bytes(const char *text);

/* Add to the first line. */
void completion_say_kind(struct completion *completion, const char *kind);

/* complete_choice.c: add the users, or the cgroups and units, that have processes. */
void completion_add_users(struct completion *completion);
void completion_add_cgroups(struct completion *completion);

/* complete_values.c: add the candidates of a kind, and those for the value of an option. */
void completion_add_candidates(struct completion *completion, enum candidates candidates,
			       const char *const *words);
void completion_add_values(struct completion *completion, const struct option_spec *option);

#endif

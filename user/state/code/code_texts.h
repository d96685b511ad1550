/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Class, source and module of code. Many methods have the same, so the regions of an account share
 * them. Single-threaded.
 */
#ifndef JITBPF_STATE_CODE_CODE_TEXTS_H
#define JITBPF_STATE_CODE_CODE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/record/code_event.h"

#define CODE_TEXTS    3	     /* class, source and module, in this order */
#define CODE_NO_TEXTS "\0\0" /* with the NUL of the literal: three empty texts */

struct code_shared_texts; /* see code_texts.c */

/*
 * A hash table with a bounded search: whoever makes many texts with the same hash costs little, but
 * has equal ones more than once. Zero-initialized is empty.
 */
struct code_text_set {
	struct code_shared_texts **slots;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t size;
};

/* Returns the bytes of a string up to its first NUL, without it. */
size_t code_string_length(const struct code_string *string);

/*
 * Returns the memory that a set takes for further texts; 0 if it has them, or if they are empty.
 * Sets *ret_bytes to the bytes that it adds: those of the texts, with a NUL for each, or 0.
 */
uint64_t code_texts_needed(const struct code_text_set *set,
			   const struct code_string texts[CODE_TEXTS], uint64_t *ret_bytes);

/*
 * Find or add texts. Returns 0 with a reference in *ret: the texts, one behind the other, each with
 * a NUL; or -ENOMEM.
 */
int code_texts_get(struct code_text_set *set, const struct code_string texts[CODE_TEXTS],
		   const char **ret);

/*
 * Put back a reference. Returns the memory that is free again, with its bytes of texts in
 * *ret_bytes; both are 0 if others have a reference, too.
 */
uint64_t code_texts_put(struct code_text_set *set, const char *texts, uint64_t *ret_bytes);

/* Frees the table, when all references have been put back. */
void code_text_set_deinit(struct code_text_set *set);

#endif

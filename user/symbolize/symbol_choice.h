/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbols as in a symbol table, and the preference between those at one address. */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_CHOICE_H
#define JITBPF_SYMBOLIZE_SYMBOL_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOL_IDS_MAX (1u << 30) /* ids are smaller */
#define SYMBOL_NONE    UINT32_MAX /* the id of no symbol */

/* Limit for comparing names, whose length is not bounded. */
#define SYMBOL_NAME_COMPARED_MAX 1023

enum symbol_scope {
	SYMBOL_LOCAL,
	SYMBOL_WEAK,
	SYMBOL_GLOBAL,
};

/* A symbol as in a symbol table. */
struct symbol_span {
	uint64_t start;
	uint64_t size_bytes; /* 0: unsized */
	enum symbol_scope scope;
	const char *name;
	uint32_t id; /* of a span that symbol_map_find() found */
};

/* Reads a symbol. Its name stays valid until the next call. Returns false if it is unreadable. */
struct symbol_reader {
	bool (*read)(void *context, uint32_t id, struct symbol_span *ret);
	void *context;
};

/*
 * Returns the preference for a symbol as a number; larger is better. It does not depend on the
 * order of the table: non-local before local; fewer leading underscores (mmap before __mmap);
 * global before weak; sized before unsized; shorter.
 */
uint32_t symbol_weight(const struct symbol_span *span);

/* The preferred symbol of those that were offered: by weight, then in alphabetical order. */
struct symbol_choice {
	const struct symbol_reader *reader; /* borrowed */
	uint32_t id, weight;		    /* id SYMBOL_NONE: there is none */
	char name[SYMBOL_NAME_COMPARED_MAX + 1];
};

/* Offer a symbol. It is left out if it cannot be read. */
void symbol_choice_offer(struct symbol_choice *choice, uint32_t id);

#endif

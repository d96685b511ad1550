/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_choice.h"

#include <string.h>

uint32_t symbol_weight(const struct symbol_span *span)
{
	uint32_t length = (uint32_t)strnlen(span->name, SYMBOL_NAME_COMPARED_MAX);
	uint32_t underscores = 0;

	while (underscores < 7 && span->name[underscores] == '_')
		underscores++;
	return (uint32_t)(span->scope != SYMBOL_LOCAL) << 15 | (7 - underscores) << 12 |
	       (uint32_t)(span->scope == SYMBOL_GLOBAL) << 11 |
	       (uint32_t)(span->size_bytes > 0) << 10 | (SYMBOL_NAME_COMPARED_MAX - length);
}

void symbol_choice_offer(struct symbol_choice *choice, uint32_t id)
{
	struct symbol_span span;
	uint32_t weight;

	if (!choice->reader->read(choice->reader->context, id, &span))
		return;
	weight = symbol_weight(&span);
	if (choice->id != SYMBOL_NONE &&
	    (weight < choice->weight ||
	     (weight == choice->weight &&
	      strncmp(span.name, choice->name, SYMBOL_NAME_COMPARED_MAX) >= 0)))
		return;
	choice->id = id;
	choice->weight = weight;
	choice->name[0] = '\0';
	strncat(choice->name, span.name, SYMBOL_NAME_COMPARED_MAX);
}

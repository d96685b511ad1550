/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/paragraph.h"

#include <string.h>

void paragraph_put(struct text *text, const char *words, uint32_t at, uint32_t indent,
		   uint32_t limit)
{
	uint32_t column = at;

	while (*words) {
		size_t bytes = strcspn(words, " "), spaces = strspn(words + bytes, " ");

		text_put(text, words, bytes);
		column += (uint32_t)bytes;
		words += bytes + spaces;
		if (!*words)
			break;
		if (limit && column + 1 + strcspn(words, " ") > limit) {
			text_printf(text, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			text_put(text, " ", 1);
			column++;
		}
	}
}

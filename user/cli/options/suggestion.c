/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/suggestion.h"

#include <string.h>

/* Returns true if the two words differ in one edit. */
static bool is_near(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t same = 0;

	if (a_bytes > b_bytes)
		return is_near(b, b_bytes, a, a_bytes);
	while (same < a_bytes && a[same] == b[same])
		same++;
	if (b_bytes == a_bytes + 1)
		return !memcmp(a + same, b + same + 1, a_bytes - same);
	if (b_bytes != a_bytes || same == a_bytes)
		return false;
	if (!memcmp(a + same + 1, b + same + 1, a_bytes - same - 1))
		return true;
	return same + 1 < a_bytes && a[same] == b[same + 1] && a[same + 1] == b[same] &&
	       !memcmp(a + same + 2, b + same + 2, a_bytes - same - 2);
}

/* Add a candidate. A name that is given again is not another one. */
static void add(const char **one, bool *many, const char *name)
{
	*many |= *one && strcmp(*one, name) != 0;
	*one = name;
}

void suggestion_add(struct suggestion *suggestion, const char *name)
{
	size_t bytes = suggestion->word_bytes, name_bytes = strlen(name);

	if (bytes < 2)
		return;
	if (is_near(suggestion->word, bytes, name, name_bytes))
		add(&suggestion->near, &suggestion->near_many, name);
	if (name_bytes > bytes && !memcmp(suggestion->word, name, bytes))
		add(&suggestion->begins, &suggestion->begins_many, name);
}

const char *suggestion_get(const struct suggestion *suggestion)
{
	if (suggestion->near)
		return suggestion->near_many ? NULL : suggestion->near;
	return suggestion->begins_many ? NULL : suggestion->begins;
}

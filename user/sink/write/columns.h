/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Untrusted names in the columns of a table, for terminals. As with text_put_name(), nothing in a
 * name can control a terminal. A name that is too long is shortened in the middle, since the ends
 * of long names differ: "std::map<...>::insert". Marks that combine become '?', since any number of
 * them takes no column.
 */
#ifndef JITBPF_SINK_WRITE_COLUMNS_H
#define JITBPF_SINK_WRITE_COLUMNS_H

#include <stdint.h>

#include "sink/write/text.h"

#define COLUMNS_ANY UINT32_MAX /* a width without a limit */

/* Returns how many columns a name takes if it is not shortened; at most `limit`. */
uint32_t columns_of_name(const char *name, uint32_t limit);

/*
 * Put a name, shortened to `columns` (at least 4). Returns the number of columns used.
 */
uint32_t columns_put_name(struct text *text, const char *name, uint32_t columns);

/* The same, with spaces after the name up to `columns`. */
void columns_put_padded(struct text *text, const char *name, uint32_t columns);

#endif

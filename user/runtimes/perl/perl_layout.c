/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_layout.h"

#include <stddef.h>

#include "base/scope.h"

/* In the order of struct perl_layout. */
static const struct perl_layout layouts[] = {
	{536, 184, 185, 347, 195},
	{540, 187, 188, 350, 198},
};

const struct perl_layout *perl_layout_of(const struct engine_version *version)
{
	uint32_t wanted = version->parts > 1 ? version->part[0] * 100u + version->part[1] : 0;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].version == wanted)
			return &layouts[i];
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_layout.h"

#include <stddef.h>

#include "base/scope.h"

/* In the order of struct ruby_layout. */
static const struct ruby_layout layouts[] = {
	{301, 64, 40, 120, 168, 176, true, true, 0, 0, 1u << 12, true},
	{303, 56, 48, 112, 160, 168, false, false, 152, 128, 1u << 12, false},
};

const struct ruby_layout *ruby_layout_of(const struct engine_version *version)
{
	uint32_t wanted = version->parts > 1 ? version->part[0] * 100u + version->part[1] : 0;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].version == wanted)
			return &layouts[i];
	}
	return NULL;
}

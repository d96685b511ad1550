/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_layout.h"

#include "base/scope.h"
#include "uapi/runtime_recipe.h"

#define NONE RUNTIME_NO_OFFSET

/* In the order of struct php_layout. */
static const struct php_layout layouts[] = {
	{704, 432, 488, 60, 64, 136, 144, 64, 160, NONE},
	{800, 432, 488, 68, 72, 144, 152, NONE, NONE, NONE},
	{801, 432, 488, 68, 72, 144, 152, 56, 152, 172},
	{802, 432, 488, 80, 88, 152, 160, 56, 152, 180},
	{803, 432, 488, 76, 80, 144, 152, 56, 152, 172},
	{804, 432, 488, 96, 104, 168, 176, 56, 152, 188},
	{805, 456, 512, 96, 104, 168, 176, 56, 152, 188},
};

const struct php_layout *php_layout_of(const struct engine_version *version)
{
	uint32_t wanted = version->parts > 1 ? version->part[0] * 100u + version->part[1] : 0;

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].version == wanted)
			return &layouts[i];
	}
	return NULL;
}

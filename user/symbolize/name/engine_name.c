/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/engine_name.h"

#include <stdio.h>

#include "base/scope.h"
#include "engines/engines.h"
#include "symbolize/name/demangle.h"

char *engine_name(const char *name)
{
	size_t prefix_bytes = engine_name_prefix_bytes(name);
	AUTO_FREE char *text = demangle(name + prefix_bytes);
	char *joined;

	if (!text)
		return NULL;
	engine_respell(text, prefix_bytes);
	if (!prefix_bytes)
		return TAKE_PTR(text);
	if (asprintf(&joined, "%.*s%s", (int)prefix_bytes, name, text) < 0)
		return NULL;
	return joined;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/method_name.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/engine_name.h"

int method_name(const char *class_name, const char *name, bool readable, char **ret)
{
	AUTO_FREE char *demangled = NULL;
	char *whole;

	if (readable && strnlen(name, METHOD_NAME_PART_MAX + 1) <= METHOD_NAME_PART_MAX)
		demangled = engine_name(name);
	if (demangled)
		name = demangled;
	if (!*class_name || !*name)
		whole = strndup(name, METHOD_NAME_PART_MAX);
	else if (asprintf(&whole, "%.*s::%.*s", METHOD_NAME_PART_MAX, class_name,
			  METHOD_NAME_PART_MAX, name) < 0)
		whole = NULL;
	if (!whole)
		return -ENOMEM;
	*ret = whole;
	return 0;
}

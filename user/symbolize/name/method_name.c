/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/method_name.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/engine_name.h"

int method_name(const char *class_name, const char *name, bool readable, char **ret)
{
	AUTO_FREE char *demangled = readable ? engine_name(name) : NULL;
	char *whole;

	if (demangled)
		name = demangled;
	if (!*class_name || !*name)
		whole = strdup(name);
	else if (asprintf(&whole, "%s::%s", class_name, name) < 0)
		whole = NULL;
	if (!whole)
		return -ENOMEM;
	*ret = whole;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/v8_builtins.h"

#include <string.h>

#include "base/scope.h"
#include "base/text.h"

#define PREFIX "Builtins_"

/*
 * Beginnings of the names of called builtins whose instructions do not show how they leave: they
 * move a number of arguments that is known at run time only, or replace frames.
 */
static const char *const called[] = {"Call", "Construct", "DeoptimizationEntry_"};

static const char handler[] = "Handler"; /* the end of the name of a handler of a bytecode */

enum v8_builtin v8_builtin_of(const char *name)
{
	if (!begins_with(name, PREFIX))
		return V8_NO_BUILTIN;
	for (size_t i = 0; i < ARRAY_SIZE(called); i++) {
		if (begins_with(name + strlen(PREFIX), called[i]))
			return V8_CALLED_BUILTIN;
	}
	return ends_with(name, handler) ? V8_CALLED_BUILTIN : V8_BUILTIN;
}

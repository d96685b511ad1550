/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Julia. */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"

static const char *const prefixes[] = {"julia_", "jfptr_", "japi1_", "jlsys_", "jlplt_"};

/*
 * "julia_f_123" becomes "julia_f". Methods of f(), and their code for several types, differ in the
 * number only.
 */
static void unnumber(char *name)
{
	char *number = strrchr(name, '_');
	bool is_number = number && number[1] && !number[1 + strspn(number + 1, "0123456789")];

	for (size_t i = 0; i < ARRAY_SIZE(prefixes) && is_number; i++) {
		if (begins_with(name, prefixes[i]) && number > name + strlen(prefixes[i])) {
			*number = 0;
			return;
		}
	}
}

static const struct engine_setting settings[] = {
	{.name = "ENABLE_JITPROFILING", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

const struct engine engine_julia = {
	.name = "Julia",
	.unnumber = unnumber,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Julia. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	{.name = "ENABLE_JITPROFILING", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

const struct engine engine_julia = {
	.name = "Julia",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

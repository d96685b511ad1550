/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SpiderMonkey, if it was built with --enable-vtune. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	{.name = "JS_LOAD_VTUNE_LIB", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

const struct engine engine_spidermonkey = {
	.name = "SpiderMonkey",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

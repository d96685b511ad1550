/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every engine that links Intel's static JIT API loader (oneDNN, PHP, LLVM and others). */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	{.name = "INTEL_JIT_PROFILER64",
	 .rule = ENGINE_SETTING_REPLACES,
	 .kind = ENGINE_SETTING_SHIM},
};

const struct engine engine_jitapi = {
	.name = "JIT API",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

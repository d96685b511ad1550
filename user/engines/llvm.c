/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that use LLVM's IntelJITEventListener. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	/* The listener reports methods through the JIT API, rather than whole ELF modules. */
	{.name = "INTEL_JIT_BACKWARD_COMPATIBILITY", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

const struct engine engine_llvm = {
	.name = "LLVM",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

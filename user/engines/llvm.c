/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that use LLVM's IntelJITEventListener. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	/* The listener reports methods through the JIT API, rather than whole ELF modules. */
	{"INTEL_JIT_BACKWARD_COMPATIBILITY", ENGINE_SETTING_DEFAULT, ENGINE_SETTING_TEXT, "1"},
};

const struct engine engine_llvm = {
	.name = "LLVM",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

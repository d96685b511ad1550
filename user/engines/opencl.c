/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Intel's OpenCL runtime for CPUs. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	{"CL_CONFIG_USE_VTUNE", ENGINE_SETTING_DEFAULT, ENGINE_SETTING_TEXT, "True"},
};

const struct engine engine_opencl = {
	.name = "OpenCL",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};

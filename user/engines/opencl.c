/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Intel's OpenCL runtime for CPUs. */
#include "base/scope.h"
#include "engines/engines.h"

static const struct engine_setting settings[] = {
	/* Also adds debug info, and code that keeps the ids of work items for a debugger. */
	{.name = "CL_CONFIG_USE_VTUNE", .debug_text = "True"},
};

const struct engine engine_opencl = {
	.name = "OpenCL",
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
	.option = "Intel's OpenCL: --jit-debug, which makes its kernels slower",
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Erlang's virtual machine, BEAM. With +JPperf, it writes a jitdump file. */
#include <string.h>

#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return !strcmp(file, "beam.smp") || !strcmp(file, "beam");
}

/* From the folder of the run-time system, whose releases are those of OTP minus 12: erts-13.1.5. */
static struct engine_version version(const char *path)
{
	struct engine_version version = runtime_file_version_behind(path, "/erts-");

	if (!version.parts)
		return version;
	return (struct engine_version){.part = {(uint16_t)(version.part[0] + 12)}, .parts = 1};
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "start it with +JPperf true, as in ERL_FLAGS=\"+JPperf true\"";
}

const struct engine engine_erlang = {
	.name = "Erlang",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
};

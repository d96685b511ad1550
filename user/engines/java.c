/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Java virtual machines of OpenJDK, which publish no code that jitbpf reads. */
#include <string.h>

#include "base/text.h"
#include "engines/engines.h"

static bool is_process(const char *comm)
{
	return begins_with(comm, "java");
}

static const char *advice(const char *command)
{
	if (strstr(command, "-XX:+PreserveFramePointer"))
		return "a JVM publishes no code that jitbpf reads";
	return "a JVM publishes no code that jitbpf reads; with -XX:+PreserveFramePointer, the "
	       "callers of its code are known";
}

const struct engine engine_java = {
	.name = "Java",
	.is_process = is_process,
	.advice = advice,
};

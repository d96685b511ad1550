/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Java virtual machines of OpenJDK, which publish code through our agent only. */
#include <string.h>

#include "base/text.h"
#include "engines/engines.h"

static bool is_process(const char *comm)
{
	return begins_with(comm, "java");
}

static const char *advice(const char *command)
{
	if (strstr(command, "libjitbpf-jvmti"))
		return "the JVM has not published this code, although it has the agent";
	return "a JVM publishes its code with -agentpath:/PATH/OF/libjitbpf-jvmti.so";
}

const struct engine engine_java = {
	.name = "Java",
	.is_process = is_process,
	.advice = advice,
};

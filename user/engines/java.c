/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Java virtual machines of OpenJDK. They publish code only through our agent, which agent/jvm/ and
 * agent/launch/java_command.h load into them.
 */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"

/*
 * A virtual thread that continues has only a few of its frames on the stack of its carrier. The
 * outermost of these frames returns to this code, which copies further frames. Java 21 uses other
 * names than later releases.
 */
static bool is_return_barrier(const char *name)
{
	return begins_with(name, "cont_returnBarrier") ||
	       begins_with(name, "Cont thaw return barrier");
}

/* A virtual thread begins here, on the stack of its carrier. */
static bool is_thread_start(const char *name)
{
	return begins_with(name, "jdk.internal.vm.Continuation.enterSpecial");
}

/*
 * A method's name contains its class and a dot. Names of the virtual machine's own code have no
 * dot.
 */
static enum engine_frames frames(const char *name)
{
	if (!strcmp(name, "Interpreter"))
		return ENGINE_FRAMES_INTERPRETER;
	if (!strcmp(name, "ExceptionBlob"))
		return ENGINE_FRAMES_PUSHED;
	if (is_return_barrier(name))
		return ENGINE_FRAMES_RETURNED_TO;
	if (is_thread_start(name))
		return ENGINE_FRAMES_FIRST;
	return strchr(name, '.') ? ENGINE_FRAMES_ONE : ENGINE_FRAMES_ANY;
}

static const char *advice(const char *command)
{
	if (strstr(command, "libjitbpf-jvmti"))
		return "the JVM has not published this code, although it has the agent";
	return "a JVM publishes its code with our agent: 'record' loads it into chosen processes, "
	       "its command and, with --attach-jvms, all JVMs, or says why it could not";
}

/*
 * With this option, HotSpot also records inlined methods between safepoints, for an agent that is
 * loaded later. The machine code stays the same. A JVM prints a line about the variable.
 */
static const struct engine_setting settings[] = {
	{
		.name = "JAVA_TOOL_OPTIONS",
		.rule = ENGINE_SETTING_ADDS,
		.text = "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints",
		.only_java_lines = true,
	},
};

const struct engine engine_java = {
	.name = "Java",
	.frames = frames,
	.processes = {"java"},
	.advice = advice,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
	.option = "Java: none for jitbpf record; to publish from the start without it, "
		  "-agentpath:" ENGINE_OPTION_FOLDER "/libjitbpf-jvmti.so",
};

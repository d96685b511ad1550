/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Java virtual machines of OpenJDK. They publish code only through our agent, which agent/jvm/ and
 * agent/launch/java_command.h load into them.
 */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

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

/* --- names of functions --------------------------------------------------------------- */

#define DIGITS	     "0123456789"
#define HEX	     "0123456789abcdef"
#define LETTERS	     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define ALPHANUMERIC DIGITS LETTERS

/*
 * Classes that the JVM and the JDK generate, to call other code: numbers and addresses in their
 * names are of one run. What they call (a lambda's body, the target of a reflective call) has a
 * name of its own.
 */
static const struct generated {
	const char *class;   /* the text before the numbers */
	bool begins;	     /* the class's own name begins with it: "pkg.$Proxy1" */
	const char *between; /* characters before an address: "MH" of "LambdaForm$MH/0x1" */
} generated[] = {
	{"$$Lambda", false, ""},
	{"$$StringConcat", false, ""},
	{"$$InjectedInvoker", false, ""},
	{"java.lang.invoke.LambdaForm$", true, LETTERS},
	{"reflect.GeneratedMethodAccessor", true, ""},
	{"reflect.GeneratedConstructorAccessor", true, ""},
	{"reflect.GeneratedSerializationConstructorAccessor", true, ""},
	{"$Proxy", true, ""},
};

/* What libraries append to a class, to name the class that they make of it. */
static const struct numbered {
	const char *before, *digits;
} numbered[] = {
	{"/0x", HEX}, /* any hidden class */
	{"CGLIB$$", HEX},
	{"$HibernateProxy$", ALPHANUMERIC},
	{"$MockitoMock$", DIGITS},
};

/* Remove the text from `from` up to `to`, which is in the same string. */
static void cut(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

/* Returns the end of "/0x7f12", or of "/123456" before Java 17; `at` itself without either. */
static const char *after_address(const char *at)
{
	size_t hex = begins_with(at, "/0x") ? strspn(at + 3, HEX) : 0;
	size_t digits = *at == '/' && !hex ? strspn(at + 1, DIGITS) : 0;

	return hex ? at + 3 + hex : digits ? at + 1 + digits : at;
}

/* Returns the end of the numbers of a class of the table, `at` being the text after its name. */
static const char *after_numbers(const char *at)
{
	at += *at == '$' && strspn(at + 1, DIGITS) ? 1 : 0; /* "$$Lambda$14" */
	return after_address(at + strspn(at, DIGITS));
}

/* "jdk.proxy2.$Proxy7" becomes "jdk.proxy.$Proxy7": the package is numbered by the class loader. */
static void cut_package_number(char *name)
{
	size_t before = strlen("jdk.proxy"), digits = 0;

	if (begins_with(name, "jdk.proxy"))
		digits = strspn(name + before, DIGITS);
	if (digits && begins_with(name + before + digits, ".$Proxy"))
		cut(name + before, name + before + digits);
}

/* "pkg.Main$$Lambda$14/0x00007f12.run" becomes "pkg.Main$$Lambda.run". */
static enum code_tier to_function(char *name)
{
	/* Each class of the table has one of these. */
	if (!strchr(name, '$') && !strstr(name, "Generated"))
		return CODE_TIER_PLAIN;
	for (size_t i = 0; i < ARRAY_SIZE(generated); i++) {
		const struct generated *row = &generated[i];
		char *at = strstr(name, row->class);
		const char *end;

		if (!at || (row->begins && at != name && at[-1] != '.'))
			continue;
		at += strlen(row->class);
		at += strspn(at, row->between);
		end = after_numbers(at);
		if (end == at || *end != '.')
			continue;
		cut(at, end);
		cut_package_number(name);
		return CODE_TIER_GENERATED;
	}
	return CODE_TIER_PLAIN;
}

static void unnumber(char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++) {
		char *at = strstr(name, numbered[i].before);
		size_t digits;

		if (!at)
			continue;
		at += strlen(numbered[i].before);
		digits = strspn(at, numbered[i].digits);
		if (digits && at[digits] == '.')
			cut(at, at + digits);
	}
}

/* Launchers have other names than "java", which also is a launcher unless it contains the VM. */
static bool is_runtime(const char *file)
{
	return !strcmp(file, "libjvm.so") || !strcmp(file, "java");
}

/* From the folder of the JDK: java-17-openjdk-amd64, jdk-21.0.2, jdk1.8.0_292. */
static struct engine_version version(const char *path)
{
	static const char *const marks[] = {"/java-", "/jdk-", "/jdk", "/openjdk-", "/java/"};
	struct engine_version version = {0};

	for (size_t i = 0; i < ARRAY_SIZE(marks) && !version.parts; i++)
		version = runtime_file_version_behind(path, marks[i]);
	if (version.parts > 1 && version.part[0] == 1)
		version = (struct engine_version){.part = {version.part[1]}, .parts = 1};
	return version;
}

static const char *advice(const char *command, const struct engine_version *version)
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
	.is_runtime = is_runtime,
	.version = version,
	.frames = frames,
	.to_function = to_function,
	.unnumber = unnumber,
	.publisher = JITBPF_PUBLISHER_JVMTI,
	.advice = advice,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
	.option = "Java: none for jitbpf record; to publish from the start without it, "
		  "-agentpath:" ENGINE_OPTION_FOLDER "/libjitbpf-jvmti.so",
};

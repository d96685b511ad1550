/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PHP with opcache's JIT. The handlers of its interpreter are parts of one function,
 * execute_ex(), in whose frame gcc reserves stack space for JIT code. Handlers jump to JIT code,
 * and JIT code jumps back to handlers.
 */
#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

#define DIGITS "0123456789"

/*
 * php8.2, php-fpm8.2, phpdbg, lsphp and frankenphp; libphp.so and mod_php.so in servers; neither
 * phpiredis.so nor phpstorm.
 */
static bool is_runtime(const char *file)
{
	const char *name = strstr(file, "php");

	if (begins_with(file, "libphp") || begins_with(file, "mod_php"))
		return true;
	return name && !strstr(file, ".so") &&
	       (!isalpha((unsigned char)name[3]) || begins_with(name, "phpdbg"));
}

/* From "php8.2", "php-fpm8.2" or "libphp8.2.so". */
static struct engine_version version(const char *path)
{
	const char *file = path_file(path);

	return runtime_file_version(file + strcspn(file, DIGITS));
}

/* opcache is a separate library before PHP 8.5. */
static bool is_plugin(const char *file)
{
	return begins_with(file, "opcache.so");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	uint32_t release = version->parts > 1 ? version->part[0] * 100u + version->part[1] : 0;

	if (!*command && release >= 804)
		return "start it with -d opcache.jit_debug=32; PCRE's own JIT publishes nothing: "
		       "-d pcre.jit=0 turns it off";
	if (!*command && release)
		return "start it with the variables of 'jitbpf env'; PCRE's own JIT publishes "
		       "nothing: -d pcre.jit=0 turns it off";
	if (!*command)
		return "start it with the variables of 'jitbpf env'; PHP 8.4 or newer: with "
		       "-d opcache.jit_debug=32; PCRE's own JIT publishes nothing: "
		       "-d pcre.jit=0 turns it off";
	if (strstr(command, " -n "))
		return "with -n, PHP does not read jitbpf's setting: add -d opcache.jit_debug=128";
	if (strstr(command, "opcache.jit_debug="))
		return "opcache.jit_debug must be 128, or 32 for PHP 8.4 or newer";
	return "PHP 8.4 or newer needs -d opcache.jit_debug=32";
}

/* Returns the length of "-1" at the beginning of a text; 0 if it begins otherwise. */
static size_t number_bytes(const char *text)
{
	size_t digits = *text == '-' ? strspn(text + 1, DIGITS) : 0;

	return digits ? 1 + digits : 0;
}

/* Returns true for "$function$line", which PHP appends to the number of a trace. */
static bool is_place(const char *text)
{
	const char *line = strrchr(text, '$');

	return *text == '$' && line > text + 1 && line[1] && !line[1 + strspn(line + 1, DIGITS)];
}

/*
 * The traces from one place of a function, "TRACE-1$function$line", are one function,
 * "TRACE$function$line"; it is not the function itself, since a trace contains what that calls. The
 * exits of traces, "ESCAPE-1-2", are generated code. Other names, such as "TRACE-1", stay: the
 * number may be all that distinguishes two functions.
 */
static enum code_tier to_function(char *name)
{
	size_t word = begins_with(name, "TRACE-") ? 5 : begins_with(name, "ESCAPE-") ? 6 : 0;
	size_t number = word ? number_bytes(name + word) : 0;
	const char *rest = name + word + number;

	if (word == 6 && number) {
		number = number_bytes(rest);
		rest += number;
	}
	if (!number || (word == 6 ? *rest : !is_place(rest)))
		return CODE_TIER_PLAIN;
	memmove(name + word, rest, strlen(rest) + 1);
	return word == 6 ? CODE_TIER_GENERATED : CODE_TIER_TRACE;
}

static const struct engine_setting settings[] = {
	/*
	 * An ini file in the directory sets opcache.jit_debug. The empty entry
	 * before it stands for PHP's own directory.
	 */
	{.name = "PHP_INI_SCAN_DIR",
	 .rule = ENGINE_SETTING_APPENDS,
	 .kind = ENGINE_SETTING_FOLDER,
	 .text = "php"},
};

const struct engine engine_php = {
	.name = "PHP",
	.is_runtime = is_runtime,
	.version = version,
	.is_plugin = is_plugin,
	.entry_symbol = "execute_ex",
	.advice = advice,
	.without_code = "PHP's JIT is off: -d opcache.enable_cli=1 -d "
			"opcache.jit_buffer_size=64M -d opcache.jit=tracing",
	.to_function = to_function,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
	/* 32 turns on jitdump files. The JIT of PHP 8.4 has no code for the JIT API any more. */
	.option = "PHP 8.4 or newer: -d opcache.jit_debug=32",
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf env: print the environment that makes engines publish their code for a later attach. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "agent/launch/engine_env.h"
#include "agent/publisher/probe_site.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "cli/options/engine_env_options.h"
#include "engines/engines.h"
#include "run/messages/say.h"

struct env_options {
	const char *format;
	const char *shim;
	struct engine_env_choice env;
};

#define FIELD(name) offsetof(struct env_options, name)

static const struct option_spec options[] = {
	{'f', "format", OPTION_STRING, FIELD(format), "FORMAT",
	 "sh (eval \"$(jitbpf env)\"), fish (jitbpf env -f fish | source), systemd (a drop-in), or "
	 "container (options of docker or podman run) (default sh)",
	 0, 0, .candidates = CANDIDATES_WORDS,
	 .words = (const char *const[]){"sh", "fish", "systemd", "container", NULL}},
	{0, "shim", OPTION_STRING, FIELD(shim), "FILE",
	 "libjitbpf.so to use (default: the one beside this program)", 0, 0},
	ENGINE_ENV_OPTIONS(FIELD(env)),
};

/* In single quotes, only the quote itself is special. */
static void print_shell_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static int print_sh(void *context, const struct engine_env *env)
{
	printf("export %s=", env->name);
	if (env->rule == ENGINE_SETTING_APPENDS)
		printf("\"${%s-}:\"", env->name);
	else if (env->rule == ENGINE_SETTING_ADDS)
		printf("\"${%s-} \"", env->name);
	else if (env->rule == ENGINE_SETTING_DEFAULT && env->follows)
		printf("\"${%s-${%s-%s}}\"", env->name, env->follows, env->value);
	else if (env->rule == ENGINE_SETTING_DEFAULT)
		printf("\"${%s-%s}\"", env->name, env->value);
	if (env->rule != ENGINE_SETTING_DEFAULT)
		print_shell_quoted(env->value);
	putchar('\n');
	return 0;
}

/* In single quotes of fish, a backslash escapes the quote and itself. */
static void print_fish_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

static int print_fish(void *context, const struct engine_env *env)
{
	bool is_default = env->rule == ENGINE_SETTING_DEFAULT;

	if (is_default)
		printf("if set -q %s; set -gx %s \"$%s\"; ", env->name, env->name, env->name);
	if (is_default && env->follows)
		printf("else if set -q %s; set -gx %s \"$%s\"; ", env->follows, env->name,
		       env->follows);
	printf("%sset -gx %s ", is_default ? "else; " : "", env->name);
	if (env->rule == ENGINE_SETTING_APPENDS)
		printf("\"$%s:\"", env->name);
	else if (env->rule == ENGINE_SETTING_ADDS)
		printf("\"$%s \"", env->name);
	print_fish_quoted(env->value);
	puts(is_default ? "; end" : "");
	return 0;
}

static int print_systemd(void *context, const struct engine_env *env)
{
	printf("Environment=\"%s=%s", env->name, env->rule == ENGINE_SETTING_APPENDS ? ":" : "");
	for (const char *c = env->value; *c; c++) {
		if (*c == '"' || *c == '\\')
			putchar('\\');
		else if (*c == '%')
			putchar('%');
		putchar(*c);
	}
	puts("\"");
	return 0;
}

static bool has_space(const char *text)
{
	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			return true;
	}
	return false;
}

static int print_container(void *context, const struct engine_env *env)
{
	if (has_space(env->value)) {
		say("jitbpf: %s is left out: container options cannot express a value with a "
		    "space\n",
		    env->name);
		return 0;
	}
	printf("--env=%s=%s%s\n", env->name, env->rule == ENGINE_SETTING_APPENDS ? ":" : "",
	       env->value);
	return 0;
}

/* The directory is mounted at its own path, so that the values are valid in the container. */
static int print_for_container(const char *shim_path, const struct engine_env_choice *choice)
{
	int folder = path_folder_bytes(shim_path);

	if (has_space(shim_path) || strchr(shim_path, ':')) {
		say("jitbpf: %s: container options cannot express a path with a space or a "
		    "colon: install libjitbpf.so elsewhere\n",
		    shim_path);
		return -EINVAL;
	}
	printf("--volume=%.*s:%.*s:ro\n", folder, shim_path, folder, shim_path);
	return engine_env_each(shim_path, choice, print_container, NULL);
}

/* Comments, which a shell and systemd ignore. */
static void print_options(const char *shim_path)
{
	const struct engine *engine;

	puts("# Engines that need an option instead:");
	for (size_t at = 0; (engine = engine_at(at)); at++) {
		const char *option = engine->option;
		const char *folder = option ? strstr(option, ENGINE_OPTION_FOLDER) : NULL;

		if (folder)
			printf("#   %.*s%.*s%s\n", (int)(folder - option), option,
			       path_folder_bytes(shim_path), shim_path,
			       folder + strlen(ENGINE_OPTION_FOLDER));
		else if (option)
			printf("#   %s\n", option);
	}
}

static int print_as(const char *format, const char *shim_path,
		    const struct engine_env_choice *choice)
{
	int (*print)(void *context, const struct engine_env *env) = NULL;
	int err;

	if (!strcmp(format, "container"))
		return print_for_container(shim_path, choice);
	if (!strcmp(format, "sh"))
		print = print_sh;
	else if (!strcmp(format, "fish"))
		print = print_fish;
	else if (!strcmp(format, "systemd"))
		print = print_systemd;
	if (!print) {
		say("jitbpf: unknown format '%s': use sh, fish, systemd or container\n", format);
		return -EINVAL;
	}
	if (print == print_systemd)
		puts("[Service]");
	err = engine_env_each(shim_path, choice, print, NULL);
	if (!err)
		print_options(shim_path);
	return err;
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct env_options values = {0};
	struct probe_site site;
	int operand, err;

	err = options_parse(spec, argc, argv, &values, &operand);
	if (err != OPTIONS_OK)
		return err;
	if (operand < argc) {
		say("jitbpf env: unexpected operand '%s'\n", argv[operand]);
		return EXIT_USAGE;
	}
	err = probe_site_find(values.shim, &site);
	if (err) {
		say("jitbpf: %s%s%s\n", values.shim ?: "libjitbpf.so",
		    err == -ENOEXEC ? " is not a jitbpf shim, since it has no probe jitbpf:event: "
				      "give the libjitbpf.so of this version with --shim"
				    : ": ",
		    err == -ENOEXEC ? "" : strerror(-err));
		return 1;
	}
	err = print_as(values.format ?: "sh", site.path, &values.env);
	if (err)
		return EXIT_USAGE;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	say("jitbpf env: writing standard output: %s\n", strerror(errno));
	return 1;
}

const struct command_spec command_env = {
	.name = "env",
	.usage = "[options]",
	.summary = "print the environment variables that make engines publish their code",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

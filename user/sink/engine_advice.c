/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/engine_advice.h"

#include "engines/engines.h"
#include "sink/ledger_terms.h"

void engine_advice_put(struct text *text, const struct ledger_process *process, const char *command)
{
	bool any = false;

	for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
		struct engine_file runtime = engine_of_runtime_number(process->runtimes[i]);
		const struct engine *engine = runtime.engine;

		if (!engine || !engine->advice)
			continue;
		text_printf(text, "%s%s: %s", any ? "; " : "", engine->name,
			    engine->advice(command, &runtime.version));
		any = true;
	}
	if (!any)
		text_put_string(
			text, *command ? "some need an option, see 'jitbpf env'"
				       : "start it with the variables or options of 'jitbpf env'");
}

const char *engine_advice_without_code(const struct ledger_process *process)
{
	for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
		struct engine_file runtime = engine_of_runtime_number(process->runtimes[i]);

		if (runtime.engine && runtime.engine->without_code)
			return runtime.engine->without_code;
	}
	return NULL;
}

void engine_advice_write_runtime(struct json *json, uint64_t number, const char *functions)
{
	struct engine_file runtime = engine_of_runtime_number(number);
	char version[ENGINE_VERSION_BYTES];

	engine_version_text(&runtime.version, version);
	json_begin(json, '{');
	json_member_string(json, "name", engine_runtime_name(runtime.engine));
	if (*version)
		json_member_string(json, "version", version);
	if (functions)
		json_member_string(json, "functions", functions);
	json_end(json, '}');
}

void engine_advice_write_runtimes(struct json *json, const uint64_t *runtimes)
{
	if (!runtimes[0])
		return;
	json_key(json, "runtimes");
	json_begin(json, '[');
	for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
		uint32_t status = engine_runtime_status(runtimes[i]);

		if (engine_of_runtime_number(runtimes[i]).engine)
			engine_advice_write_runtime(
				json, runtimes[i],
				status < LEDGER_RUNTIME_COUNT ? ledger_runtimes[status].key : NULL);
	}
	json_end(json, ']');
}

static void write_engine(struct json *json, const char *name, const char *runtime,
			 const char *advice, const char *without_code)
{
	json_begin(json, '{');
	json_member_string(json, "name", name);
	json_member_string(json, "runtime", runtime);
	if (advice)
		json_member_string(json, "advice", advice);
	if (without_code)
		json_member_string(json, "without_code", without_code);
	json_end(json, '}');
}

void engine_advice_write(struct json *json)
{
	static const struct engine_version unknown;
	const struct engine *engine;

	json_key(json, "engines");
	json_begin(json, '[');
	for (size_t at = 0; (engine = engine_at(at)); at++)
		write_engine(json, engine->name, engine_runtime_name(engine),
			     engine->advice ? engine->advice("", &unknown) : NULL,
			     engine->without_code);
	write_engine(json, "", "", ENGINE_ADVICE_OTHERS, NULL);
	json_end(json, ']');
}

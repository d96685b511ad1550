/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/engine_advice.h"

#include "engines/engines.h"

static void write_engine(struct json *json, const char *name, const char *const *processes,
			 const char *advice, const char *without_code)
{
	json_begin(json, '{');
	json_member_string(json, "name", name);
	json_key(json, "processes");
	json_begin(json, '[');
	for (; *processes; processes++)
		json_string(json, *processes);
	json_end(json, ']');
	json_member_string(json, "advice", advice);
	if (without_code)
		json_member_string(json, "without_code", without_code);
	json_end(json, '}');
}

void engine_advice_write(struct json *json)
{
	static const char *const any[] = {"", NULL};
	const struct engine *engine;

	json_key(json, "engines");
	json_begin(json, '[');
	for (size_t at = 0; (engine = engine_at(at)); at++) {
		if (engine->advice)
			write_engine(json, engine->name, engine->processes, engine->advice(""),
				     engine->without_code);
	}
	write_engine(json, "", any, ENGINE_ADVICE_OTHERS, NULL);
	json_end(json, ']');
}

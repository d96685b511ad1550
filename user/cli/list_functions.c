/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/list_functions.h"

#include "base/scope.h"
#include "engines/engines.h"
#include "run/messages/say.h"
#include "runtimes/runtime_readers.h"
#include "sink/engine_advice.h"
#include "sink/ledger_terms.h"

/* Returns the runtime of a process whose functions a recording reads; 0: none. */
static uint64_t runtime_with_functions(const struct engine_row *row)
{
	for (uint32_t i = 0; i < row->runtimes.count; i++) {
		uint64_t number = row->runtimes.runtimes[i].number;

		if (runtime_reader_of(engine_of_runtime_number(number).engine))
			return number;
	}
	return 0;
}

void list_functions_write(struct json *json, const struct process_runtimes *runtimes)
{
	if (!runtimes->count)
		return;
	json_key(json, "runtimes");
	json_begin(json, '[');
	for (uint32_t i = 0; i < runtimes->count; i++) {
		uint64_t number = runtimes->runtimes[i].number;
		struct engine_file runtime = engine_of_runtime_number(number);
		uint32_t status = engine_runtime_status(number);
		const char *functions = NULL;

		if (runtime_reader_of(runtime.engine))
			functions = status < LEDGER_RUNTIME_COUNT ? ledger_runtimes[status].key
								  : "not_checked";
		engine_advice_write_runtime(json, number, functions);
	}
	json_end(json, ']');
}

/* Put "CPython 3.11: shown". */
static void put_functions(struct text *text, uint64_t number)
{
	struct engine_file runtime = engine_of_runtime_number(number);
	uint32_t status = engine_runtime_status(number);
	char version[ENGINE_VERSION_BYTES];

	engine_version_text(&runtime.version, version);
	text_printf(text, "%s%s%s: %s", engine_runtime_name(runtime.engine), *version ? " " : "",
		    version,
		    status < LEDGER_RUNTIME_COUNT ? ledger_runtimes[status].words : "not checked");
}

void list_functions_advise(const struct engine_list *list)
{
	bool unchecked = false;

	vec_for_each (row, &list->rows) {
		uint64_t number = runtime_with_functions(row);
		uint32_t status = engine_runtime_status(number);
		CLEANUP(text_deinit) struct text text = {0};
		bool said = false;

		unchecked |= number && status >= LEDGER_RUNTIME_COUNT;
		for (const struct engine_row *before = list->rows.data; before < row; before++)
			said |= runtime_with_functions(before) == number;
		if (!number || said || status >= LEDGER_RUNTIME_COUNT ||
		    !ledger_runtimes[status].next)
			continue;
		put_functions(&text, number);
		say("jitbpf: functions of %.*s: %s\n", (int)text.bytes.size, text.bytes.data,
		    ledger_runtimes[status].next);
	}
	if (unchecked)
		say("jitbpf: not checked: the process, or one before it, did not answer in time; a "
		    "recording shows its functions if it does\n");
}

void list_functions_add(struct text_table *table, const struct engine_row *row)
{
	CLEANUP(text_deinit) struct text text = {0};
	uint64_t number = runtime_with_functions(row);

	if (number)
		put_functions(&text, number);
	text_table_printf(table, "%.*s", (int)text.bytes.size, text.bytes.data ?: "");
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/runtime_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "engines/engines.h"
#include "sink/ledger_terms.h"
#include "sink/run_text.h"

static int add(runtime_rows *rows, const struct ledger_process *process, uint64_t number)
{
	struct runtime_row row = {
		.number = number,
		.processes = process->processes ?: 1,
		.functions = process->samples.runtime_functions,
		.cut = process->samples.runtime_cut,
		.unknown = process->samples.runtime_unknown,
	};

	for (int i = 0; i < FATE_COUNT; i++)
		row.samples += i == FATE_LOST ? 0 : process->samples.fate[i];
	if (!row.samples)
		return 0;
	vec_for_each (known, rows) {
		if (known->number != number)
			continue;
		known->processes += row.processes;
		known->samples += row.samples;
		known->functions += row.functions;
		known->cut += row.cut;
		known->unknown += row.unknown;
		return 0;
	}
	return vec_push(rows, row);
}

static int compare(const void *a_, const void *b_)
{
	const struct runtime_row *a = a_, *b = b_;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

int runtime_rows_fill(const struct ledger *ledger, runtime_rows *ret)
{
	vec_for_each (process, &ledger->processes) {
		for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
			uint64_t number = process->runtimes[i];

			if (number && engine_runtime_status(number) != ENGINE_NO_STATUS &&
			    add(ret, process, number))
				return -ENOMEM;
		}
	}
	if (ret->size)
		qsort(ret->data, ret->size, sizeof(*ret->data), compare);
	return 0;
}

static const struct ledger_word *word_of(const struct runtime_row *row)
{
	uint32_t status = engine_runtime_status(row->number);

	return status < LEDGER_RUNTIME_COUNT ? &ledger_runtimes[status] : NULL;
}

void runtime_row_put(struct text *text, const struct runtime_row *row)
{
	struct engine_file runtime = engine_of_runtime_number(row->number);
	const struct ledger_word *word = word_of(row);
	char version[ENGINE_VERSION_BYTES];

	engine_version_text(&runtime.version, version);
	text_printf(text, "%s%s%s: its functions are ", engine_runtime_name(runtime.engine),
		    *version ? " " : "", version);
	if (word != &ledger_runtimes[JITBPF_RUNTIME_SHOWN]) {
		text_put_string(text, word ? word->words : "not shown");
		return;
	}
	text_printf(text, "in %.1f %% of the samples",
		    run_text_percent(row->functions, row->samples));
	if (row->cut) {
		text_put_string(text, "; some could not be read in ");
		text_put_number(text, row->cut, 0);
	}
	if (row->unknown) {
		text_put_string(text, "; some ended before they were read in ");
		text_put_number(text, row->unknown, 0);
	}
}

const char *runtime_row_next(const struct runtime_row *row)
{
	const struct ledger_word *word = word_of(row);

	return word ? word->next : NULL;
}

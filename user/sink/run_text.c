/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/run_text.h"

#include "sink/ledger_rows.h"
#include "sink/write/columns.h"

#define RUN_COLUMNS 1000 /* limit for host and the like */

void run_text_put_event(struct text *text, const struct run_info *info)
{
	if (*info->event) {
		text_put_string(text, " of ");
		text_put_name_cut(text, info->event, RUN_COLUMNS);
	}
	if (!info->unit) {
		text_printf(text, " at %u Hz", info->freq_hz);
	} else if (info->period) {
		text_put_string(text, ", a sample for each ");
		text_put_number(text, info->period, 0);
		text_put_string(text, " ");
		text_put_name_cut(text, info->unit, RUN_COLUMNS);
	}
}

void run_text_put(struct text *text, const struct run_info *info, uint32_t columns)
{
	text_printf(text, "%.1f s", (double)info->duration_ns / 1e9);
	run_text_put_event(text, info);
	text_printf(text, ", %u CPU%s", info->cpus, info->cpus == 1 ? "" : "s");
	if (*info->host) {
		text_put_string(text, ", ");
		text_put_name_cut(text, info->host, RUN_COLUMNS);
	}
	if (*info->kernel) {
		text_put_string(text, ", Linux ");
		text_put_name_cut(text, info->kernel, RUN_COLUMNS);
	}
	text_put_string(text, "\n");
	columns_put_name(text, *info->command ? info->command : "the whole system", columns);
	text_put_string(text, "\n");
}

void run_text_put_fates(struct text *text, const struct ledger *ledger)
{
	uint64_t taken = ledger_taken(ledger);

	text_put_number(text, taken, 0);
	text_put_string(text, taken == 1 ? " sample" : " samples");
	for (int i = 0; i < FATE_COUNT; i++) {
		if (i != FATE_RESOLVED && !ledger->samples.fate[i])
			continue;
		text_printf(text, "%s %.1f %% %s", i ? "," : ":",
			    run_text_percent(ledger->samples.fate[i], taken),
			    ledger_fates[i].words);
	}
	text_put_string(text, "; ");
	text_put_number(text, ledger->jit.methods, 0);
	text_put_string(text, ledger->jit.methods == 1 ? " JIT method" : " JIT methods");
	if (ledger->samples.runtime_functions)
		text_printf(text, "; %.1f %% %s",
			    run_text_percent(ledger->samples.runtime_functions, taken),
			    ledger_singles[LEDGER_RUNTIME_FUNCTIONS].words);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The summary: the ledger in a few lines of text. */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/run_text.h"
#include "sink/write/columns.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define PROCESSES_SHOWN 20
#define COMM_COLUMNS	16
#define INSIDE_COLUMNS	11 /* pid in the process's own namespace, if any differs */
#define COMMAND_COLUMNS 1000
#define LABEL_COLUMNS	28

#define UNPUBLISHED_SHARE 10 /* reported from 1/10 of all samples on */

/* Put " (20 bad frame pointer, 3 32-bit code)", without counts of 0. */
static void put_reasons(struct text *text, const struct ledger_word *words, const uint64_t *counts,
			int count)
{
	const char *before = "  (";

	for (int i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		text_put_string(text, before);
		text_put_number(text, counts[i], 0);
		text_printf(text, " %s", words[i].words);
		before = ", ";
	}
	if (*before == ',')
		text_put_string(text, ")");
}

/* Put the reasons of lost samples. */
static void put_losses(struct text *text, const struct ledger *ledger)
{
	static const struct ledger_word words[] = {
		{"", "sample ring full"},
		{"", "no scratch space"},
		{"", "out of memory"},
	};
	const uint64_t counts[ARRAY_SIZE(words)] = {
		ledger->counters[JITBPF_COUNT_SAMPLES_RING_FULL],
		ledger->counters[JITBPF_COUNT_SAMPLES_NO_SCRATCH],
		ledger->counters[JITBPF_COUNT_AGENT_NO_MEMORY],
	};

	put_reasons(text, words, counts, ARRAY_SIZE(words));
}

static void put_fates(struct text *text, const struct ledger *ledger)
{
	uint64_t taken = ledger_taken(ledger);

	text_printf(text, "%-*s", LABEL_COLUMNS, "samples taken");
	text_put_number(text, taken, 14);
	text_put_string(text, "\n");
	for (int i = 0; i < FATE_COUNT; i++) {
		text_printf(text, "  %-*s", LABEL_COLUMNS - 2, ledger_fates[i].words);
		text_put_number(text, ledger->fate[i], 14);
		text_printf(text, "  %5.1f %%", run_text_percent(ledger->fate[i], taken));
		if (i == FATE_STACK_CUT)
			put_reasons(text, ledger_cuts, ledger->cut, LEDGER_CUT_COUNT);
		if (i == FATE_LOST && ledger->fate[i])
			put_losses(text, ledger);
		text_put_string(text, "\n");
	}
	if (ledger->frame_pointers) {
		text_printf(text, "%-*s", LABEL_COLUMNS, "frame pointers assumed");
		text_put_number(text, ledger->frame_pointers, 14);
		text_printf(text, "  %5.1f %%\n", run_text_percent(ledger->frame_pointers, taken));
	}
	if (ledger->throttles || ledger->throttled_ns) {
		text_printf(text, "%-*s%12.3f s  in ", LABEL_COLUMNS, "throttled",
			    (double)ledger->throttled_ns / 1e9);
		text_put_number(text, ledger->throttles, 0);
		text_put_string(text, ledger->throttles == 1 ? " interval\n" : " intervals\n");
	}
}

static void put_row(struct text *text, const char *words, uint64_t value)
{
	text_put_number(text, value, 14);
	text_printf(text, "  %s\n", words);
}

static const struct engine *engine_of(const struct view *view, const struct ledger_process *process)
{
	return engine_of_process(string_pool_get(view->strings, process->comm));
}

/* Returns the command that was run with the environment of engines; "" if there was none. */
static const char *command_of(const struct view *view)
{
	const char *command = view->info->command;

	return begins_with(command, RUN_OF_PROCESSES) ? "" : command;
}

/* Returns why the recorded command had no JIT code, although its engine has a JIT; or NULL. */
static const char *without_code(const struct view *view)
{
	const struct ledger *ledger = view->ledger;

	if (!*command_of(view) || ledger->jit.methods || ledger->fate[FATE_CODE_UNKNOWN])
		return NULL;
	vec_for_each (process, &ledger->processes) {
		const struct engine *engine = engine_of(view, process);
		uint64_t taken = ledger_process_taken(process);

		if (engine && engine->without_code && taken &&
		    taken >= ledger_taken(ledger) / UNPUBLISHED_SHARE)
			return engine->without_code;
	}
	return NULL;
}

static void put_jit(struct text *text, const struct view *view)
{
	const struct ledger *ledger = view->ledger;
	const char *why = without_code(view);

	text_printf(text, "%-*s", LABEL_COLUMNS, "JIT methods");
	text_put_number(text, ledger->jit.methods, 14);
	if (ledger->jit.methods || ledger->jit.unloads) {
		text_put_string(text, "  ");
		text_put_bytes(text, ledger->jit.code_bytes, 0);
		text_put_string(text, " of code, ");
		text_put_number(text, ledger->jit.unloads, 0);
		text_put_string(text, ledger->jit.unloads == 1 ? " unload" : " unloads");
	}
	if (ledger->jit.inlines) {
		text_put_string(text, ", ");
		text_put_number(text, ledger->jit.inlines, 0);
		text_put_string(text, " inlined");
	}
	if (ledger->jit.late) {
		text_put_string(text, ", ");
		text_put_number(text, ledger->jit.late, 0);
		text_put_string(text, " loaded before the recording");
	}
	if (ledger->jit.recovered) {
		text_put_string(text, ", ");
		text_put_number(text, ledger->jit.recovered, 0);
		text_put_string(text, " recovered");
	}
	if (why)
		text_printf(text, "  (%s)", why);
	text_put_string(text, "\n");
}

/*
 * Returns the samples in unknown code of processes without any published code. Sets *ret to the
 * process with most of them, NULL if there are none.
 */
static uint64_t samples_unpublished(const struct ledger *ledger, const struct ledger_process **ret)
{
	uint64_t samples = 0, most = 0;

	*ret = NULL;
	vec_for_each (process, &ledger->processes) {
		if (process->jit.methods || process->jit.other_version)
			continue;
		samples += process->fate[FATE_CODE_UNKNOWN];
		if (process->fate[FATE_CODE_UNKNOWN] > most) {
			most = process->fate[FATE_CODE_UNKNOWN];
			*ret = process;
		}
	}
	return samples;
}

/* Put why much code has no name, and what to do. */
static void put_unpublished(struct text *text, const struct view *view)
{
	const struct ledger_process *most;
	uint64_t samples = samples_unpublished(view->ledger, &most);
	const char *advice = "some need an option, see 'jitbpf env'";
	const struct engine *engine;
	char words[300];

	if (!most || samples < ledger_taken(view->ledger) / UNPUBLISHED_SHARE)
		return;
	engine = engine_of(view, most);
	if (engine)
		advice = engine->advice(command_of(view));
	else if (!*command_of(view))
		advice = "start it with the variables or options of 'jitbpf env'";
	snprintf(words, sizeof(words), "samples in [unknown] code that no engine published: %s%s%s",
		 engine ? engine->name : "", engine ? ": " : "", advice);
	put_row(text, words, samples);
}

static bool is_no_trouble(enum jitbpf_counter counter)
{
	return counter == JITBPF_COUNT_SAMPLES_TAKEN || counter == JITBPF_COUNT_JIT_HITS ||
	       counter == JITBPF_COUNT_SHIM_COPIES || counter == JITBPF_COUNT_JITDUMPS ||
	       counter == JITBPF_COUNT_STACKS_FINISHED || counter == JITBPF_COUNT_LOOP_LONGEST_MS;
}

static void put_owner(struct text *text, enum ledger_memory memory,
		      const struct ledger_owner *owner)
{
	char words[200], user[32] = "an unknown user";

	if (owner->uid != JITBPF_UNKNOWN_USER)
		snprintf(user, sizeof(user), "user %u", (uint32_t)owner->uid);
	snprintf(words, sizeof(words),
		 "%s not kept, %s (cgroup %llu) used its share of the memory: see --max-memory",
		 ledger_memories[memory].words, user, (unsigned long long)owner->cgroup);
	put_row(text, words, owner->refused);
}

/* Put the counts that should be 0 and are not. */
static void put_trouble(struct text *text, const struct view *view)
{
	const struct ledger *ledger = view->ledger;
	uint64_t taken = ledger_taken(ledger);
	uint64_t counted = ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN];
	size_t before = text->bytes.size, heading;

	text_put_string(text, "to look into\n");
	heading = text->bytes.size;
	put_unpublished(text, view);
	for (int i = LEDGER_JIT_TROUBLE; i < LEDGER_JIT_COUNT; i++) {
		uint64_t value = ledger_jit_value(&ledger->jit, i);
		char words[80];

		snprintf(words, sizeof(words), "JIT: %s", ledger_jit[i].word.words);
		if (value)
			put_row(text, words, value);
	}
	for (int memory = 0; memory < LEDGER_MEMORY_COUNT; memory++) {
		const struct ledger_owner *owners = ledger->owners[memory];

		for (int i = 0; i < LEDGER_OWNERS_MAX && owners[i].refused; i++)
			put_owner(text, memory, &owners[i]);
	}
	if (ledger->malformed_records)
		put_row(text, "records that could not be read", ledger->malformed_records);
	for (int i = 0; i < JITBPF_COUNTER_MAX; i++) {
		if (!is_no_trouble(i) && ledger->counters[i])
			put_row(text, ledger_counters[i].words, ledger->counters[i]);
	}
	if (!ledger->filtered && counted && counted != taken)
		put_row(text, "samples counted by the BPF program", counted);
	if (text->bytes.size == heading)
		text->bytes.size = before;
}

static void put_process(struct text *text, const struct view *view,
			const struct ledger_process *process, int inside_columns)
{
	char inside[16] = "";

	if (process->inner_pid)
		snprintf(inside, sizeof(inside), " (%u)", process->inner_pid);
	text_printf(text, "%10u%-*s  ", process->pid, inside_columns, inside);
	columns_put_padded(text, frame_text_comm(view, process->comm), COMM_COLUMNS);
	text_put_number(text, ledger_process_taken(process), 11);
	for (int i = 0; i < FATE_COUNT; i++)
		text_put_number(text, process->fate[i], 11);
	text_put_number(text, process->jit.methods, 11);
	text_put_bytes(text, process->jit.code_bytes, 11);
	text_put_string(text, "\n");
}

static void put_processes(struct text *text, const struct view *view,
			  const struct ledger_ranking *ranking)
{
	size_t count = ranking->processes.size;
	int inside_columns = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count && i < PROCESSES_SHOWN; i++) {
		if (ranking->processes.data[i]->inner_pid)
			inside_columns = INSIDE_COLUMNS;
	}
	text_printf(text, "\n%10s%-*s  %-*s%11s%11s%11s%11s%11s%11s%11s\n", "PID", inside_columns,
		    inside_columns ? " (INSIDE)" : "", COMM_COLUMNS, "PROCESS", "SAMPLES",
		    "RESOLVED", "UNKNOWN", "CUT", "LOST", "JIT METH.", "JIT CODE");
	for (size_t i = 0; i < count && i < PROCESSES_SHOWN; i++)
		put_process(text, view, ranking->processes.data[i], inside_columns);
	if (count > PROCESSES_SHOWN)
		text_printf(text, "%10s  and %zu more\n", "", count - PROCESSES_SHOWN);
}

static int summary_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(ledger_ranking_deinit) struct ledger_ranking ranking = {0};
	CLEANUP(text_deinit) struct text text = {0};
	int err;

	if (ledger_rank(view->ledger, &ranking))
		return -ENOMEM;
	run_text_put(&text, view->info, COMMAND_COLUMNS);
	text_put_string(&text, "\n");
	put_fates(&text, view->ledger);
	put_jit(&text, view);
	put_trouble(&text, view);
	put_processes(&text, view, &ranking);
	err = text_write(&text, out_stream(sink));
	return err ? err : out_flush(out_stream(sink));
}

const struct sink_ops sink_summary = {
	.name = "summary",
	.extension = ".summary",
	.counts_only = true,
	.create = out_create,
	.finish = summary_finish,
	.destroy = out_destroy,
};

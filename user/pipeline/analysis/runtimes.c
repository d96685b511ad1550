/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runtimes of processes, and their functions. */
#include <errno.h>
#include <string.h>

#include "base/common_words.h"
#include "decode/record/sample_parts.h"
#include "pipeline/analysis/runtimes.h"
#include "pipeline/analysis/snapshot_state.h"

int analysis_take_runtime_function(struct analysis *a, const struct jitbpf_runtime_function *record)
{
	const struct known_function *known = runtime_functions_find(&a->functions, record->number);
	struct process *process;
	int err;

	if (known) {
		a->epoch->ledger.malformed_records += !runtime_function_is(known, record);
		return 0;
	}
	err = process_table_at(&a->processes, record->pid, 0, record->h.time_ns, &process);
	err = err ?: runtime_functions_add(&a->functions, record, process->account);
	if (err != -EDQUOT)
		return err;
	code_account_count_refused(process->account);
	return 0;
}

static int put_function(struct snapshot *snapshot, const struct known_function *function,
			uint32_t pid)
{
	size_t bytes = runtime_function_record_bytes(function);
	struct jitbpf_runtime_function *record =
		snapshot_make(snapshot, JITBPF_RUNTIME_FUNCTION, bytes);

	if (!record)
		return -ENOMEM;
	runtime_function_encode(function, record);
	record->pid = pid;
	return snapshot_put(snapshot, &record->h);
}

static bool is_function(uint64_t word)
{
	return word >> JITBPF_FRAME_KIND_SHIFT == JITBPF_FRAME_RUNTIME;
}

/*
 * Returns the number of innermost words of a sample that the stack before of its thread did not
 * have in the recording.
 */
static uint32_t words_to_record(struct thread_stack *stack, uint32_t epoch,
				const struct frame_words *user)
{
	uint64_t *end = stack->recorded + JITBPF_USER_WORDS_MAX;
	uint32_t most = stack->recorded_in == epoch + 1 ? stack->recorded_count : 0, count;

	count = user->count - common_last_words(end, user->words + user->count,
						most < user->count ? most : user->count);
	memcpy(end - user->count, user->words, count * sizeof(*end));
	stack->recorded_in = epoch + 1;
	stack->recorded_count = user->count;
	return count;
}

int analysis_record_functions(struct analysis *a, uint32_t epoch,
			      const struct jitbpf_sample *sample, struct record_receiver to)
{
	struct snapshot snapshot = {.analysis = a, .to = to, .time_ns = sample->h.time_ns};
	const struct frame_words user = sample_user_frames(sample);
	struct thread_stack *stack;
	uint32_t count;
	int err = 0;

	if (!a->functions.functions.size || frame_words_addresses(&user) == user.count)
		return 0;
	stack = analysis_thread_stack(a, sample->tid);
	if (!stack)
		return -ENOMEM;
	count = words_to_record(stack, epoch, &user);
	for (uint32_t i = 0; i < count && !err; i++) {
		struct known_function *function;

		if (!is_function(user.words[i]) || (i > 1 && user.words[i] == user.words[i - 2]))
			continue;
		function = runtime_functions_find(&a->functions, frame_word_value(user.words[i]));
		if (!function || function->recorded_in == epoch + 1)
			continue;
		function->recorded_in = epoch + 1;
		err = put_function(&snapshot, function, sample->pid);
	}
	if (err)
		stack->recorded_count = 0;
	vec_deinit(&snapshot.room);
	return err;
}

int snapshot_put_runtimes(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	int err = 0;

	for (uint32_t i = 0; i < process->runtimes.count && !err; i++) {
		uint64_t number = process->runtimes.runtimes[i].number;
		const struct engine_file file = engine_of_runtime_number(number);
		struct jitbpf_runtime *record;

		if (engine_runtime_status(number) == ENGINE_NO_STATUS)
			continue;
		record = snapshot_make(snapshot, JITBPF_RUNTIME, sizeof(*record));
		if (!record)
			return -ENOMEM;
		record->pid = process->pid;
		record->start_ns = process->start_ns;
		record->status = engine_runtime_status(number);
		for (int j = 0; j < file.version.parts; j++)
			record->version[j] = file.version.part[j];
		strncpy(record->name, file.engine->name, sizeof(record->name) - 1);
		err = snapshot_put(snapshot, &record->h);
	}
	return err;
}

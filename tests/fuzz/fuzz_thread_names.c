/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of threads that a hostile process reports: from JIT records to the table, and look-ups in
 * it. The input is a sequence of steps: what (1 byte, see enum step), a length (1 byte), and that
 * many bytes. Time advances by the high bits of the first byte.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/media/jit_event.h"
#include "state/process/thread_names.h"
#include "tests/fuzz/seeds.h"

enum step { STEP_EVENT, STEP_COMM, STEP_FORK, STEP_GAP, STEP_FORGET, STEP_EXEC, STEP_COUNT = 8 };

/* The beginning of the bytes of a STEP_EVENT; fields of the record follow. */
struct event_step {
	uint8_t is_end, named, reporter, kernels, flags, lasts;
};

SEEDS(8);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct fuzzed {
	struct thread_names names;
	struct code_account *account;
	struct owner_budget memory;
	uint64_t time_ns, sequence;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void take_event(struct fuzzed *f, const uint8_t *bytes, size_t size_bytes)
{
	struct jitbpf_jit record = {.pid = 1, .h.time_ns = f->time_ns};
	struct jitbpf_jit_header header = {.time_ns = f->time_ns, .sequence = f->sequence++};
	struct event_step step;
	struct code_event event;
	struct jit_event jit;
	uint8_t *exact;
	int err;

	if (size_bytes < sizeof(step))
		return;
	memcpy(&step, bytes, sizeof(step));
	size_bytes -= sizeof(step);
	/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
	exact = malloc(size_bytes ? size_bytes : 1);
	require(exact);
	memcpy(exact, bytes + sizeof(step), size_bytes);
	header.event = step.is_end & 1 ? JIT_EVENT_JVM_THREAD_END : JIT_EVENT_JVM_THREAD;
	header.method_id = step.named;
	header.tid = step.reporter;
	header.code_bytes = (uint64_t)step.lasts << 28;
	record.tid = step.kernels;
	record.h.flags = step.flags & (JITBPF_JIT_FROM_JOURNAL | JITBPF_JIT_LATE);
	if (!jit_fields_decode(&header, exact, size_bytes, &jit)) {
		jit_event_convert(&jit, &record, &event);
		err = thread_names_apply(&f->names, f->account, &event);
		require(!err || err == -EDQUOT);
	}
	free(exact);
}

static void take_comm(struct fuzzed *f, const uint8_t *bytes, size_t size_bytes)
{
	char comm[JITBPF_COMM_MAX] = "";

	if (!size_bytes)
		return;
	memcpy(comm, bytes + 1, size_bytes < 16 ? size_bytes - 1 : 15);
	thread_names_comm(&f->names, *bytes, comm, f->time_ns);
}

static void take_gap(struct fuzzed *f, const uint8_t *bytes, size_t size_bytes)
{
	uint64_t live[256], last = 0;

	for (size_t i = 0; i < size_bytes; i++)
		live[i] = last += bytes[i];
	thread_names_gap(&f->names, live, size_bytes, f->time_ns);
}

static void take_step(struct fuzzed *f, uint8_t step, const uint8_t *bytes, size_t size_bytes)
{
	switch (step) {
	case STEP_EVENT:
		take_event(f, bytes, size_bytes);
		break;
	case STEP_COMM:
		take_comm(f, bytes, size_bytes);
		break;
	case STEP_FORK:
		if (size_bytes)
			thread_names_end(&f->names, *bytes, f->time_ns);
		break;
	case STEP_GAP:
		take_gap(f, bytes, size_bytes);
		break;
	case STEP_FORGET:
		thread_names_forget(&f->names, f->account, f->time_ns);
		break;
	case STEP_EXEC:
		thread_names_end_all(&f->names, f->time_ns);
		break;
	}
}

static void look_up(const struct fuzzed *f)
{
	for (uint32_t tid = 0; tid < 256; tid++) {
		for (uint64_t back = 0; back < 4; back++) {
			const char *name =
				thread_names_at(&f->names, tid, "thread", back & 1 ? "thread" : "",
						f->time_ns - (back << 28));

			require(!name || (*name && strlen(name) <= JITBPF_THREAD_NAME_MAX));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct fuzzed f = {.memory.limit = 20000, .time_ns = 1ull << 40};
	uint8_t step, bytes;
	const void *at;

	require(!code_account_create(&code_budget_default, &f.account));
	require(!code_account_set_owner(f.account, &f.memory, (struct owner_key){.uid = 1}));
	while (!cursor_read(&c, &step, sizeof(step)) && !cursor_read(&c, &bytes, sizeof(bytes))) {
		if (bytes > cursor_left(&c))
			bytes = (uint8_t)cursor_left(&c);
		require(!cursor_take(&c, bytes, &at));
		f.time_ns += (uint64_t)(step / STEP_COUNT) << 24;
		take_step(&f, step % STEP_COUNT, at, bytes);
		if (step % STEP_COUNT != STEP_EVENT)
			look_up(&f);
	}
	look_up(&f);
	if (!cursor_left(&c))
		seed_taken();
	thread_names_deinit(&f.names, f.account);
	require(!f.account->bytes && !f.names.ended);
	code_account_put(f.account);
	owner_budget_deinit(&f.memory);
	return 0;
}

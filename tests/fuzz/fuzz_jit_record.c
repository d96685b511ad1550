/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT records of a hostile process: from parts to records, from records to a
 * code map, and look-ups in it. The input is a sequence of steps: a thread (1
 * byte), a length (2 bytes), and a part of that many bytes. The highest thread
 * numbers are other events of a process.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "decode/media/jit_assembly.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/state/apply_jit.h"
#include "uapi/scope_table.h"

enum step {
	STEP_FORK = 0xff,
	STEP_EXEC = 0xfe,
	STEP_FORGET = 0xfd,
	STEP_EXIT = 0xfc,
	STEP_GAP = 0xfb, /* its bytes: sequence numbers of live events, 8 bytes each */
};

SEEDS(16);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct fuzzed {
	struct jit_assembly assembly;
	struct code_map *code;
	struct code_account *account;
	uint64_t next_number;
	uint64_t newest_ns;
	volatile uint64_t sink;
};

static const struct code_budget small_budget = {.methods = 64,
						.name_bytes = 4096,
						.lines = 256,
						.inlines = 64,
						.waiting = 8,
						.waiting_bytes = 1024,
						.depth = 6};

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Read all of a region, and check its invariants. */
static void read_region(struct fuzzed *fuzzed, uint64_t address, uint64_t time_ns)
{
	const struct code_region *region = code_map_find(fuzzed->code, address, time_ns);
	struct code_level levels[CODE_LEVELS_MAX];
	uint32_t count;

	if (!region)
		return;
	require(address >= region->address && address - region->address < region->size_bytes);
	fuzzed->sink += strlen(region->name) + strlen(code_region_class(region)) +
			strlen(code_region_source(region)) + strlen(code_region_module(region));
	count = code_region_levels(region, address - region->address, levels);
	require(count >= 1 && count <= (code_region_scopes(region) ? JITBPF_SCOPE_DEPTH_MAX
								   : small_budget.depth + 1));
	for (uint32_t i = 0; i < count; i++) {
		require(levels[i].inlined == (i + 1 < count));
		fuzzed->sink += strlen(levels[i].name) + strlen(levels[i].class_name) +
				strlen(levels[i].source) + levels[i].line;
	}
	for (uint32_t i = 0; i < region->line_count; i++)
		fuzzed->sink +=
			code_region_lines(region)[i].offset + code_region_lines(region)[i].line;
}

static void take_part(struct fuzzed *fuzzed, uint32_t tid, const void *part, size_t part_bytes)
{
	/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
	void *exact = malloc(part_bytes ? part_bytes : 1);
	struct jit_event event;
	bool complete = false;
	uint64_t time_ns;

	require(exact);
	memcpy(exact, part, part_bytes);
	if (!jit_assembly_add(&fuzzed->assembly, tid, exact, part_bytes, &event, &complete) &&
	    complete) {
		seed_taken();
		time_ns = event.header.time_ns;
		if (fuzzed->newest_ns < time_ns)
			fuzzed->newest_ns = time_ns;
		require(!apply_jit(fuzzed->code, fuzzed->account, &event, event.header.caller,
				   time_ns));
		read_region(fuzzed, event.header.address, time_ns);
		read_region(fuzzed, event.header.address + event.header.code_bytes / 2,
			    fuzzed->newest_ns);
		read_region(fuzzed, event.header.address, time_ns - 1);
	}
	require(fuzzed->assembly.bytes <= JIT_ASSEMBLY_BYTES);
	free(exact);
}

static void take_gap(struct fuzzed *fuzzed, const void *numbers, size_t size_bytes)
{
	uint64_t live[64], last = 0;
	size_t count = size_bytes / sizeof(*live);

	count = count < 64 ? count : 64;
	memcpy(live, numbers, count * sizeof(*live));
	for (size_t i = 0; i < count; i++) {
		live[i] = live[i] > last ? live[i] : last;
		last = live[i];
	}
	require(!apply_shim_gap(fuzzed->code, fuzzed->account, fuzzed->newest_ns,
				fuzzed->newest_ns + 5, live, count));
}

static void take_step(struct fuzzed *fuzzed, uint8_t tid, const void *part, size_t part_bytes)
{
	struct code_map *clone;

	switch (tid) {
	case STEP_FORK:
		require(!code_map_clone(fuzzed->code, &clone));
		code_map_destroy(fuzzed->code);
		fuzzed->code = clone;
		break;
	case STEP_EXEC:
		require(!code_map_clear(fuzzed->code, fuzzed->newest_ns));
		break;
	case STEP_FORGET:
		code_map_forget(fuzzed->code, fuzzed->newest_ns);
		break;
	case STEP_GAP:
		take_gap(fuzzed, part, part_bytes);
		break;
	case STEP_EXIT:
		jit_assembly_flush(&fuzzed->assembly);
		require(!fuzzed->assembly.bytes);
		break;
	default:
		take_part(fuzzed, tid, part, part_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct fuzzed fuzzed = {.next_number = 0};
	uint16_t part_bytes;
	const void *part;
	uint8_t tid;

	require(!code_account_create(&small_budget, &fuzzed.account) &&
		!code_map_create(&fuzzed.next_number, &fuzzed.code));
	while (!cursor_read(&c, &tid, sizeof(tid)) &&
	       !cursor_read(&c, &part_bytes, sizeof(part_bytes))) {
		/* The last part may exceed the input: truncate it. */
		if (part_bytes > cursor_left(&c))
			part_bytes = (uint16_t)cursor_left(&c);
		require(!cursor_take(&c, part_bytes, &part));
		take_step(&fuzzed, tid, part, part_bytes);
	}
	jit_assembly_deinit(&fuzzed.assembly);
	code_map_destroy(fuzzed.code);
	require(!fuzzed.account->methods && !fuzzed.account->inlines && !fuzzed.account->lines &&
		!fuzzed.account->name_bytes);
	code_account_put(fuzzed.account);
	return 0;
}

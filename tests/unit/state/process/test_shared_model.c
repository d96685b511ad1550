/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random code in shared memory, compared with a list of all loads. */
#include <stdint.h>

#include <stdio.h>

#include "tests/unit/cases.h"
#include "tests/unit/state/shared_fixture.h"

struct told {
	uint64_t inode, start, from_ns, to_ns;
	uint32_t pid, id;
	char name[24];
};

static const char *told_at(const struct told *told, size_t count, uint64_t inode, uint64_t offset,
			   uint64_t time_ns)
{
	for (size_t i = 0; i < count; i++) {
		if (told[i].inode == inode && offset - told[i].start < 16 &&
		    told[i].from_ns <= time_ns && time_ns < told[i].to_ns)
			return told[i].name;
	}
	return "";
}

#define PROCESSES 4
#define STEPS	  4000

struct step {
	uint64_t now_ns, inode, offset;
	uint32_t pid, id;
	bool is_load;
};

/* End the loads that the step overwrites or unloads. */
static void told_end(struct told *told, size_t count, const struct step *step)
{
	for (size_t i = 0; i < count; i++) {
		bool hit = told[i].inode == step->inode && told[i].start < step->offset + 16 &&
			   step->offset < told[i].start + 16;
		bool named = told[i].pid == step->pid && told[i].id == step->id;

		if (told[i].to_ns == UINT64_MAX && (step->is_load ? hit : named))
			told[i].to_ns = step->now_ns;
	}
}

/* Add a load. A method that has code in an object keeps its name there. */
static void told_add(struct told *told, size_t count, const struct step *step)
{
	struct told *new = &told[count];

	snprintf(new->name, sizeof(new->name), "%zu", count);
	for (size_t i = 0; i < count; i++) {
		if (told[i].pid == step->pid && told[i].id == step->id &&
		    told[i].inode == step->inode && told[i].to_ns == UINT64_MAX)
			memcpy(new->name, told[i].name, sizeof(new->name));
	}
	new->inode = step->inode;
	new->start = step->offset;
	new->from_ns = step->now_ns;
	new->to_ns = UINT64_MAX;
	new->pid = step->pid;
	new->id = step->id;
}

/* Returns the address of an object in a process. */
static uint64_t address_of(uint32_t pid, uint64_t inode)
{
	return 0x10000 * inode + 0x1000 * pid;
}

CASE(test_random)
{
	static struct told told[STEPS];
	struct fixture *f = fixture_create(&code_budget_default);
	uint64_t random = 1;
	size_t count = 0;

	for (uint32_t pid = 0; pid < PROCESSES; pid++) {
		map_shared(f, 100 + pid, address_of(pid, 7), 0, 7, 1);
		map_shared(f, 100 + pid, address_of(pid, 8), 0, 8, 1);
	}
	for (uint64_t now = 2; now < STEPS; now++) {
		struct step step = {.now_ns = now};

		random = random * 6364136223846793005u + 1442695040888963407u;
		step.offset = (random >> 33) % 160;
		step.inode = 7 + (random >> 20) % 2;
		step.pid = (random >> 45) % PROCESSES;
		step.id = 1 + (random >> 50) % 20;
		step.is_load = random >> 60;
		told_end(told, count, &step);
		if (step.is_load) {
			told_add(told, count, &step);
			load(f, 100 + step.pid, step.id,
			     address_of(step.pid, step.inode) + step.offset, told[count++].name,
			     now);
		} else {
			unload(f, 100 + step.pid, step.id, now);
		}
		for (uint32_t i = 0; i < 2 * PROCESSES; i++) {
			uint64_t at = (random >> (20 + i)) % 180, when = now - i * i % now;
			uint64_t inode = 7 + i % 2;

			assert_string_equal(
				runs(f, 100 + i / 2, address_of(i / 2, inode) + at, when),
				told_at(told, count, inode, at, when));
		}
	}
	fixture_destroy(f);
	(void)state;
}

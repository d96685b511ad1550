/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/programs/engine/forge.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/scope.h"
#include "tests/shim/usdt_site.h"
#include "uapi/jit_record.h"

#define PAGE_BYTES    4096u
#define SEQUENCE      (1ull << 40) /* distinct from the collector's own numbers */
#define RANDOM_PARTS  200
#define ENDLESS_PARTS 3000 /* 12 MB */

struct part {
	struct jitbpf_jit_header header;
	uint8_t fields[JITBPF_JIT_PART_MAX - sizeof(struct jitbpf_jit_header)];
};

int forge_open(const struct engine *engine, struct forge *forge)
{
	struct usdt_site site;
	uint8_t *pages;
	int err;

	if (engine->client.mode != JIT_SAMPLING_ON)
		return -1;
	err = usdt_site_find((void *)engine->client.notify, "jitbpf", "event", &site);
	if (err) {
		fprintf(stderr, "jit-engine: no probe jitbpf:event: %s\n", strerror(-err));
		return -1;
	}
	pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED || mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE)) {
		perror("jit-engine");
		return -1;
	}
	*forge = (struct forge){
		.probe = (forge_probe)(uintptr_t)site.location,
		.code = (uintptr_t)engine->arena.start,
		.edge = pages + PAGE_BYTES,
		.random = 1,
	};
	memset(pages, 0xff, PAGE_BYTES);
	return 0;
}

static void fire(struct forge *forge, const void *part, uint64_t size_bytes)
{
	forge->probe(part, size_bytes, SEQUENCE, JIT_EVENT_LOAD);
	forge->fired++;
}

/* A valid load with one field, to be corrupted. */
static struct part good_part(const struct forge *forge)
{
	struct jitbpf_jit_field field = {.type = JITBPF_JIT_NAME, .size_bytes = 6};
	struct part part = {
		.header =
			{
				.size_bytes = sizeof(part.header) + sizeof(field) + 6,
				.version = JITBPF_JIT_VERSION,
				.event = JIT_EVENT_LOAD,
				.sequence = SEQUENCE + forge->fired,
				.time_ns = clock_ns(CLOCK_MONOTONIC),
				.part_count = 1,
				.method_id = 99,
				.address = forge->code,
				.code_bytes = 64,
			},
	};

	memcpy(part.fields, &field, sizeof(field));
	memcpy(part.fields + sizeof(field), "forged", 6);
	return part;
}

static void fire_part(struct forge *forge, const struct part *part)
{
	fire(forge, part, part->header.size_bytes);
}

static void forge_lengths(struct forge *forge)
{
	static const uint64_t lengths[] = {
		0,	   1,	      71,	  4097,	      4104,
		8192,	   1u << 20,  UINT32_MAX, 1ull << 32, (1ull << 32) + 100,
		INT64_MAX, UINT64_MAX};
	struct part part = good_part(forge);

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		fire(forge, &part, lengths[i]);
}

static void forge_pointers(struct forge *forge)
{
	const uint64_t pointers[] = {
		0,
		8,
		(uintptr_t)forge->edge,	     /* unreadable */
		(uintptr_t)forge->edge - 50, /* up to the end of readable memory */
		0x8000000000000000,	     /* not canonical */
		0xffffffff81000000,	     /* a kernel address */
		UINT64_MAX - 50,	     /* wraps */
	};

	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++)
		fire(forge, (const void *)pointers[i], 100);
}

static void forge_headers(struct forge *forge)
{
	static const struct {
		uint32_t size_bytes;
		uint16_t version, part, part_count;
	} lies[] = {
		{0, 1, 0, 1},		{71, 1, 0, 1},	{1000, 1, 0, 1}, {UINT32_MAX, 1, 0, 1},
		{86, 0, 0, 1},		{86, 99, 0, 1}, {86, 1, 0, 0},	 {86, 1, 1, 1},
		{86, 1, UINT16_MAX, 3}, {72, 1, 0, 1},
	};
	struct part part = good_part(forge);

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		part.header.size_bytes = lies[i].size_bytes;
		part.header.version = lies[i].version;
		part.header.part = lies[i].part;
		part.header.part_count = lies[i].part_count;
		fire(forge, &part, sizeof(part.header) + 14);
	}
}

static void forge_values(struct forge *forge)
{
	struct part part = good_part(forge);

	part.header.address = UINT64_MAX;
	part.header.code_bytes = UINT64_MAX;
	part.header.time_ns = UINT64_MAX;
	part.header.event = UINT16_MAX;
	part.header.flags = UINT32_MAX;
	part.header.reserved = UINT32_MAX;
	fire_part(forge, &part);
	part.header.event = JIT_EVENT_LOAD;
	fire_part(forge, &part);
	part.header.time_ns = 0;
	part.header.address = 1;
	part.header.caller = UINT64_MAX;
	fire_part(forge, &part);
}

static void forge_fields(struct forge *forge)
{
	static const struct jitbpf_jit_field fields[] = {
		{JITBPF_JIT_NAME, 7}, /* one byte more than exists */
		{JITBPF_JIT_NAME, 5}, /* leaves one byte over */
		{JITBPF_JIT_NAME, UINT32_MAX},
		{JITBPF_JIT_CLASS, UINT32_MAX - 7}, /* wraps with its header */
		{JITBPF_JIT_LINES, 6},		    /* not a whole entry */
		{JITBPF_JIT_ARCH, 6},
		{0, 6},
		{999, 6},
		{UINT32_MAX, 6},
		{JITBPF_JIT_NAME, 0},
	};
	struct part part = good_part(forge);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		memcpy(part.fields, &fields[i], sizeof(fields[i]));
		fire_part(forge, &part);
	}
	/* A full part that contains only empty fields. */
	for (size_t i = 0; i < sizeof(part.fields) / sizeof(fields[9]); i++)
		memcpy(part.fields + i * sizeof(fields[9]), &fields[9], sizeof(fields[9]));
	part.header.size_bytes = sizeof(part);
	fire_part(forge, &part);
}

static void forge_part(struct forge *forge, uint64_t sequence, uint16_t index, uint16_t count)
{
	struct part part = good_part(forge);

	part.header.sequence = SEQUENCE + sequence;
	part.header.part = index;
	part.header.part_count = count;
	fire_part(forge, &part);
}

static void forge_parts(struct forge *forge)
{
	forge_part(forge, 1, 1, 2); /* the first part is missing */
	forge_part(forge, 2, 0, 3); /* two interleaved records */
	forge_part(forge, 3, 0, 3);
	forge_part(forge, 2, 1, 3);
	forge_part(forge, 3, 1, 3);
	forge_part(forge, 4, 0, 2); /* twice the same part */
	forge_part(forge, 4, 0, 2);
	forge_part(forge, 5, 0, 2); /* the part count changes */
	forge_part(forge, 5, 1, 3);
	forge_part(forge, 6, 0, UINT16_MAX); /* most parts never come */
	forge_part(forge, 7, 0, 2);	     /* the last part never comes */
}

/* A record that is longer than any limit. */
static void forge_endless(struct forge *forge)
{
	struct part part = good_part(forge);

	part.header.size_bytes = sizeof(part);
	part.header.part_count = UINT16_MAX;
	for (; part.header.part < ENDLESS_PARTS; part.header.part++)
		fire_part(forge, &part);
}

static void forge_random(struct forge *forge)
{
	struct part part;

	for (uint32_t i = 0; i < RANDOM_PARTS; i++) {
		uint32_t size = sizeof(part.header) + i * 20;
		uint8_t *bytes = (uint8_t *)&part;

		for (size_t at = 0; at < sizeof(part); at++) {
			forge->random = forge->random * 1664525u + 1013904223u;
			bytes[at] = (uint8_t)(forge->random >> 24);
		}
		/* Every other part has a valid header. */
		if (i % 2) {
			struct part good = good_part(forge);

			part.header = good.header;
			part.header.size_bytes = size;
		}
		fire(forge, &part, size);
	}
}

uint64_t forge_round(struct forge *forge)
{
	uint64_t before = forge->fired;

	if (!before)
		forge_endless(forge);
	forge_lengths(forge);
	forge_pointers(forge);
	forge_headers(forge);
	forge_values(forge);
	forge_fields(forge);
	forge_parts(forge);
	forge_random(forge);
	return forge->fired - before;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publish_cost HOW BYTES COUNT LIVE: publish COUNT methods, and print the cost of one in ns of
 * the thread's CPU time, and the growth of the process in KB.
 *
 *   api    through the collector in $INTEL_JIT_PROFILER64
 *   map    a line in a perf map in the current directory, buffered by stdio
 *   lines  the same, with each line written at once
 *   dump   a jitdump entry with code bytes and line table, buffered
 *
 * BYTES is the size of the collector's record; bytes beyond 200 are line table. LIVE is the
 * number of live methods; the next one overwrites the oldest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/scope.h"
#include "jitapi-shim/payload.h"
#include "tests/programs/engine/jit_client.h"
#include "uapi/jit_record.h"

#define NAME_BYTES 120 /* makes a record of 200 bytes */
#define SMALL_BYTES                                                                                \
	(sizeof(struct jitbpf_jit_header) + sizeof(struct jitbpf_jit_field) + NAME_BYTES)
#define CODE_BYTES 256
#define LINES_MAX  4096
#define ARENA	   0x7f0000000000ull

struct teller {
	struct jit_client client;
	FILE *file;
	struct jitapi_load load;
	struct jitapi_line lines[LINES_MAX];
	char name[NAME_BYTES + 1];
	uint8_t code[CODE_BYTES];
};

static void tell_api(struct teller *teller)
{
	jit_client_notify(&teller->client, JIT_EVENT_LOAD, &teller->load);
}

static void tell_map(struct teller *teller)
{
	fprintf(teller->file, "%" PRIx64 " %x %s\n", teller->load.method.address,
		teller->load.method.size_bytes, teller->name);
}

static void tell_line(struct teller *teller)
{
	tell_map(teller);
	fflush(teller->file);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void put(uint8_t **at, const void *bytes, size_t size_bytes)
{
	memcpy(*at, bytes, size_bytes);
	*at += size_bytes;
}

/* JIT_CODE_DEBUG_INFO before JIT_CODE_LOAD, as perf inject requires. */
static void tell_dump(struct teller *teller)
{
	static uint8_t entry[LINES_MAX * 18 + 1024];
	const struct jitapi_method *method = &teller->load.method;
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
	} head = {.timestamp = clock_ns(CLOCK_MONOTONIC)};
	uint64_t debug[2] = {method->address, method->line_count};
	struct {
		uint32_t pid, tid;
		uint64_t vma, code_addr, code_size, code_index;
	} load = {1, 1, method->address, method->address, CODE_BYTES, method->id};
	uint8_t *at = entry;

	if (method->line_count) {
		head.id = 2;
		head.total_size =
			(uint32_t)(sizeof(head) + sizeof(debug) + method->line_count * 18);
		put(&at, &head, sizeof(head));
		put(&at, debug, sizeof(debug));
	}
	for (uint32_t i = 0; i < method->line_count; i++) {
		uint64_t address = method->address + teller->lines[i].offset;
		uint32_t line[2] = {teller->lines[i].line, 0};

		put(&at, &address, sizeof(address));
		put(&at, line, sizeof(line));
		put(&at, "\xff", 2); /* the same file name as before */
	}
	head.id = 0;
	head.total_size = (uint32_t)(sizeof(head) + sizeof(load) + NAME_BYTES + 1 + CODE_BYTES);
	put(&at, &head, sizeof(head));
	put(&at, &load, sizeof(load));
	put(&at, teller->name, NAME_BYTES + 1);
	put(&at, teller->code, CODE_BYTES);
	fwrite(entry, (size_t)(at - entry), 1, teller->file);
}

static long resident_kb(void)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
		return 0;
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void name_next(char *name)
{
	for (size_t i = 10; i-- > 0;) {
		if (++name[i] <= '9')
			return;
		name[i] = '0';
	}
}

static void run(struct teller *teller, void (*tell)(struct teller *teller), uint64_t count,
		uint64_t live)
{
	long before_kb = resident_kb();
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < count; i++) {
		name_next(teller->name);
		teller->load.method.id++;
		teller->load.method.address = ARENA + i % live * CODE_BYTES;
		tell(teller);
	}
	printf("ns %.1f", (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / (double)count);
	printf(" grown_kb %ld\n", resident_kb() - before_kb);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*tell)(struct teller *teller);
		const char *file;
	} ways[] = {
		{"api", tell_api, NULL},
		{"map", tell_map, "perf.map"},
		{"lines", tell_line, "perf.map"},
		{"dump", tell_dump, "jit.dump"},
	};
	static struct teller teller;
	uint64_t bytes, count, live;

	if (argc != 5)
		return 2;
	bytes = strtoull(argv[2], NULL, 0);
	count = strtoull(argv[3], NULL, 0);
	live = strtoull(argv[4], NULL, 0);
	memset(teller.name, 'x', NAME_BYTES);
	memset(teller.name, '0', 10);
	teller.load.method.name = teller.name;
	teller.load.method.size_bytes = CODE_BYTES;
	teller.load.method.lines = teller.lines;
	if (bytes > SMALL_BYTES + sizeof(struct jitbpf_jit_field))
		teller.load.method.line_count =
			(uint32_t)((bytes - SMALL_BYTES - sizeof(struct jitbpf_jit_field)) /
				   sizeof(struct jitbpf_jit_line));
	if (teller.load.method.line_count > LINES_MAX || !live)
		return 2;
	jit_client_open(&teller.client);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (ways[i].file && !(teller.file = fopen(ways[i].file, "w")))
			return 1;
		run(&teller, ways[i].tell, count, live);
		return 0;
	}
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls the shim's probe as fast as it can, to fill root's recording.
 *
 * usage: junk SHIM malformed|unloads
 *   malformed: records that are refused
 *   unloads: valid records of the least size
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "uapi/jit_record.h"

typedef void (*probe_fn)(const void *part, uint64_t size_bytes, uint64_t sequence, uint32_t event);

/* The three nops of jitapi-shim/probe.c, which nothing else has. */
static const uint8_t nops[] = {0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x2e, 0x0f,
			       0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3};

/* In the file, since a profiler may have put a breakpoint into the memory. */
static uint64_t probe_offset(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	uint8_t *found = memmem(bytes, size, nops, sizeof(nops));

	if (file)
		fclose(file);
	return found ? (uint64_t)(found - bytes) : 0;
}

static int find_probe(struct dl_phdr_info *info, size_t size, void *offset_)
{
	uint64_t *offset = offset_;

	if (!strstr(info->dlpi_name, "libjitbpf"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && size; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			*offset += info->dlpi_addr + segment->p_vaddr - segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	probe_fn probe;
	uint64_t site;
	struct jitbpf_jit_header part = {
		.size_bytes = sizeof(part),
		.version = JITBPF_JIT_VERSION,
		.event = JIT_EVENT_UNLOAD,
		.part_count = 1,
		.method_id = 1,
		.code_bytes = 64,
	};

	if (argc < 3 || !dlopen(argv[1], RTLD_NOW))
		return 1;
	site = probe_offset(argv[1]);
	if (!site || !dl_iterate_phdr(find_probe, &site))
		return 1;
	probe = (probe_fn)site;
	part.address = (uint64_t)probe;
	if (!strcmp(argv[2], "malformed"))
		part.version = 0xffff;
	printf("at the probe\n");
	fflush(stdout);
	for (;;) {
		part.sequence++;
		part.time_ns = now_ns();
		probe(&part, sizeof(part), part.sequence, part.event);
	}
}

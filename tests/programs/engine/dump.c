/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/programs/engine/dump.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096

struct header {
	uint32_t magic, version, size_bytes, machine, reserved, pid;
	uint64_t time_ns, flags;
};

struct load {
	uint32_t kind, size_bytes;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t mapped_address, address, code_bytes, index;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int dump_open(struct dump *ret, const char *folder)
{
	struct header header = {
		.magic = 0x4a695444,
		.version = 1,
		.size_bytes = sizeof(header),
		.machine = EM_X86_64,
		.pid = (uint32_t)getpid(),
		.time_ns = now_ns(),
	};
	struct dump dump = {.lock = PTHREAD_MUTEX_INITIALIZER};
	char path[4096];
	void *marker;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump.out = fopen(path, "w+");
	if (!dump.out)
		return -errno;
	/* Mapped executable, and never accessed: profilers find the file by that. */
	marker = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump.out), 0);
	if (marker == MAP_FAILED)
		return -errno;
	fwrite(&header, sizeof(header), 1, dump.out);
	*ret = dump;
	return 0;
}

void dump_load(struct dump *dump, const uint8_t *code, size_t code_bytes, const char *name)
{
	struct load load = {
		.size_bytes = (uint32_t)(sizeof(load) + strlen(name) + 1 + code_bytes),
		.time_ns = now_ns(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.mapped_address = (uintptr_t)code,
		.address = (uintptr_t)code,
		.code_bytes = code_bytes,
	};

	if (!dump->out)
		return;
	pthread_mutex_lock(&dump->lock);
	load.index = dump->loads++;
	fwrite(&load, sizeof(load), 1, dump->out);
	fwrite(name, strlen(name) + 1, 1, dump->out);
	fwrite(code, code_bytes, 1, dump->out);
	pthread_mutex_unlock(&dump->lock);
}

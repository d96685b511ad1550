/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/caller_engine.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

#define FILES_MAX 1024

/* Files are added without a lock, and stay. start is written last; 0: not yet. */
static struct {
	_Atomic uint32_t count; /* may exceed FILES_MAX */
	struct {
		_Atomic uint64_t start, end;
	} files[FILES_MAX];
} known;

/* Returns the number of a file from 1, or 0. The file that was loaded last counts. */
static uint32_t file_of(uint64_t address)
{
	uint32_t i = atomic_load_explicit(&known.count, memory_order_acquire);

	for (i = i < FILES_MAX ? i : FILES_MAX; i; i--) {
		uint64_t start =
			atomic_load_explicit(&known.files[i - 1].start, memory_order_acquire);

		if (start && address >= start &&
		    address < atomic_load_explicit(&known.files[i - 1].end, memory_order_relaxed))
			break;
	}
	return i;
}

static void add_file(uint64_t start, uint64_t end)
{
	uint32_t i;

	if (atomic_load(&known.count) >= FILES_MAX)
		return;
	i = atomic_fetch_add(&known.count, 1);
	if (i >= FILES_MAX)
		return;
	atomic_store_explicit(&known.files[i].end, end, memory_order_relaxed);
	atomic_store_explicit(&known.files[i].start, start, memory_order_release);
}

/* address NULL: of any file. Returns 1 if the file was found. */
static int note_file(struct dl_phdr_info *file, size_t size, void *address)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (int i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
		uint64_t from = file->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
	}
	if (address && ((uintptr_t)address < start || (uintptr_t)address >= end))
		return 0;
	if (start < end)
		add_file(start, end);
	return address != NULL;
}

void caller_engines_find_files(void)
{
	dl_iterate_phdr(note_file, NULL);
}

void caller_engines_find_file(uint64_t address)
{
	if (!file_of(address))
		dl_iterate_phdr(note_file, (void *)(uintptr_t)address);
}

uint8_t caller_engines_index(struct caller_engines *engines, uint64_t address)
{
	uint8_t i = 0;

	while (i < engines->count && engines->callers[i].address != address)
		i++;
	if (i == CALLERS_MAX) {
		engines->unknown = true;
		return 0;
	}
	if (i == engines->count)
		engines->callers[engines->count++].address = address;
	return i;
}

void caller_engines_resolve(struct caller_engines *engines)
{
	if (engines->count < 2)
		return;
	for (uint32_t i = 0; i < engines->count; i++) {
		struct caller *caller = &engines->callers[i];

		caller->file = file_of(caller->address);
		engines->unknown |= !caller->file;
		while (engines->callers[caller->engine].file != caller->file)
			caller->engine++;
	}
}

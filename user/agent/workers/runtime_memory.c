/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/runtime_memory.h"

#include <errno.h>
#include <string.h>

#define PAGE	      RUNTIME_MEMORY_PAGE_BYTES
#define USER_SPACE    (1ull << 47)
#define FIRST_ADDRESS PAGE /* the kernel maps nothing below it */

static int read_source(struct runtime_memory *memory, uint64_t address, void *buf,
		       size_t size_bytes)
{
	size_t got = 0;
	int err;

	if (memory->failed)
		return memory->failed;
	if (memory->source_reads == RUNTIME_MEMORY_READS_MAX)
		return memory->failed = -E2BIG;
	memory->source_reads++;
	err = memory->source->read(memory->source->context, memory->pid, memory->owner, address,
				   buf, size_bytes, &got);
	if (err && err != -EFAULT)
		memory->failed = err;
	return err ?: got < size_bytes ? -EFAULT : 0;
}

/* Get a page. Returns 0 or a negative errno. */
static int get_page(struct runtime_memory *memory, uint64_t address,
		    const struct runtime_memory_page **ret)
{
	struct runtime_memory_page *oldest = &memory->pages[0];
	int err;

	for (size_t i = 0; i < RUNTIME_MEMORY_PAGES; i++) {
		struct runtime_memory_page *page = &memory->pages[i];

		if (page->address == address) {
			page->used = memory->reads;
			*ret = page;
			return 0;
		}
		if (page->used < oldest->used)
			oldest = page;
	}
	oldest->address = 0;
	err = read_source(memory, address, oldest->bytes, PAGE);
	if (err)
		return err;
	oldest->address = address;
	oldest->used = memory->reads;
	*ret = oldest;
	return 0;
}

static int read_memory(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct runtime_memory *memory = context;
	size_t done = 0;

	if (address < FIRST_ADDRESS || size_bytes > USER_SPACE || address > USER_SPACE - size_bytes)
		return -EFAULT;
	if (size_bytes > PAGE)
		return read_source(memory, address, buf, size_bytes);
	memory->reads++;
	while (done < size_bytes) {
		size_t in_page = (address + done) % PAGE, piece = PAGE - in_page;
		const struct runtime_memory_page *page;
		int err = get_page(memory, address + done - in_page, &page);

		if (err)
			return err;
		if (piece > size_bytes - done)
			piece = size_bytes - done;
		memcpy((uint8_t *)buf + done, page->bytes + in_page, piece);
		done += piece;
	}
	return 0;
}

/* A read of up to a page costs at most two of the source. */
static uint32_t left(void *context)
{
	const struct runtime_memory *memory = context;

	return memory->failed ? 0 : (RUNTIME_MEMORY_READS_MAX - memory->source_reads) / 2;
}

static void refresh(void *context)
{
	struct runtime_memory *memory = context;

	for (size_t i = 0; i < RUNTIME_MEMORY_PAGES; i++)
		memory->pages[i].address = memory->pages[i].used = 0;
}

struct process_memory runtime_memory_of(struct runtime_memory *memory)
{
	return (struct process_memory){
		.read = read_memory,
		.context = memory,
		.left = left,
		.refresh = refresh,
		.notes = memory->source->notes,
		.note_owner = memory->note_owner,
	};
}

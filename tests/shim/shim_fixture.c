/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/shim/shim_fixture.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HITS_MAX	200000u
#define HEAP_BYTES	(256u << 20)
#define PAGE_BYTES	4096u
#define SITE_JUMP_BYTES 12u

void (*volatile shim_on_hit)(const struct hit *hit);

static struct {
	struct hit *hits;
	uint8_t *heap;
	_Atomic size_t hit_count;
	_Atomic size_t heap_used;
	struct by_sequence {
		uint64_t sequence;
		size_t index;
	} * sorted; /* the first sorted_count hits, sorted by record and part */
	size_t sorted_count;
} recorder;

static void *symbol_of(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fail_msg("%s", dlerror());
	return symbol;
}

void shim_open(struct shim *shim)
{
	void *library;

	shim->path = getenv("JITBPF_SHIM");
	assert_non_null(shim->path);
	library = dlopen(shim->path, RTLD_LAZY);
	if (!library)
		fail_msg("%s", dlerror());
	*(void **)&shim->initialize = symbol_of(library, "Initialize");
	*(void **)&shim->notify = symbol_of(library, "NotifyEvent");
	*(void **)&shim->ijit_notify = symbol_of(library, "iJIT_NotifyEvent");
	*(void **)&shim->is_active = symbol_of(library, "iJIT_IsProfilingActive");
	*(void **)&shim->new_method_id = symbol_of(library, "iJIT_GetNewMethodID");
	assert_int_equal(usdt_site_find((void *)shim->notify, "jitbpf", "event", &shim->site), 0);
}

/* Signal-safe and lock-free: a lock would hide the races that the test looks for. */
static uint8_t *heap_take(size_t size_bytes)
{
	size_t at = atomic_fetch_add(&recorder.heap_used, size_bytes);

	if (at + size_bytes > HEAP_BYTES)
		abort();
	return recorder.heap + at;
}

static void record_hit(const void *part, uint64_t size_bytes, uint64_t sequence, uint32_t event)
{
	size_t index = atomic_fetch_add(&recorder.hit_count, 1);
	uint8_t *copy = heap_take(size_bytes);

	if (index >= HITS_MAX)
		abort();
	memcpy(copy, part, size_bytes);
	recorder.hits[index] = (struct hit){
		.bytes = copy,
		.size_bytes = size_bytes,
		.sequence = sequence,
		.event = event,
		.tid = (uint32_t)gettid(),
	};
	if (shim_on_hit)
		shim_on_hit(&recorder.hits[index]);
}

static void *reserve(size_t size_bytes)
{
	void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

void shim_listen(struct shim *shim)
{
	/* movabs $record_hit, %rax; jmp *%rax */
	uint8_t jump[SITE_JUMP_BYTES] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	uintptr_t page = (uintptr_t)shim->site.location & ~(uintptr_t)(PAGE_BYTES - 1);

	recorder.hits = reserve(HITS_MAX * sizeof(struct hit));
	recorder.heap = reserve(HEAP_BYTES);
	recorder.sorted = reserve(HITS_MAX * sizeof(struct by_sequence));
	put_u64(jump, 2, (uintptr_t)record_hit);
	assert_int_equal(mprotect((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memcpy(shim->site.location, jump, sizeof(jump));
	assert_int_equal(mprotect((void *)page, PAGE_BYTES, PROT_READ | PROT_EXEC), 0);
	*shim->site.semaphore = 1;
}

void hits_clear(void)
{
	recorder.hit_count = 0;
	recorder.heap_used = 0;
	recorder.sorted_count = 0;
}

size_t hits_count(void)
{
	return recorder.hit_count;
}

const struct hit *hit_at(size_t index)
{
	assert_true(index < recorder.hit_count);
	return &recorder.hits[index];
}

/* Check a hit against the previous parts of its record. */
static bool part_fits(const struct hit *hit, const struct jitbpf_jit_header *first,
		      uint32_t first_tid, uint16_t part)
{
	struct jitbpf_jit_header header, same = *first;

	if (hit->size_bytes < sizeof(header) || hit->size_bytes > JITBPF_JIT_PART_MAX)
		return false;
	memcpy(&header, hit->bytes, sizeof(header));
	same.size_bytes = header.size_bytes;
	same.part = part;
	if (memcmp(&header, &same, sizeof(same)) != 0 || hit->tid != first_tid)
		return false;
	if (part + 1 < first->part_count && hit->size_bytes != JITBPF_JIT_PART_MAX)
		return false;
	return header.size_bytes == hit->size_bytes && hit->event == header.event &&
	       (header.part_count == 1 || hit->size_bytes > sizeof(header));
}

static int by_sequence_compare(const void *a, const void *b)
{
	const struct by_sequence *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Returns the index of the record's first hit among the sorted ones. */
static size_t sorted_find(uint64_t sequence)
{
	size_t low = 0, high = recorder.hit_count;

	if (recorder.sorted_count != high) {
		for (size_t i = 0; i < high; i++)
			recorder.sorted[i] = (struct by_sequence){recorder.hits[i].sequence, i};
		qsort(recorder.sorted, high, sizeof(*recorder.sorted), by_sequence_compare);
		recorder.sorted_count = high;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (recorder.sorted[middle].sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool record_of(uint64_t sequence, struct whole_record *ret)
{
	size_t first = sorted_find(sequence), end = first, total = 0;
	const struct hit *hit, *first_hit;
	uint8_t *fields;

	for (; end < recorder.hit_count && recorder.sorted[end].sequence == sequence; end++)
		total += recorder.hits[recorder.sorted[end].index].size_bytes;
	if (end == first)
		return false;
	first_hit = &recorder.hits[recorder.sorted[first].index];
	if (first_hit->size_bytes < sizeof(ret->header))
		return false;
	memcpy(&ret->header, first_hit->bytes, sizeof(ret->header));
	fields = heap_take(total);
	ret->fields = fields;
	ret->field_bytes = 0;
	for (size_t i = first; i < end; i++) {
		hit = &recorder.hits[recorder.sorted[i].index];
		if (!part_fits(hit, &ret->header, first_hit->tid, (uint16_t)(i - first)))
			return false;
		memcpy(fields + ret->field_bytes, hit->bytes + sizeof(ret->header),
		       hit->size_bytes - sizeof(ret->header));
		ret->field_bytes += hit->size_bytes - sizeof(ret->header);
	}
	return end - first == ret->header.part_count && ret->header.sequence == sequence;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	bytes->data = realloc(bytes->data, bytes->size + size + 1);
	assert_non_null(bytes->data);
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_put_field(struct bytes *bytes, uint32_t type, const void *data, size_t size)
{
	uint32_t head[2] = {type, (uint32_t)size};

	bytes_put(bytes, head, sizeof(head));
	bytes_put(bytes, data, size);
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

void put_u32(void *payload, size_t offset, uint32_t value)
{
	memcpy((uint8_t *)payload + offset, &value, sizeof(value));
}

void put_u64(void *payload, size_t offset, uint64_t value)
{
	memcpy((uint8_t *)payload + offset, &value, sizeof(value));
}

void put_pointer(void *payload, size_t offset, const void *value)
{
	put_u64(payload, offset, (uintptr_t)value);
}

uint8_t *at_edge_of_memory(size_t size)
{
	uint8_t *pages = reserve(3 * PAGE_BYTES);

	assert_true(size <= 2 * PAGE_BYTES);
	assert_int_equal(mprotect(pages + 2 * PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);
	return pages + 2 * PAGE_BYTES - size;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/shim/record_expect.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

__asm__(".pushsection .text\n"
	"	.globl call_from_mark, caller_mark\n"
	"call_from_mark:\n"
	"	sub $8, %rsp\n"
	"	call *%rdx\n"
	"caller_mark:\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".popsection\n");

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

void expect_record(const struct shim *shim, unsigned int event, const void *data,
		   struct jitbpf_jit_header header, struct bytes *fields)
{
	uint64_t before_ns = now_ns(), sequence;
	size_t slice = JITBPF_JIT_PART_MAX - sizeof(header);
	struct whole_record record;

	hits_clear();
	assert_int_equal(call_from_mark(event, data, (void *)shim->notify), 1);
	assert_true(hits_count() > 0);
	sequence = hit_at(0)->sequence;
	assert_true(record_of(sequence, &record));
	assert_int_equal(hits_count(), record.header.part_count);

	header.size_bytes = (uint32_t)hit_at(0)->size_bytes;
	header.version = JITBPF_JIT_VERSION;
	header.event = (uint16_t)event;
	header.sequence = sequence;
	assert_in_range(record.header.time_ns, before_ns, now_ns());
	header.time_ns = record.header.time_ns;
	header.part_count = fields->size ? (uint16_t)((fields->size + slice - 1) / slice) : 1;
	header.caller = (uintptr_t)caller_mark;
	assert_memory_equal(&record.header, &header, sizeof(header));
	assert_int_equal(record.field_bytes, fields->size);
	if (fields->size)
		assert_memory_equal(record.fields, fields->data, fields->size);
	bytes_free(fields);
}

struct jitbpf_jit_header method_header(uint32_t id, uint64_t address, uint32_t size_bytes)
{
	return (struct jitbpf_jit_header){
		.method_id = id,
		.address = address,
		.code_bytes = size_bytes,
	};
}

void put_prefix(uint8_t *payload, size_t size, const char *name)
{
	memset(payload, 0xee, size);
	put_u32(payload, 0, 4711);
	put_pointer(payload, 8, name);
	put_u64(payload, 16, 0x7f1234567000);
	put_u32(payload, 24, 0xfffffff0);
	put_u32(payload, 28, 0);
	put_pointer(payload, 32, NULL);
}

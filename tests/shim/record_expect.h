/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Payloads, and the records expected for them. */
#ifndef JITBPF_TESTS_RECORD_EXPECT_H
#define JITBPF_TESTS_RECORD_EXPECT_H

#include <stddef.h>
#include <stdint.h>

#include "tests/shim/shim_fixture.h"
#include "uapi/jit_record.h"

/* Call notify(event, data) with the return address caller_mark. */
unsigned int call_from_mark(unsigned int event, const void *data, const void *notify);
extern const char caller_mark[];

/*
 * Send the event and expect one record with this header, except for what the
 * shim fills in, and this field stream, which is freed.
 */
void expect_record(const struct shim *shim, unsigned int event, const void *data,
		   struct jitbpf_jit_header header, struct bytes *fields);

struct jitbpf_jit_header method_header(uint32_t id, uint64_t address, uint32_t size_bytes);

/*
 * Write the prefix that all loads share, without lines. The rest of the payload
 * is filled with bytes that must not be read.
 */
void put_prefix(uint8_t *payload, size_t size, const char *name);

#define PREFIX_HEADER method_header(4711, 0x7f1234567000, 0xfffffff0)

#endif

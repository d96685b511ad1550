/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shim from an engine's view, and its records from the view of BPF, without
 * the kernel: the probe site is patched with a jump to a recorder, and the
 * semaphore is incremented by hand.
 */
#ifndef JITBPF_TESTS_SHIM_FIXTURE_H
#define JITBPF_TESTS_SHIM_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/shim/usdt_site.h"
#include "uapi/jit_record.h"

struct shim {
	const char *path;
	unsigned int (*initialize)(void);
	unsigned int (*notify)(unsigned int event, const void *data);
	int (*ijit_notify)(unsigned int event, const void *data);
	unsigned int (*is_active)(void);
	unsigned int (*new_method_id)(void);
	struct usdt_site site;
};

/* Load the library in $JITBPF_SHIM. The test fails if that is not possible. */
void shim_open(struct shim *shim);

/* Record every hit of the probe from now on, on all threads. */
void shim_listen(struct shim *shim);

/* A hit of the probe: its arguments, and a copy of the memory they point at. */
struct hit {
	const uint8_t *bytes;
	uint64_t size_bytes;
	uint64_t sequence;
	uint32_t event;
	uint32_t tid; /* the thread that made the hit */
};

/* If set, called inside each hit. May call NotifyEvent. */
extern void (*volatile shim_on_hit)(const struct hit *hit);

/* Drop all recorded hits; recording continues. */
void hits_clear(void);
size_t hits_count(void);
const struct hit *hit_at(size_t index);

/* A record assembled from its hits. The fields are valid until hits_clear(). */
struct whole_record {
	struct jitbpf_jit_header header; /* of the first part */
	const uint8_t *fields;
	size_t field_bytes;
};

/*
 * Assemble the record of a sequence number. Checks that its hits are of one
 * thread, in order and complete, that all parts but the last are full, and that
 * headers differ only in size and part.
 */
bool record_of(uint64_t sequence, struct whole_record *ret);

/* A payload or an expected field stream, written byte by byte. */
struct bytes {
	uint8_t *data;
	size_t size;
};

void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_put_field(struct bytes *bytes, uint32_t type, const void *data, size_t size);
void bytes_free(struct bytes *bytes);

/* Store a little-endian value at an offset. */
void put_u32(void *payload, size_t offset, uint32_t value);
void put_u64(void *payload, size_t offset, uint64_t value);
void put_pointer(void *payload, size_t offset, const void *value);

/* Returns size bytes that end before an unreadable page. */
uint8_t *at_edge_of_memory(size_t size);

/* An assertion for children of a test: prints the location, and exits with 1. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#endif

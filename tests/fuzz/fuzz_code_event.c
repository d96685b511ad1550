/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A code event record: an input that decodes is encoded and decoded again,
 * which must give the same event.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/code_event.h"
#include "tests/fuzz/seeds.h"

SEEDS(14);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool same_string(const struct code_string *a, const struct code_string *b)
{
	return a->size_bytes == b->size_bytes &&
	       (!a->size_bytes || !memcmp(a->bytes, b->bytes, a->size_bytes));
}

/* The rest of the struct has no padding. */
static void forget_compared(struct code_event *event)
{
	memset(&event->origin, 0, sizeof(event->origin));
	event->name = event->class_name = (struct code_string){0};
	event->source = event->module = (struct code_string){0};
	event->lines = event->scopes = NULL;
}

static void require_same(struct code_event a, struct code_event b)
{
	require(a.origin.publisher == b.origin.publisher);
	require(a.origin.engine == b.origin.engine && a.origin.sequence == b.origin.sequence);
	require(same_string(&a.name, &b.name));
	require(same_string(&a.class_name, &b.class_name));
	require(same_string(&a.source, &b.source));
	require(same_string(&a.module, &b.module));
	require(a.line_count == b.line_count);
	require(!a.line_count ||
		!memcmp(a.lines, b.lines, a.line_count * sizeof(struct jitbpf_code_line)));
	require(a.scope_bytes == b.scope_bytes);
	require(!a.scope_bytes || !memcmp(a.scopes, b.scopes, a.scope_bytes));
	forget_compared(&a);
	forget_compared(&b);
	require(!memcmp(&a, &b, sizeof(a)));
}

static void encode_again(const struct code_event *event)
{
	size_t size_bytes = code_event_record_bytes(event);
	struct jitbpf_code_event *record;
	struct code_event again;

	if (!size_bytes)
		return;
	record = malloc(size_bytes);
	require(record);
	code_event_encode(event, record);
	require(record->h.size_bytes == size_bytes);
	require(!code_event_decode(record, size_bytes, &again));
	require_same(*event, again);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
	struct jitbpf_code_event *record = malloc(size_bytes ? size_bytes : 1);
	struct code_event event;
	int err;

	require(record);
	memcpy(record, data, size_bytes);
	err = code_event_decode(record, size_bytes, &event);
	require(!err || err == -EBADMSG || err == -ENOTSUP);
	if (!err) {
		seed_taken();
		encode_again(&event);
	}
	free(record);
	return 0;
}

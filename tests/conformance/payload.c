/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/payload.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM_BYTES    4096
#define GARBAGE	      0xa5
#define PAYLOAD_BYTES 72 /* size of the largest payload */

/* Event numbers of the API. */
enum {
	UNLOAD = 14,
	LOAD = 13,
	UPDATE = 15,
	INLINE_LOAD = 16,
	UPDATE_V2 = 17,
	ENTER_NIDS = 19,
	LEAVE_NIDS = 20,
	LOAD_V2 = 21,
	LOAD_V3 = 22,
};

int payload_sender_init(struct payload_sender *sender, const struct jit_client *client,
			jit_second_fn second, uint64_t base)
{
	uint8_t *room = mmap(NULL, 2 * ROOM_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return -errno;
	if (mprotect(room + ROOM_BYTES, ROOM_BYTES, PROT_NONE)) {
		munmap(room, 2 * ROOM_BYTES);
		return -errno;
	}
	*sender = (struct payload_sender){
		.notify = client->notify,
		.second = second,
		.base = base,
		.end = room + ROOM_BYTES,
	};
	return 0;
}

void payload_sender_deinit(struct payload_sender *sender)
{
	munmap(sender->end - ROOM_BYTES, 2 * ROOM_BYTES);
}

static void put_u32(uint8_t *payload, size_t offset, uint32_t value)
{
	memcpy(payload + offset, &value, sizeof(value));
}

static void put_u64(uint8_t *payload, size_t offset, uint64_t value)
{
	memcpy(payload + offset, &value, sizeof(value));
}

static void put_pointer(uint8_t *payload, size_t offset, const void *value)
{
	put_u64(payload, offset, (uintptr_t)value);
}

/* The common prefix of all loads. */
static void put_method(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_u32(payload, 0, event->id);
	put_pointer(payload, 8, event->name);
	put_u64(payload, 16, event->at ? base + event->at : 0);
	put_u32(payload, 24, (uint32_t)event->size_bytes);
	put_u32(payload, 28, (uint32_t)event->line_count);
	put_pointer(payload, 32, event->lines);
}

static size_t put_load(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_method(payload, event, base);
	put_pointer(payload, 48, event->class_name);
	put_pointer(payload, 56, event->source);
	return 64;
}

static size_t put_load_v2(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_method(payload, event, base);
	put_pointer(payload, 40, event->class_name);
	put_pointer(payload, 48, event->source);
	put_pointer(payload, 56, event->module);
	return 64;
}

static size_t put_load_v3(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_load_v2(payload, event, base);
	put_u32(payload, 64, event->arch);
	put_u32(payload, 68, 0);
	return 72;
}

static size_t put_inline_load(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_method(payload, event, base);
	put_u32(payload, 4, event->parent);
	put_pointer(payload, 40, event->class_name);
	put_pointer(payload, 48, event->source);
	return 56;
}

static size_t put_update_v2(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	put_u64(payload, 0, base + event->at);
	put_u32(payload, 8, (uint32_t)event->size_bytes);
	put_u32(payload, 12, event->segment);
	put_pointer(payload, 16, event->name);
	return 24;
}

static size_t put_unload(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	if (!event->id || event->at)
		return put_load(payload, event, base);
	put_u32(payload, 0, event->id);
	return sizeof(uint32_t);
}

static size_t put_nids(uint8_t *payload, const struct rule_event *event)
{
	put_u32(payload, 0, event->id);
	put_u32(payload, 4, 0);
	put_pointer(payload, 8, event->name);
	return 16;
}

/* Returns the size of the payload; 0 if the event has none. */
static size_t put_event(uint8_t *payload, const struct rule_event *event, uint64_t base)
{
	switch (event->kind) {
	case LOAD:
	case UPDATE:
		return put_load(payload, event, base);
	case LOAD_V2:
		return put_load_v2(payload, event, base);
	case LOAD_V3:
		return put_load_v3(payload, event, base);
	case INLINE_LOAD:
		return put_inline_load(payload, event, base);
	case UPDATE_V2:
		return put_update_v2(payload, event, base);
	case UNLOAD:
		return put_unload(payload, event, base);
	case ENTER_NIDS:
	case LEAVE_NIDS:
		return put_nids(payload, event);
	default:
		return 0;
	}
}

unsigned int payload_send(const struct payload_sender *sender, const struct rule_event *event)
{
	uint8_t made[PAYLOAD_BYTES], *payload;
	unsigned int answer;
	size_t size;

	memset(made, GARBAGE, sizeof(made));
	size = put_event(made, event, sender->base);
	payload = sender->end - size;
	memcpy(payload, made, size);
	if (event->engine)
		answer = sender->second(sender->notify, event->kind, size ? payload : NULL);
	else
		answer = sender->notify(event->kind, size ? payload : NULL);
	memset(payload, GARBAGE, size);
	return answer;
}

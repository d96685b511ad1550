/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_stubs.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

/* A read of a name crosses no boundary that a mapping can end at. */
#define PIECE_BYTES 64

#define CALL_BUCKETS 256

/* An item of the list, as Java 11 to 25 have it. */
struct item {
	uint64_t next, group, name, start, end;
};

int hotspot_read_name(const struct process_memory *memory, uint64_t address, char *ret,
		      size_t bytes_max)
{
	size_t done = 0;

	memset(ret, 0, bytes_max + 1);
	while (done < bytes_max && !memchr(ret, 0, done)) {
		size_t piece = PIECE_BYTES - (address + done) % PIECE_BYTES;
		int err;

		if (piece > bytes_max - done)
			piece = bytes_max - done;
		err = process_memory_read(memory, address + done, ret + done, piece);
		if (err)
			return err;
		done += piece;
	}
	utf8_mend(ret, true);
	return *ret ? 0 : -EBADMSG;
}

int hotspot_stub_find(const struct process_memory *memory, uint64_t list, uint64_t address,
		      struct hotspot_stub *ret)
{
	uint64_t at, start = 0, end = UINT64_MAX;
	struct item item;
	int err = process_memory_word(memory, list, &at);

	for (uint32_t i = 0; at && i < HOTSPOT_STUBS_MAX && !err; i++) {
		err = process_memory_read(memory, at, &item, sizeof(item));
		if (err)
			return err;
		if (item.start <= address && address < item.end) {
			ret->start = item.start;
			ret->end = item.end;
			return hotspot_read_name(memory, item.name, ret->name,
						 HOTSPOT_STUB_NAME_MAX);
		}
		if (item.end <= address && item.end > start)
			start = item.end;
		if (item.start > address && item.start < end)
			end = item.start;
		at = item.next;
	}
	if (err || at)
		return err ?: -EBADMSG;
	*ret = (struct hotspot_stub){.start = start, .end = end};
	return 0;
}

/* A stub that calls by index, as Java 11 to 25 have it. Its code is behind it. */
struct call_stub {
	uint64_t next;
	uint16_t index, offsets[2];
	uint8_t is_virtual, reserved;
};

int hotspot_call_stub_find(const struct process_memory *memory,
			   const struct hotspot_call_stubs *stubs, uint64_t address,
			   struct hotspot_stub *ret)
{
	uint64_t table[CALL_BUCKETS], at;
	uint32_t bytes[2], seen = 0;
	int err = process_memory_read(memory, stubs->table, table, sizeof(table));

	err = err ?: process_memory_read(memory, stubs->interface_bytes, &bytes[0], 4);
	err = err ?: process_memory_read(memory, stubs->virtual_bytes, &bytes[1], 4);
	for (uint32_t i = 0; i < CALL_BUCKETS && !err; i++) {
		for (at = table[i]; at && !err; seen++) {
			struct call_stub stub;
			uint64_t start = at + sizeof(stub);

			if (seen == HOTSPOT_STUBS_MAX)
				return -EBADMSG;
			err = process_memory_read(memory, at, &stub, sizeof(stub));
			if (err)
				return err;
			if (start <= address && stub.is_virtual < 2 &&
			    address - start < bytes[stub.is_virtual]) {
				*ret = (struct hotspot_stub){start, start + bytes[stub.is_virtual]};
				strcpy(ret->name, stub.is_virtual ? "vtable stub" : "itable stub");
				return 0;
			}
			at = stub.next;
		}
	}
	return err ?: -ENOENT;
}

bool hotspot_stubs_are_valid(const struct process_memory *memory, uint64_t list, uint64_t code)
{
	struct hotspot_stub stub;
	uint64_t address;

	return !process_memory_word(memory, code, &address) &&
	       !hotspot_stub_find(memory, list, address, &stub) && !strcmp(stub.name, "call_stub");
}

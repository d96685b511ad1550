/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of HotSpot's stubs: routines that it generates, many in one blob, such as those that
 * copy arrays. They are in lists that the exported tables do not have; where these are, symbols of
 * the file say, if it was not stripped.
 */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_STUBS_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/hotspot/hotspot_file.h"
#include "runtimes/process_memory.h"

#define HOTSPOT_STUBS_MAX     4096
#define HOTSPOT_STUB_NAME_MAX 255

struct hotspot_stub {
	uint64_t start, end;
	char name[HOTSPOT_STUB_NAME_MAX + 1]; /* UTF-8; "": between two stubs */
};

/*
 * Find the stub at an address, or what is between the ones beside it. list: address of the variable
 * that leads to the first one. Returns 0; -EBADMSG (the list has no end, or a stub no valid name);
 * or the error of the memory.
 */
int hotspot_stub_find(const struct process_memory *memory, uint64_t list, uint64_t address,
		      struct hotspot_stub *ret);

/*
 * Check that the list is as it is known, by the stub that the virtual machine calls Java code with.
 * code: address of a variable with an address in that stub.
 */
bool hotspot_stubs_are_valid(const struct process_memory *memory, uint64_t list, uint64_t code);

/*
 * Find the stub at an address that calls a method of a class by its index, for virtual methods or
 * for those of interfaces. stubs: their table, and the sizes of both kinds. Returns 0; -ENOENT;
 * -EBADMSG (the table has no end); or the error of the memory.
 */
int hotspot_call_stub_find(const struct process_memory *memory,
			   const struct hotspot_call_stubs *stubs, uint64_t address,
			   struct hotspot_stub *ret);

/* Read a name, at most bytes_max bytes and a NUL. -EBADMSG: it is empty. */
int hotspot_read_name(const struct process_memory *memory, uint64_t address, char *ret,
		      size_t bytes_max);

#endif

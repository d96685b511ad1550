/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libjvm.so exports of HotSpot: tables that describe the structures of the virtual machine,
 * for its serviceability agent.
 */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_FILE_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_FILE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"

/*
 * A table: an array of entries of `stride` bytes, which ends with an entry whose first name is a
 * null pointer. All members are addresses, in the file, of variables of 8 bytes.
 */
struct hotspot_table_file {
	uint64_t entries, stride;
	uint64_t name;		     /* offset in an entry of a pointer to its first name */
	uint64_t field_name;	     /* of members: the name of the member */
	uint64_t value, other_value; /* of members: offset; address of a static one */
};

/* Variables: stubs that call methods by index (hotspot_stubs.h). table 0: not known. */
struct hotspot_call_stubs {
	uint64_t table, virtual_bytes, interface_bytes;
};

struct hotspot_file {
	struct hotspot_table_file members, types, constants;
	uint64_t stubs; /* a variable: the first of the stubs (hotspot_stubs.h); 0: not known */
	struct hotspot_call_stubs call_stubs;
};

/*
 * Read a file. Returns 0; -ENOENT if it does not export the tables; -EBADMSG, -E2BIG, -ENOMEM, or
 * the blob's error. On failure *ret is unchanged.
 */
int hotspot_file_read(const struct elf_file *elf, struct hotspot_file *ret);

#endif

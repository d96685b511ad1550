/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scope tables in the packed form of recordings (JITBPF_CODE_PART_PACKED_SCOPES in
 * uapi/packed_recording.h): less than half of the bytes, and a little more than half when both are
 * compressed.
 */
#ifndef JITBPF_DECODE_RECORD_PACKED_SCOPES_H
#define JITBPF_DECODE_RECORD_PACKED_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "decode/record/scope_table.h"

/* Bytes that the packed form of a table of that size has, at most. */
#define PACKED_SCOPES_ROOM(table_bytes) ((table_bytes) / 4 * 5 + 20)

/* Write the packed form of a table to ret. Returns its size in bytes. */
size_t packed_scopes_pack(const struct scope_table *table, uint8_t *ret);

/*
 * Set *ret to the size in bytes of the table, its counts and at most 5 times the packed form.
 * Returns 0, or -EBADMSG: the packed form is too short for its counts.
 */
int packed_scopes_measure(const void *packed, size_t packed_bytes, size_t *ret);

/*
 * Write the table to ret, which has the room that packed_scopes_measure() has returned. Returns 0,
 * or -EBADMSG. The table is not checked beyond its size: scope_table_decode() does that.
 */
int packed_scopes_unpack(const void *packed, size_t packed_bytes, uint8_t *ret);

#endif

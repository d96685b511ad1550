/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scope tables in the packed form of recordings (JITBPF_CODE_PART_PACKED_SCOPES in
 * uapi/packed_recording.h). The packed form has less than half of the bytes; after compression of
 * both forms, a little more than half.
 */
#ifndef JITBPF_DECODE_RECORDING_PACKED_SCOPES_H
#define JITBPF_DECODE_RECORDING_PACKED_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "decode/record/scope_table.h"

/* Limit of the bytes of the packed form of a table. */
#define PACKED_SCOPES_ROOM(table_bytes) ((table_bytes) / 4 * 5 + 20)

/* Write the packed form of a table to ret. Returns its size in bytes. */
size_t packed_scopes_pack(const struct scope_table *table, uint8_t *ret);

/*
 * Set *ret to the size of the unpacked table in bytes, as its counts claim; at most 5 times
 * packed_bytes, plus the counts. Returns 0, or -EBADMSG: the packed form is too short for its
 * counts.
 */
int packed_scopes_measure(const void *packed, size_t packed_bytes, size_t *ret);

/*
 * Write the table to ret, which has the room that packed_scopes_measure() has returned. Returns 0,
 * or -EBADMSG. The table is not checked beyond its size: scope_table_decode() does that.
 */
int packed_scopes_unpack(const void *packed, size_t packed_bytes, uint8_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields that the records of the shim (uapi/jit_record.h) and code events (uapi/code_event.h) have
 * in common. Each function takes a field of size_bytes from the cursor; *ret points into the
 * record. If *ret is set already, the field is a repetition: it is skipped, and counted in
 * *unknown. Functions return 0, or -EBADMSG (the field is cut, or has an invalid size or content).
 */
#ifndef JITBPF_DECODE_RECORD_EVENT_FIELDS_H
#define JITBPF_DECODE_RECORD_EVENT_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "decode/record/code_event.h"

int event_take_string(struct cursor *c, size_t size_bytes, struct code_string *ret,
		      uint32_t *unknown);

/* Items of item_bytes each; they may be unaligned. */
int event_take_items(struct cursor *c, size_t size_bytes, size_t item_bytes, const void **ret,
		     size_t *ret_count, uint32_t *unknown);

/* A scope table that scope_table_decode() accepts. */
int event_take_scopes(struct cursor *c, size_t size_bytes, const void **ret, size_t *ret_bytes,
		      uint32_t *unknown);

#endif

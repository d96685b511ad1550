/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lanes of a segment that is being written (uapi/packed_recording.h). After the first failure,
 * nothing is added: error is -ENOMEM. Empty if zero-initialized. The owner calls lanes_deinit().
 */
#ifndef JITBPF_PIPELINE_RECORD_LANES_H
#define JITBPF_PIPELINE_RECORD_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/leb128.h"
#include "base/vec.h"
#include "base/zigzag.h"
#include "uapi/packed_recording.h"

struct lanes {
	struct lane {
		VEC(uint8_t) bytes;
	} lanes[JITBPF_LANE_COUNT];
	int error;
};

static inline void lane_put_bytes(struct lanes *lanes, enum jitbpf_lane number, const void *bytes,
				  size_t size_bytes)
{
	struct lane *lane = &lanes->lanes[number];

	if (lanes->error || !size_bytes)
		return;
	if (vec_reserve(&lane->bytes, lane->bytes.size + size_bytes)) {
		lanes->error = -ENOMEM;
		return;
	}
	memcpy(lane->bytes.data + lane->bytes.size, bytes, size_bytes);
	lane->bytes.size += size_bytes;
}

static inline void lane_put(struct lanes *lanes, enum jitbpf_lane number, uint64_t value)
{
	uint8_t bytes[LEB128_BYTES_MAX];

	lane_put_bytes(lanes, number, bytes, leb128_write(value, bytes));
}

static inline void lane_put_difference(struct lanes *lanes, enum jitbpf_lane number, uint64_t value)
{
	lane_put(lanes, number, zigzag(value));
}

static inline size_t lanes_bytes(const struct lanes *lanes)
{
	size_t bytes = 0;

	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++)
		bytes += lanes->lanes[i].bytes.size;
	return bytes;
}

static inline void lanes_deinit(struct lanes *lanes)
{
	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++)
		vec_deinit(&lanes->lanes[i].bytes);
}

#define LANE_KEEP_BYTES (1u << 20) /* capacity that an empty lane keeps, at most */

static inline void lanes_clear(struct lanes *lanes)
{
	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		struct lane *lane = &lanes->lanes[i];

		if (lane->bytes.capacity > LANE_KEEP_BYTES)
			vec_deinit(&lane->bytes);
		lane->bytes.size = 0;
	}
}

#endif

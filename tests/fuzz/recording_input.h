/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes recordings of fuzz inputs, whose damage is behind the checksums and the compression. In an
 * input, the contents of segments follow the file header, each after its size in 4 bytes. An input
 * with the header of another version is a file as it is.
 */
#ifndef JITBPF_TESTS_FUZZ_RECORDING_INPUT_H
#define JITBPF_TESTS_FUZZ_RECORDING_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/fuzz/check.h"
#include "tests/unit/decode/record/segment_file.h"
#include "uapi/recording.h"

static inline void put_contents(struct segment_file *file, const uint8_t *at, size_t left)
{
	uint32_t size;

	while (left >= sizeof(size)) {
		memcpy(&size, at, sizeof(size));
		at += sizeof(size);
		left -= sizeof(size);
		if (size > left)
			size = (uint32_t)left;
		segment_file_put_content(file, at, size);
		at += size;
		left -= size;
	}
	segment_file_put(file, at, left);
}

/* Returns the recording of an input; the caller frees it. */
static inline uint8_t *recording_of_input(const uint8_t *data, size_t size, size_t *ret_size)
{
	struct jitbpf_recording_header header = {0};
	struct segment_file file = {0};
	bool is_packed;

	if (size >= sizeof(header))
		memcpy(&header, data, sizeof(header));
	is_packed = header.version == JITBPF_RECORDING_VERSION;
	if (is_packed) {
		segment_file_begin(&file);
		put_contents(&file, data + sizeof(header), size - sizeof(header));
	} else {
		CHECK(!vec_reserve(&file.bytes, size + 1));
		segment_file_put(&file, data, size);
	}
	ZSTD_freeCCtx(file.zstd);
	*ret_size = file.bytes.size;
	return file.bytes.data;
}

#endif

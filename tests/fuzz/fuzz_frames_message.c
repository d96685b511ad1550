/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that a reader process answers: what is accepted is encoded to the same bytes. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "symbolize/frames_message.h"
#include "tests/fuzz/seeds.h"

SEEDS(4);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	message_bytes again = {0};
	uint32_t count = 0;

	if (frames_message_get(data, size_bytes, "module", frames, &count)) {
		CHECK(count == 0);
		return 0;
	}
	seed_taken();
	CHECK(count > 0 && count <= SYMBOL_FRAMES_MAX && !frames[count - 1].inlined);
	for (uint32_t i = 0; i < count; i++) {
		CHECK(strlen(frames[i].name) <= SYMBOL_NAME_BYTES_MAX);
		CHECK(!frames[i].file || strlen(frames[i].file) <= FRAMES_FILE_BYTES_MAX);
		CHECK(!frames[i].decl_file || strlen(frames[i].decl_file) <= FRAMES_FILE_BYTES_MAX);
	}
	CHECK(!frames_message_put(&again, frames, count));
	CHECK(again.size == size_bytes && !memcmp(again.data, data, size_bytes));
	vec_deinit(&again);
	return 0;
}

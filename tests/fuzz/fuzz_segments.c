/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The segments of a recording, with their compressed bytes. Checksums are corrected. */
#include <stdint.h>

#include "decode/recording/recording_reader.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/decode/record/segment_file.h"

SEEDS(1);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct recording_error error = {0};
	const struct jitbpf_record *record;
	struct jitbpf_segment_head head;
	struct recording_reader *reader;
	struct segment_file file;
	const void *packed;
	struct blob blob;
	int err;

	segment_file_begin(&file);
	cursor_skip(&c, sizeof(struct jitbpf_recording_header));
	while (!cursor_read(&c, &head, sizeof(head)) && !cursor_take(&c, head.bytes, &packed))
		segment_file_put_packed(&file, packed, head.bytes);
	blob = blob_of_memory(file.bytes.data, file.bytes.size);
	CHECK(!recording_reader_open(&blob, &reader, &error));
	while ((err = recording_reader_next(reader, &record, &error)) == 1)
		;
	if (!err)
		seed_taken();
	CHECK(!err || (err == -EBADMSG && error.what && error.offset <= file.bytes.size));
	recording_reader_close(reader);
	segment_file_deinit(&file);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/go_values.h"

#include <errno.h>

#include "base/zigzag.h"

#define NUMBER_BITS_MAX 35

struct go_values go_values_begin(const struct blob *blob, uint64_t offset, uint64_t end)
{
	uint64_t most = offset <= UINT64_MAX - GO_VALUES_BYTES_MAX ? offset + GO_VALUES_BYTES_MAX
								   : UINT64_MAX;

	return (struct go_values){
		.blob = blob,
		.at = offset,
		.blob_end = end < most ? end : most,
		.value = -1,
	};
}

static int fill(struct go_values *values)
{
	uint64_t left = values->at < values->blob_end ? values->blob_end - values->at : 0;
	int err;

	left = left < sizeof(values->piece) ? left : sizeof(values->piece);
	if (!left)
		return -EBADMSG;
	err = blob_read(values->blob, values->at, values->piece, left);
	values->at += left;
	values->used = 0;
	values->filled = left;
	return err;
}

static int read_number(struct go_values *values, uint32_t *ret)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < NUMBER_BITS_MAX; shift += 7) {
		int err = values->used == values->filled ? fill(values) : 0;
		uint8_t byte;

		if (err)
			return err;
		byte = values->piece[values->used++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = (uint32_t)number;
			return 0;
		}
	}
	return -EBADMSG;
}

int go_values_next(struct go_values *values)
{
	uint32_t difference, bytes;
	int err = read_number(values, &difference);

	if (err)
		return err;
	if (!difference && values->end)
		return 0;
	err = read_number(values, &bytes);
	if (err)
		return err;
	values->value = (int32_t)((uint32_t)values->value + (uint32_t)unzigzag(difference));
	values->start = values->end;
	values->end += bytes;
	return 1;
}

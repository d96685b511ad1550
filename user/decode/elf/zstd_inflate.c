/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/zstd_inflate.h"

#include <errno.h>
#include <zstd.h>

#include "base/scope.h"

#define INPUT_BYTES	(16u << 10)
#define ZSTD_WINDOW_LOG 26 /* limit of the zstd window, which bounds the decoder's memory */

int zstd_inflate(const struct blob *blob, uint64_t begin, uint64_t end, uint8_t *to,
		 uint64_t size_bytes)
{
	AUTO_FREE uint8_t *input = malloc(INPUT_BYTES);
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_outBuffer out = {to, size_bytes, 0};
	ZSTD_inBuffer in = {input, 0, 0};
	uint64_t at = begin;
	int err = context && input ? 0 : -ENOMEM;

	/* Skippable frames in a sparse file could make the input terabytes long. */
	if (!err && (end - begin) / 2 > size_bytes + INPUT_BYTES)
		err = -EBADMSG;
	if (context)
		ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	while (!err && out.pos < out.size) {
		size_t status, before = out.pos;

		if (in.pos == in.size) {
			uint64_t left = end - at;

			in.pos = 0;
			in.size = left < INPUT_BYTES ? left : INPUT_BYTES;
			err = in.size ? blob_read(blob, at, input, in.size) : -EBADMSG;
			if (err)
				break;
			at += in.size;
		}
		status = ZSTD_decompressStream(context, &out, &in);
		if (ZSTD_isError(status) || (out.pos == before && in.pos < in.size))
			err = -EBADMSG;
	}
	ZSTD_freeDCtx(context);
	return err;
}

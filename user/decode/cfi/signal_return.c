/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/signal_return.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/scope.h"

#define PIECE_BYTES  (16u << 10)
#define MARGIN_BYTES 16 /* more than the size of a trampoline */

/*
 * The search is for the second byte of the short and rare syscall: memchr() is several times as
 * fast as memmem(). The bytes before it are compared after.
 */
static const uint8_t syscall_code[] = {0x0f, 0x05};

/* A piece of the file with a margin on both sides. */
struct piece {
	uint8_t bytes[MARGIN_BYTES + PIECE_BYTES + MARGIN_BYTES];
	uint64_t offset; /* file offset of bytes[0] */
	size_t size_bytes;
};

static int piece_read(const struct blob *blob, uint64_t offset, struct piece *ret)
{
	uint64_t end = offset + PIECE_BYTES + MARGIN_BYTES;

	ret->offset = offset > MARGIN_BYTES ? offset - MARGIN_BYTES : 0;
	if (end > blob->size_bytes)
		end = blob->size_bytes;
	ret->size_bytes = end - ret->offset;
	return blob_read(blob, ret->offset, ret->bytes, ret->size_bytes);
}

/* Returns the next syscall from `at` on, or NULL. */
static const uint8_t *syscall_find(const uint8_t *at, const uint8_t *end)
{
	while (end - at >= (ptrdiff_t)sizeof(syscall_code)) {
		at = memchr(at + 1, syscall_code[1], (size_t)(end - at) - 1);
		if (!at || at[-1] == syscall_code[0])
			return at ? at - 1 : NULL;
	}
	return NULL;
}

/* Returns the start of the trampoline whose syscall is at `at`; NULL for other code. */
static const uint8_t *code_begin(const struct piece *piece, const uint8_t *at)
{
	/* mov $SYS_rt_sigreturn to rax or to eax */
	static const uint8_t long_mov[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0};
	static const uint8_t short_mov[] = {0xb8, 0x0f, 0, 0, 0};
	size_t before = (size_t)(at - piece->bytes);

	if (before >= sizeof(long_mov) &&
	    !memcmp(at - sizeof(long_mov), long_mov, sizeof(long_mov)))
		return at - sizeof(long_mov);
	if (before >= sizeof(short_mov) &&
	    !memcmp(at - sizeof(short_mov), short_mov, sizeof(short_mov)))
		return at - sizeof(short_mov);
	return NULL;
}

/*
 * Returns whether no function begins at the bytes: they are padding, or an instruction that ends
 * the process.
 */
static bool begins_no_function(const uint8_t *at, const uint8_t *end)
{
	static const char *const codes[] = {
		"\x90",	    "\xcc",	"\xf4",	    "\x0f\x0b",	    "\x0f\x1f",
		"\x66\x90", "\x66\x2e", "\x66\x66", "\x66\x0f\x1f",
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		size_t size = strlen(codes[i]);

		if ((size_t)(end - at) >= size && !memcmp(at, codes[i], size))
			return true;
	}
	return false;
}

static bool piece_find(const struct piece *piece, uint64_t offset, uint64_t end,
		       uint64_t *ret_start, uint64_t *ret_end)
{
	const uint8_t *at = piece->bytes, *bytes_end = piece->bytes + piece->size_bytes;

	for (; (at = syscall_find(at, bytes_end)); at++) {
		const uint8_t *begin = code_begin(piece, at);
		uint64_t code_end =
			piece->offset + (uint64_t)(at - piece->bytes) + sizeof(syscall_code);
		uint64_t code_start;

		if (!begin)
			continue;
		code_start = piece->offset + (uint64_t)(begin - piece->bytes);
		code_start -= code_start > 0;
		code_end += begins_no_function(at + sizeof(syscall_code), bytes_end);
		if (code_start >= end || code_end <= offset)
			continue;
		*ret_start = code_start;
		*ret_end = code_end;
		return true;
	}
	return false;
}

int signal_return_find(const struct blob *blob, uint64_t offset, uint64_t end, uint64_t *ret_start,
		       uint64_t *ret_end)
{
	uint64_t limit = end < blob->size_bytes ? end : blob->size_bytes;
	struct piece piece;
	int err;

	for (uint64_t at = offset; at < limit; at += PIECE_BYTES) {
		err = piece_read(blob, at, &piece);
		if (err)
			return err;
		if (piece_find(&piece, offset, end, ret_start, ret_end))
			return 0;
	}
	*ret_start = *ret_end = end;
	return 0;
}

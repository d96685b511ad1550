/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/signal_return.h"

#include <stddef.h>
#include <string.h>

#include "base/scope.h"
#include "uapi/unwind.h"

#define PIECE_BYTES  (16u << 10)
#define MARGIN_BYTES 16 /* more than the size of a trampoline */

/*
 * The search is for the second byte of the short and rare syscall: memchr() is several times as
 * fast as memmem(). The bytes before it are compared after.
 */
#define SYSCALL_BYTES 2
static const uint8_t syscall_code[SYSCALL_BYTES] = {0x0f, 0x05};
static const uint8_t int_80_code[SYSCALL_BYTES] = {0xcd, 0x80};

/* Offsets of struct sigcontext from esp in 32-bit code, behind the return from the handler. */
#define NARROW_CONTEXT	  4   /* struct sigframe: behind the number of the signal */
#define NARROW_RT_CONTEXT 160 /* struct rt_sigframe */

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

/* Returns the next place of an instruction of SYSCALL_BYTES from `at` on, or NULL. */
static const uint8_t *syscall_find(const uint8_t *code, const uint8_t *at, const uint8_t *end)
{
	while (end - at >= SYSCALL_BYTES) {
		at = memchr(at + 1, code[1], (size_t)(end - at) - 1);
		if (!at || at[-1] == code[0])
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

/* code_begin() for 32-bit code. *ret_context is the offset of struct sigcontext from esp there. */
static const uint8_t *narrow_begin(const struct piece *piece, const uint8_t *at, int *ret_context)
{
	/* pop %eax; mov $SYS_sigreturn,%eax; and mov $SYS_rt_sigreturn,%eax */
	static const uint8_t old[] = {0x58, 0xb8, 0x77, 0, 0, 0}, rt[] = {0xb8, 0xad, 0, 0, 0};
	size_t before = (size_t)(at - piece->bytes);

	*ret_context = NARROW_CONTEXT;
	if (before >= sizeof(old) && !memcmp(at - sizeof(old), old, sizeof(old)))
		return at - sizeof(old);
	*ret_context = NARROW_RT_CONTEXT;
	if (before >= sizeof(rt) && !memcmp(at - sizeof(rt), rt, sizeof(rt)))
		return at - sizeof(rt);
	return NULL;
}

static bool is_in(const struct signal_return *found, uint64_t offset, uint64_t end)
{
	return found->start < end && found->end > offset;
}

/* Sets *ret to the trampoline whose system call is at `at`. Returns false for other code. */
static bool trampoline_at(const struct piece *piece, bool narrow, const uint8_t *at,
			  uint64_t offset, uint64_t end, struct signal_return *ret)
{
	const uint8_t *begin, *behind = at + SYSCALL_BYTES;
	int context = 0;

	begin = narrow ? narrow_begin(piece, at, &context) : code_begin(piece, at);
	if (!begin)
		return false;
	ret->start = piece->offset + (uint64_t)(begin - piece->bytes);
	ret->end = piece->offset + (uint64_t)(behind - piece->bytes);
	ret->end += begins_no_function(behind, piece->bytes + piece->size_bytes);
	ret->cfa = narrow ? UNWIND_NARROW_CFA(UNWIND_NARROW_SIGNAL, context)
			  : UNWIND_CFA_COMMAND(UNWIND_SIGNAL);
	if (context == NARROW_CONTEXT) {
		struct signal_return popping = *ret;

		popping.end = ++ret->start;
		popping.start -= popping.start > 0;
		ret->cfa = UNWIND_NARROW_CFA(UNWIND_NARROW_SIGNAL, 0);
		if (is_in(&popping, offset, end))
			*ret = popping;
	} else {
		ret->start -= ret->start > 0;
	}
	return is_in(ret, offset, end);
}

static bool piece_find(const struct piece *piece, bool narrow, uint64_t offset, uint64_t end,
		       struct signal_return *ret)
{
	const uint8_t *at = piece->bytes, *bytes_end = piece->bytes + piece->size_bytes;
	struct signal_return found;

	for (; (at = syscall_find(narrow ? int_80_code : syscall_code, at, bytes_end)); at++) {
		if (!trampoline_at(piece, narrow, at, offset, end, &found))
			continue;
		*ret = found;
		return true;
	}
	return false;
}

int signal_return_find(const struct blob *blob, bool narrow, uint64_t offset, uint64_t end,
		       struct signal_return *ret)
{
	uint64_t limit = end < blob->size_bytes ? end : blob->size_bytes;
	struct piece piece;
	int err;

	for (uint64_t at = offset; at < limit; at += PIECE_BYTES) {
		err = piece_read(blob, at, &piece);
		if (err)
			return err;
		if (piece_find(&piece, narrow, offset, end, ret))
			return 0;
	}
	*ret = (struct signal_return){.start = end, .end = end};
	return 0;
}

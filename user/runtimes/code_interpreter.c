/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/code_interpreter.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/code_unwind.h"

/* A piece begins at a multiple of PIECE_ALIGNMENT, behind the zeros at the end of its header. */
#define PIECE_ALIGNMENT	   32
#define PIECE_HEADER_ZEROS 8
#define PROLOGUE_BYTES_MAX 256

/* Limit of the code between the restore of rsp and the jump to the return address. */
#define RETURN_BYTES_MAX 16

/* push rbp; mov rbp, rsp; push r13, which is the caller's rsp */
static const uint8_t setup[] = {0x55, 0x48, 0x8b, 0xec, 0x41, 0x55};
#define SETUP_PUSHED 1
#define SETUP_MOVED  4

struct interpreter {
	const uint8_t *code;
	size_t code_bytes;
	uint64_t address;
	struct unwind_rows *rows;
};

static int add(const struct interpreter *in, size_t at, int32_t cfa, int16_t rbp)
{
	return unwind_rows_add(in->rows, (uint32_t)at, cfa, rbp);
}

static int add_command(const struct interpreter *in, size_t at, enum unwind_command command)
{
	return add(in, at, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

static bool is_piece(const struct interpreter *in, size_t at)
{
	static const uint8_t zeros[PIECE_HEADER_ZEROS];

	return (in->address + at) % PIECE_ALIGNMENT == 0 && at >= sizeof(zeros) &&
	       !memcmp(in->code + at - sizeof(zeros), zeros, sizeof(zeros));
}

/* Returns the begin of the piece that sets up a frame at an offset; the offset if it is not found.
 */
static size_t prologue_begin(const struct interpreter *in, size_t at)
{
	for (size_t i = at; i && at - i < PROLOGUE_BYTES_MAX; i--) {
		if (is_piece(in, i))
			return i;
	}
	return at;
}

/*
 * Add the rows of a prologue. Where it has pushed an unknown number of local variables, they are
 * unknown.
 */
static int add_prologue(const struct interpreter *in, size_t begin, size_t at)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows made = {0};
	int err = begin == at ? 0
			      : code_unwind(in->code + begin, at - begin, in->address + begin,
					    &code_entry_called, &made);

	vec_for_each (row, &made.rows)
		err = err ?: add(in, begin + row->offset, row->cfa, row->rbp);
	/* rsp points to the return address. The variables between it and the CFA are left out. */
	err = err ?: add(in, at, UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT);
	err = err ?: add(in, at + SETUP_PUSHED, UNWIND_CFA(UNWIND_CFA_RSP, 16), -2);
	err = err ?: add(in, at + SETUP_MOVED, UNWIND_CFA(UNWIND_CFA_RBP, 16), -2);
	return err ?: add_command(in, at + sizeof(setup), UNWIND_INTERPRETER);
}

/* Returns true for: leave; pop reg; mov rsp, rbx. */
static bool is_return(const uint8_t *code)
{
	return code[0] == 0xc9 && code[1] >= 0x58 && code[1] <= 0x5f && code[2] == 0x48 &&
	       code[3] == 0x8b && code[4] == 0xe3;
}
#define IS_RETURN_BYTES 5

/* Returns the offset behind the jump to the return address, or 0 if there is none. */
static size_t jump_end(const struct interpreter *in, size_t at)
{
	for (size_t end = at + 2; end <= in->code_bytes && end <= at + RETURN_BYTES_MAX; end++) {
		if (in->code[end - 2] == 0xff && in->code[end - 1] >= 0xe0 &&
		    in->code[end - 1] <= 0xe7)
			return end;
	}
	return 0;
}

static int add_return(const struct interpreter *in, size_t at, size_t *ret_end)
{
	size_t end = jump_end(in, at + IS_RETURN_BYTES);
	int err = add(in, at + 1, UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT);

	/* A register has the return address. */
	err = err ?: add_command(in, at + 2, UNWIND_UNKNOWN);
	*ret_end = end ?: at + IS_RETURN_BYTES;
	if (!err && *ret_end < in->code_bytes)
		err = add_command(in, *ret_end, UNWIND_INTERPRETER);
	return err;
}

int code_interpreter(const uint8_t *code, size_t code_bytes, uint64_t address,
		     struct unwind_rows *ret)
{
	struct interpreter in = {code, code_bytes, address, ret};
	size_t done = 0; /* rows exist up to there */
	int err;

	if (!code_bytes || code_bytes > CODE_UNWIND_BYTES_MAX)
		return -EINVAL;
	err = add_command(&in, 0, UNWIND_INTERPRETER);
	for (size_t at = 0; !err && at < code_bytes; at++) {
		if (code_bytes - at > sizeof(setup) && !memcmp(code + at, setup, sizeof(setup))) {
			size_t begin = prologue_begin(&in, at);

			err = add_prologue(&in, begin < done ? at : begin, at);
			done = at + sizeof(setup);
			at = done - 1;
		} else if (code_bytes - at > IS_RETURN_BYTES && is_return(code + at)) {
			err = add_return(&in, at, &done);
			at = done - 1;
		}
	}
	return err;
}

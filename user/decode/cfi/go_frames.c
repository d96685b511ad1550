/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/go_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define PROLOGUE_BYTES 64
#define REX_W	       0x48
#define REX_W_B	       0x49
#define MOV_LOAD       0x8b
#define MODRM_RSP      0x20 /* reg is rsp */

/* Offsets from the start of a function. */
struct go_prologue {
	uint32_t saved; /* rbp is saved below the return address from here on; UINT32_MAX: never */
	uint32_t ready; /* rbp points to where it is saved */
};

/* --- code ------------------------------------------------------------------------- */

/* Returns the offset of bytes in code, or UINT32_MAX. */
static uint32_t find(const uint8_t *code, size_t code_bytes, const void *bytes, size_t size_bytes)
{
	const uint8_t *at = memmem(code, code_bytes, bytes, size_bytes);

	return at ? (uint32_t)(at - code) : UINT32_MAX;
}

/*
 * Go 1.21 and later: push %rbp; mov %rsp,%rbp. Earlier: the frame is allocated first, then
 * mov %rbp,N(%rsp); lea N(%rsp),%rbp.
 */
static struct go_prologue prologue_of(const struct go_code *code)
{
	static const uint8_t pushed[] = {0x55, 0x48, 0x89, 0xe5};
	static const uint8_t moved_8[] = {0x48, 0x89, 0x6c, 0x24},
			     lea_8[] = {0x48, 0x8d, 0x6c, 0x24};
	static const uint8_t moved_32[] = {0x48, 0x89, 0xac, 0x24},
			     lea_32[] = {0x48, 0x8d, 0xac, 0x24};
	size_t size_bytes = code->size_bytes < PROLOGUE_BYTES ? code->size_bytes : PROLOGUE_BYTES;
	uint32_t at = find(code->bytes, size_bytes, pushed, sizeof(pushed));

	if (at != UINT32_MAX)
		return (struct go_prologue){at + 1, at + sizeof(pushed)};
	at = find(code->bytes, size_bytes, moved_8, sizeof(moved_8));
	if (at != UINT32_MAX && at + 10 <= size_bytes &&
	    !memcmp(code->bytes + at + 5, lea_8, sizeof(lea_8)))
		return (struct go_prologue){at + 5, at + 10};
	at = find(code->bytes, size_bytes, moved_32, sizeof(moved_32));
	if (at != UINT32_MAX && at + 16 <= size_bytes &&
	    !memcmp(code->bytes + at + 8, lea_32, sizeof(lea_32)))
		return (struct go_prologue){at + 8, at + 16};
	return (struct go_prologue){UINT32_MAX, UINT32_MAX};
}

/* Returns the offset behind the first instruction that loads rsp from memory, or UINT32_MAX. */
static uint32_t behind_rsp_load(const struct go_code *code)
{
	for (uint32_t at = 0; at + 4 <= code->size_bytes; at++) {
		const uint8_t *b = code->bytes + at;
		uint8_t base = b[2] & 7, mode = b[2] >> 6;

		if ((b[0] != REX_W && b[0] != REX_W_B) || b[1] != MOV_LOAD ||
		    (b[2] & 0x38) != MODRM_RSP || base == 4)
			continue;
		if (mode == 1 || (!mode && base != 5))
			return at + 3 + mode;
	}
	return UINT32_MAX;
}

/*
 * The end of systemstack has all offsets of the way to the state in which the thread's goroutine
 * has stopped:
 *	mov	M(%rax),%rbx		the thread, from the running goroutine
 *	mov	G(%rbx),%rax		the goroutine that it works for
 *	mov	%rax,%fs:T
 *	mov	SP(%rax),%rsp
 *	mov	BP(%rax),%rbp
 */
static bool stopped_of(const uint8_t *code, size_t code_bytes, struct unwind_row *ret)
{
	enum { M = 3, G = 7, T = 16, SP = 23, BP = 27, BYTES = 28 };
	static const uint8_t load[] = {0x48, 0x8b, 0x58}, goroutine[] = {0x48, 0x8b, 0x83},
			     set[] = {0x64, 0x48, 0x89, 0x04, 0x25}, sp[] = {0x48, 0x8b, 0x60},
			     bp[] = {0x48, 0x8b, 0x68};

	for (size_t at = 0; at + BYTES <= code_bytes; at++) {
		const uint8_t *b = code + at;
		uint32_t second;
		int32_t thread;

		if (memcmp(b, load, sizeof(load)) || memcmp(b + 4, goroutine, sizeof(goroutine)) ||
		    memcmp(b + 11, set, sizeof(set)) || memcmp(b + 20, sp, sizeof(sp)) ||
		    memcmp(b + 24, bp, sizeof(bp)))
			continue;
		memcpy(&second, b + G, sizeof(second));
		memcpy(&thread, b + T, sizeof(thread));
		if ((b[M] | b[SP] | b[BP] | second | (uint32_t)thread) & 7 ||
		    b[M] / 8 >= UNWIND_SAVED_FIRST_MAX || second / 8 >= UNWIND_SAVED_SECOND_MAX ||
		    b[SP] / 8 >= UNWIND_SAVED_OFFSET_MAX || b[BP] <= b[SP] ||
		    (b[BP] - b[SP]) / 8 >= UNWIND_SAVED_FRAME_MAX || thread / 8 < INT16_MIN ||
		    thread / 8 >= INT16_MAX)
			return false;
		ret->rbp = (int16_t)(thread / 8);
		ret->cfa = UNWIND_SAVED_AT(b[M], second, b[SP], b[BP] - b[SP]);
		return true;
	}
	return false;
}

/* --- the functions of a file --------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct go_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_stopped(struct go_frames *frames, const struct elf_file *elf, uint64_t address)
{
	uint8_t code[GO_CODE_BYTES];
	uint64_t offset;
	size_t size_bytes;

	if (!elf_file_offset(elf, address, &offset) || offset >= elf->blob->size_bytes)
		return;
	size_bytes = elf->blob->size_bytes - offset < sizeof(code)
			     ? (size_t)(elf->blob->size_bytes - offset)
			     : sizeof(code);
	if (!blob_read(elf->blob, offset, code, size_bytes))
		stopped_of(code, size_bytes, &frames->stopped);
}

static bool is_of_go(const struct elf_file *elf)
{
	for (const char *const *name = go_sections; *name; name++) {
		if (elf_file_section(elf, *name))
			return true;
	}
	return false;
}

static void frames_begin(struct go_frames *ret, bool is_go)
{
	*ret = (struct go_frames){
		.is_go = is_go,
		.stopped = {.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), .rbp = UNWIND_RBP_KEPT},
	};
}

struct frames_context {
	struct go_frames *frames;
	const struct elf_file *elf;
};

static int add_function(void *context_, const char *name, uint64_t start)
{
	const struct frames_context *context = context_;
	struct go_function function = {start, go_role_of(name)};

	if (function.role == GO_ORDINARY)
		return 0;
	if (go_is_systemstack(name))
		read_stopped(context->frames, context->elf, start);
	return vec_push(&context->frames->functions, function);
}

static int frames_end(struct go_frames *frames, int err)
{
	if (frames->functions.size)
		qsort(frames->functions.data, frames->functions.size,
		      sizeof(*frames->functions.data), by_start);
	if (err)
		vec_deinit(&frames->functions);
	return err;
}

int go_frames_init(struct go_frames *ret, const struct elf_file *elf)
{
	CLEANUP(elf_symbols_deinit) struct elf_symbols symbols = {0};
	struct frames_context context = {ret, elf};
	int err;

	frames_begin(ret, is_of_go(elf));
	if (!ret->is_go)
		return 0;
	err = elf_file_symbols(elf, false, &symbols);
	if (err)
		return err == -ENOENT || err == -EBADMSG || err == -E2BIG ? 0 : err;
	vec_for_each (symbol, &symbols.symbols)
		err = err ?: add_function(&context, symbol->name, symbol->address);
	return frames_end(ret, err);
}

int go_frames_init_stripped(struct go_frames *ret, const struct elf_file *elf,
			    const struct go_table *table)
{
	struct frames_context context = {ret, elf};
	int err;

	frames_begin(ret, true);
	err = go_table_each(table, add_function, &context);
	/* Of a table that is damaged or too large, the functions that were found count. */
	return frames_end(ret, err == -EBADMSG || err == -E2BIG ? 0 : err);
}

void go_frames_deinit(struct go_frames *frames)
{
	vec_deinit(&frames->functions);
}

size_t go_frames_bytes(const struct go_frames *frames)
{
	return frames->functions.capacity * sizeof(*frames->functions.data);
}

static enum go_role role_at(const struct go_frames *frames, uint64_t start)
{
	const struct go_function wanted = {.start = start};
	const struct go_function *found =
		frames->functions.size ? bsearch(&wanted, frames->functions.data,
						 frames->functions.size, sizeof(wanted), by_start)
				       : NULL;

	return found ? found->role : GO_ORDINARY;
}

/* --- rows ------------------------------------------------------------------------------ */

static int add_command(const struct frame_window *window, uint64_t address,
		       enum unwind_command command)
{
	return frame_window_add(window, address, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

/* Add a row of [from, to), with its parts before and after the prologue's steps. */
static int add_parts(const struct frame_window *window, uint64_t from, uint64_t to, int32_t cfa,
		     const struct go_prologue *prologue, uint64_t start, bool switches)
{
	bool framed = (cfa & UNWIND_RULE_MASK) == UNWIND_CFA_RSP &&
		      cfa > UNWIND_CFA(UNWIND_CFA_RSP, 8) && prologue->saved != UINT32_MAX;
	uint64_t saved = start + prologue->saved, ready = start + prologue->ready;
	int err = 0;

	if (!framed || from < saved)
		err = frame_window_add(window, from, cfa, UNWIND_RBP_KEPT);
	if (!err && framed && saved < to && from < ready)
		err = frame_window_add(window, from > saved ? from : saved, cfa, -2);
	if (!err && framed && ready < to)
		err = switches ? add_command(window, from > ready ? from : ready, UNWIND_SWITCHED)
			       : frame_window_add(window, from > ready ? from : ready, cfa, -2);
	return err;
}

/* Add the rows of [window->start, end). */
static int add_rows(const struct go_code *code, const struct unwind_rows *rows,
		    const struct frame_window *window, uint64_t end, bool switches)
{
	const struct go_prologue prologue = prologue_of(code);
	int err = 0;

	for (size_t i = 0; i < rows->rows.size && !err; i++) {
		const struct unwind_wide_row *row = &rows->rows.data[i];
		uint64_t from = window->start + (row->offset - window->offset);
		uint64_t to = i + 1 < rows->rows.size
				      ? window->start + (row[1].offset - window->offset)
				      : window->end;

		if (to > end)
			to = end;
		if (from < to)
			err = add_parts(window, from, to, row->cfa, &prologue, code->start,
					switches);
	}
	return err;
}

int go_frames_add(const struct go_frames *frames, const struct go_code *code,
		  const struct unwind_rows *rows, const struct frame_window *window)
{
	enum go_role role = role_at(frames, code->start);
	uint32_t load = UINT32_MAX;
	uint64_t behind;
	int err;

	if (role == GO_FIRST)
		return add_command(window, window->start, UNWIND_ROOT);
	if (role == GO_ORDINARY || role == GO_SWITCHES)
		return add_rows(code, rows, window, window->end, role == GO_SWITCHES);
	load = behind_rsp_load(code);
	if (load == UINT32_MAX)
		return add_command(window, window->start, UNWIND_UNKNOWN);
	behind = code->start + load;
	err = add_rows(code, rows, window, behind, false);
	if (err || behind >= window->end)
		return err;
	if (role == GO_STOPS)
		return frame_window_add(window, behind, frames->stopped.cfa, frames->stopped.rbp);
	return add_command(window, behind, role == GO_STARTS ? UNWIND_ROOT : UNWIND_UNKNOWN);
}

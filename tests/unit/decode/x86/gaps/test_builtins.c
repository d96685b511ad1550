/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of builtins in a file without call frame information: by symbols, and by V8's table. */
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/gaps/builtins.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/v8_image.h"
#include "tests/unit/decode/x86/assembled.h"

#define LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define TEXT  IMAGE_TEXT_ADDRESS

/* A fast path without a frame, and a slow one. */
CODE(add, "test $1,%al\n jne 1f\n add %rdx,%rax\n ret\n"
	  "1: push %rbp\n mov %rsp,%rbp\n call add_begin+4096\n mov %rbp,%rsp\n pop %rbp\n ret");
/* Continues in the frame of another function. */
CODE(leave_frame, "mov -24(%rbp),%r8\n mov %rbp,%rsp\n pop %rbp\n pop %r8\n"
		  "lea (%rsp,%rbx,8),%rsp\n push %r8\n ret");
/* Leaves by a jump with an unknown number of arguments. */
CODE(varargs, "mov (%rsp),%rcx\n sub %rax,%rsp\n mov %rcx,(%rsp)\n jmp *%rdi");

static struct elf_image image;
static struct blob blob;
static struct elf_file elf;
static struct builtins builtins;
static struct unwind_rows rows;

static int setup(void **state)
{
	image_init(&image);
	blob = image_blob(&image);
	return 0;
}

static int teardown(void **state)
{
	builtins_deinit(&builtins);
	unwind_rows_deinit(&rows);
	elf_file_deinit(&elf);
	return 0;
}

static void put(uint32_t at, const uint8_t *begin, const uint8_t *end, const char *name)
{
	memcpy(image.bytes + IMAGE_TEXT + at, begin, end - begin);
	image_symbol(&image, SECTION_SYMBOLS, name, TEXT + at, end - begin, LOCAL);
}

#define PUT(at, code, name) put(at, code##_begin, code##_end, name)

static void search(uint64_t low, uint64_t high)
{
	elf_file_deinit(&elf);
	builtins_deinit(&builtins);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	assert_int_equal(builtins_init(&builtins, &elf, low, high), 0);
}

static int add_window(uint64_t start, uint64_t end, uint64_t work_bytes)
{
	struct frame_window window = {.start = start, .end = end, .rows = &rows};

	rows.rows.size = 0;
	return builtins_add(&builtins, &elf, &window, &work_bytes);
}

static int32_t cfa_at(uint32_t at)
{
	return unwind_rows_at(&rows, at).cfa;
}

#define BY_POINTER UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)
#define UNKNOWN	   UNWIND_CFA_COMMAND(UNWIND_UNKNOWN)

CASE_WITH(test_rows, setup, teardown)
{
	PUT(0x140, leave_frame, "Builtins_BaselineLeaveFrame");
	PUT(0x40, add, "Builtins_Add_Baseline");
	PUT(0x100, varargs, "Builtins_CallVarargs");
	PUT(0x180, varargs, "Builtins_Unconfirmed");
	PUT(0x1c0, varargs, "Builtins_UnconfirmedHandler");
	PUT(0x80, add, "another_function");
	search(TEXT, TEXT + IMAGE_TEXT_BYTES);
	assert_int_equal(builtins.all.size, 5);
	assert_int_equal(add_window(TEXT, TEXT + IMAGE_TEXT_BYTES, UINT64_MAX), 0);
	assert_int_equal(cfa_at(0), BY_POINTER);
	assert_int_equal(cfa_at(0x40), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(0x40 + 7), UNWIND_CFA(UNWIND_CFA_RSP, 8)); /* ret */
	assert_int_equal(cfa_at(0x40 + 12), UNWIND_CFA(UNWIND_CFA_RBP, 16));
	assert_int_equal(cfa_at(0x80), BY_POINTER);
	assert_int_equal(cfa_at(0x100), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(0x140), BY_POINTER);
	assert_int_equal(cfa_at(0x140 + leave_frame_end - leave_frame_begin - 1), BY_POINTER);
	assert_int_equal(cfa_at(0x180), BY_POINTER);
	assert_int_equal(cfa_at(0x1c0), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(IMAGE_TEXT_BYTES - 1), BY_POINTER);
}

/* A window can begin and end inside of builtins. */
CASE_WITH(test_window, setup, teardown)
{
	PUT(0x40, add, "Builtins_Add_Baseline");
	search(TEXT, TEXT + IMAGE_TEXT_BYTES);
	assert_int_equal(add_window(TEXT + 0x4c, TEXT + 0x4d, UINT64_MAX), 0);
	assert_int_equal(rows.rows.size, 1);
	assert_int_equal(cfa_at(0), UNWIND_CFA(UNWIND_CFA_RBP, 16));
	assert_int_equal(add_window(TEXT, TEXT + 0x40, UINT64_MAX), -ENOENT);
	assert_int_equal(add_window(TEXT + 0x100, TEXT + 0x200, UINT64_MAX), -ENOENT);
	assert_int_equal(rows.rows.size, 0);
}

/* Symbols that share code, have no end, or are elsewhere. */
CASE_WITH(test_bad_symbols, setup, teardown)
{
	PUT(0x40, add, "Builtins_Add_Baseline");
	image_symbol(&image, SECTION_SYMBOLS, "Builtins_Same", TEXT + 0x40, 8, LOCAL);
	image_symbol(&image, SECTION_SYMBOLS, "Builtins_Long", TEXT + 0x44, UINT32_MAX, LOCAL);
	image_symbol(&image, SECTION_SYMBOLS, "Builtins_Empty", TEXT + 0x60, 0, LOCAL);
	image_symbol(&image, SECTION_SYMBOLS, "Builtins_Before", TEXT - 8, 16, LOCAL);
	image_symbol(&image, SECTION_SYMBOLS, "Builtins_", TEXT + 0x400, 8, LOCAL);
	search(TEXT, TEXT + 0x400);
	assert_int_equal(builtins.all.size, 2);
	assert_int_equal(builtins.all.data[0].size_bytes, 4);
	assert_int_equal(builtins.all.data[1].size_bytes, 0x400 - 0x44);
	assert_int_equal(add_window(TEXT, TEXT + 0x400, UINT64_MAX), 0);
	/* Names that cannot be read are no builtins. */
	image_section(&image, SECTION_STRINGS)->sh_size = 1;
	search(TEXT, TEXT + 0x400);
	assert_int_equal(builtins.all.size, 0);
	image_section(&image, SECTION_SYMBOLS)->sh_type = SHT_PROGBITS;
	search(TEXT, TEXT + 0x400);
	assert_int_equal(builtins.all.size, 0);
}

CASE_WITH(test_budget, setup, teardown)
{
	PUT(0x40, add, "Builtins_Add_Baseline");
	PUT(0x80, add, "Builtins_AddSmi_Baseline");
	search(TEXT, TEXT + IMAGE_TEXT_BYTES);
	assert_int_equal(add_window(TEXT, TEXT + IMAGE_TEXT_BYTES, 100), 0);
	assert_int_equal(cfa_at(0x40), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(0x80), UNKNOWN);
	assert_int_equal(cfa_at(IMAGE_TEXT_BYTES - 1), UNKNOWN);
}

#define ENTRY 12 /* bytes of one in the table */

/* Ends without a return, so nothing confirms its entry; makes a frame behind its first byte. */
CODE(throw_error, "nop\n push %rbp\n mov %rsp,%rbp\n ud2");

static void put_unnamed(uint32_t number, const void *begin, const void *end)
{
	v8_image_code(&image, ENTRY, number, begin,
		      (uint32_t)((const uint8_t *)end - (const uint8_t *)begin));
}

#define PUT_UNNAMED(number, code) put_unnamed(number, code##_begin, code##_end)

/* Put an instruction with the distance to another builtin at the end of one. */
static void put_lead(uint32_t number, uint8_t opcode, uint32_t to)
{
	uint8_t code[] = {0x90, opcode, 0, 0, 0, 0, 0xc3};
	int32_t distance = (int32_t)(to * V8_SLOT_BYTES) - (int32_t)(number * V8_SLOT_BYTES + 6);

	memcpy(code + 2, &distance, sizeof(distance));
	v8_image_code(&image, ENTRY, number, code, opcode == 0xe9 ? 6 : sizeof(code));
}

static int32_t unnamed_at(uint32_t number, uint32_t offset)
{
	return cfa_at(number * V8_SLOT_BYTES + offset);
}

static int add_unnamed(uint64_t work_bytes)
{
	search(IMAGE_TEXT_ADDRESS, IMAGE_TEXT_ADDRESS + V8_TEXT_BYTES);
	assert_int_equal(builtins.all.size, V8_IMAGE_BUILTINS);
	assert_true(builtins.unnamed);
	return add_window(V8_CODE, V8_CODE + V8_CODE_BYTES, work_bytes);
}

/* What returns, and what another builtin calls, is known; else it matters whether it was called. */
CASE_WITH(test_without_names, setup, teardown)
{
	const int32_t called = UNWIND_CFA(UNWIND_CFA_RSP, 8),
		      framed = UNWIND_CFA(UNWIND_CFA_RBP, 16);

	v8_image_init(&image, ENTRY);
	PUT_UNNAMED(1, add);
	PUT_UNNAMED(2, throw_error);
	PUT_UNNAMED(3, varargs);
	PUT_UNNAMED(4, varargs);
	PUT_UNNAMED(5, varargs);
	PUT_UNNAMED(6, varargs);
	put_lead(10, 0xe8, 4); /* is not called itself, but returns */
	put_lead(11, 0xe8, 12);
	put_lead(12, 0xe9, 5); /* is called, and passes its return address on */
	put_lead(13, 0xe9, 6); /* may continue in the frame of other code, and so may 6 */
	assert_int_equal(add_unnamed(UINT64_MAX), 0);
	assert_int_equal(unnamed_at(1, 7), called);
	assert_int_equal(unnamed_at(1, 12), framed);
	assert_int_equal(unnamed_at(2, 0), UNKNOWN);
	assert_int_equal(unnamed_at(2, 5), framed);
	assert_int_equal(unnamed_at(3, 0), UNKNOWN);
	assert_int_equal(unnamed_at(4, 0), called);
	assert_int_equal(unnamed_at(5, 0), called);
	assert_int_equal(unnamed_at(6, 0), UNKNOWN);
	assert_int_equal(unnamed_at(11, 1), called);
	/* Padding never runs. */
	assert_int_equal(unnamed_at(3, V8_SLOT_BYTES - 1), BY_POINTER);
}

/* Without the work for the builtin that jumps there, nothing confirms it. */
CASE_WITH(test_budget_of_jumps, setup, teardown)
{
	v8_image_init(&image, ENTRY);
	PUT_UNNAMED(0, varargs);
	put_lead(40, 0xe8, 50);
	put_lead(50, 0xe9, 0);
	assert_int_equal(add_unnamed(UINT64_MAX), 0);
	assert_int_equal(unnamed_at(0, 0), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(add_unnamed(4 * (varargs_end - varargs_begin)), 0);
	assert_int_equal(unnamed_at(0, 0), UNKNOWN);
}

/* A builtin that another one calls is called, whatever its name is. */
CASE_WITH(test_called_by_name, setup, teardown)
{
	static const uint8_t calls[] = {0xe8, 0x7b, 0, 0, 0, 0xc3};

	PUT(0x180, varargs, "Builtins_CEntry");
	put(0x100, calls, calls + sizeof(calls), "Builtins_Add");
	search(TEXT, TEXT + IMAGE_TEXT_BYTES);
	assert_int_equal(add_window(TEXT, TEXT + IMAGE_TEXT_BYTES, UINT64_MAX), 0);
	assert_int_equal(cfa_at(0x180), UNWIND_CFA(UNWIND_CFA_RSP, 8));
}

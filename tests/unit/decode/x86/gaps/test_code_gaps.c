/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of a program without call frame information, window by window. */
#include <stdint.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/gaps/code_gaps.h"
#include "tests/unit/cases.h"

/* A program of one segment: a header, and functions of 16 bytes. */
#define ADDRESS	   0x400000
#define TEXT	   0x1000
#define TEXT_BYTES 0x80000 /* more than a part */

static const uint8_t function[16] = {
	0x53,			/* push %rbx */
	0x48, 0x83, 0xec, 0x10, /* sub $16,%rsp */
	0x48, 0x83, 0xc4, 0x10, /* add $16,%rsp */
	0x5b, 0xc3,		/* pop %rbx; ret */
	0x0f, 0x1f, 0x44, 0,	0,
};

/* No path of it returns, so that its frame is unknown. */
static const uint8_t lost[16] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xe0, 0xcc, 0xcc,
				 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
static const uint8_t pointed[16] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0xcc, 0xcc,
				    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};

struct program {
	uint8_t bytes[TEXT + TEXT_BYTES];
	struct blob blob;
	uint64_t bytes_read;
	int error;
	struct code_gaps *gaps;
	struct unwind_rows rows;
};

static int program_read(void *program_, uint64_t offset, void *buf, size_t size_bytes)
{
	struct program *program = program_;

	program->bytes_read += size_bytes;
	memcpy(buf, program->bytes + offset, size_bytes);
	return program->error;
}

static int setup(void **state)
{
	struct program *program = calloc(1, sizeof(*program));
	Elf64_Ehdr *header = (Elf64_Ehdr *)program->bytes;

	assert_non_null(program);
	*header = (Elf64_Ehdr){
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(*header),
		.e_phoff = sizeof(*header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	*(Elf64_Phdr *)(header + 1) = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = TEXT,
		.p_vaddr = ADDRESS,
		.p_filesz = TEXT_BYTES,
		.p_memsz = TEXT_BYTES,
	};
	for (size_t at = 0; at < TEXT_BYTES; at += sizeof(function))
		memcpy(program->bytes + TEXT + at, function, sizeof(function));
	program->blob = (struct blob){sizeof(program->bytes), program_read, NULL, program};
	assert_int_equal(code_gaps_create(&program->blob, &program->gaps), 0);
	*state = program;
	return 0;
}

static int teardown(void **state)
{
	struct program *program = *state;

	code_gaps_destroy(program->gaps);
	unwind_rows_deinit(&program->rows);
	free(program);
	return 0;
}

static int add(struct program *program, uint64_t start, uint64_t end, uint64_t *work_bytes)
{
	struct unwind_gap_source source = code_gaps_source(program->gaps);
	struct frame_window window = {
		.start = ADDRESS + start, .end = ADDRESS + end, .rows = &program->rows};
	struct unwind_gap gap = {&window, ADDRESS, ADDRESS + TEXT_BYTES};

	program->rows.rows.size = 0;
	return source.add(source.context, &gap, work_bytes);
}

/* All windows have the rows of all functions in them, wherever parts begin and end. */
CASE_WITH(test_windows, setup, teardown)
{
	struct program *program = *state;

	for (uint64_t start = 0; start < TEXT_BYTES; start += 0x7000) {
		uint64_t end = start + UNWIND_PAGE_BYTES, work_bytes = UINT64_MAX;

		end = end < TEXT_BYTES ? end : TEXT_BYTES;
		assert_int_equal(add(program, start, end, &work_bytes), 0);
		for (uint64_t at = start; at < end; at++) {
			struct unwind_row row =
				unwind_rows_at(&program->rows, (uint32_t)(at - start));
			uint64_t place = at % sizeof(function);
			int cfa = place < 1 || place > 9 ? 8 : place < 5 || place > 8 ? 16 : 32;

			assert_int_equal(row.cfa, UNWIND_CFA(UNWIND_CFA_RSP, cfa));
		}
	}
}

/* Windows of a page share a part, and work is charged once. */
CASE_WITH(test_part_is_kept, setup, teardown)
{
	struct program *program = *state;
	uint64_t work_bytes = UINT64_MAX, after;

	assert_int_equal(add(program, 0x20000, 0x20010, &work_bytes), 0);
	assert_true(work_bytes < UINT64_MAX);
	after = work_bytes;
	program->bytes_read = 0;
	for (uint64_t at = 0x20010; at < 0x30000; at += 0x100)
		assert_int_equal(add(program, at, at + 0x10, &work_bytes), 0);
	assert_int_equal(work_bytes, after);
	assert_int_equal(program->bytes_read, 0);
}

CASE_WITH(test_budget, setup, teardown)
{
	struct program *program = *state;
	uint64_t work_bytes = 1000;

	assert_int_equal(add(program, 0, UNWIND_PAGE_BYTES, &work_bytes), -E2BIG);
	assert_int_equal(program->rows.rows.size, 0);
}

CASE_WITH(test_padding, setup, teardown)
{
	struct program *program = *state;
	struct unwind_gap_source source = code_gaps_source(program->gaps);
	struct frame_window window = {ADDRESS + 11, ADDRESS + 16, 0, &program->rows};
	struct unwind_gap gap = {&window, ADDRESS + 11, ADDRESS + 16};
	uint64_t work_bytes = UINT64_MAX;

	program->bytes_read = 0;
	assert_int_equal(source.add(source.context, &gap, &work_bytes), -ENOENT);
	assert_true(program->bytes_read < TEXT_BYTES); /* The file was not searched. */
}

static struct unwind_row row_at(struct program *program, uint64_t start)
{
	uint64_t work_bytes = UINT64_MAX;

	assert_int_equal(add(program, start, start + 0x100, &work_bytes), 0);
	return unwind_rows_at(&program->rows, 4);
}

/* Code that cannot be placed has frame pointers only if the code around it does. */
CASE_WITH(test_frame_pointers, setup, teardown)
{
	struct program *program = *state;

	memcpy(program->bytes + TEXT + 0x40000, lost, sizeof(lost));
	assert_int_equal(row_at(program, 0x40000).cfa, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
	for (size_t at = 0; at < TEXT_BYTES; at += 64)
		memcpy(program->bytes + TEXT + at, pointed, sizeof(pointed));
	memcpy(program->bytes + TEXT + 0x40000, lost, sizeof(lost));
	code_gaps_destroy(program->gaps);
	assert_int_equal(code_gaps_create(&program->blob, &program->gaps), 0);
	assert_int_equal(row_at(program, 0x40000).cfa, UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER));
	assert_int_equal(row_at(program, 0x40040).cfa, UNWIND_CFA(UNWIND_CFA_RBP, 16));
}

/* Functions that do not return as others do, as builtins of engines, are not followed. */
CASE_WITH(test_frame_pointers_only, setup, teardown)
{
	struct program *program = *state;
	uint64_t work_bytes = UINT64_MAX;

	for (size_t at = 0; at < TEXT_BYTES; at += 64)
		memcpy(program->bytes + TEXT + at, lost, sizeof(lost));
	code_gaps_set_quick(program->gaps, true);
	assert_int_equal(add(program, 0x40000, 0x50000, &work_bytes), -ENOENT);
	assert_int_equal(program->rows.rows.size, 0);
}

/* Nothing that takes long is done while the source must be quick. */
CASE_WITH(test_quick, setup, teardown)
{
	struct program *program = *state;
	uint64_t work_bytes = UINT64_MAX;

	code_gaps_set_quick(program->gaps, true);
	assert_int_equal(add(program, 0x40000, 0x50000, &work_bytes), 0);
	assert_int_equal(program->rows.rows.size, 1);
	assert_int_equal(program->rows.rows.data[0].cfa, UNWIND_CFA_COMMAND(UNWIND_NOT_MADE));
	program->rows.rows.size = 0;
	code_gaps_set_quick(program->gaps, false);
	assert_int_equal(add(program, 0x40000, 0x50000, &work_bytes), 0);
	assert_int_not_equal(program->rows.rows.data[0].cfa, UNWIND_CFA_COMMAND(UNWIND_NOT_MADE));
	code_gaps_set_quick(program->gaps, true); /* The part is kept. */
	assert_int_equal(add(program, 0x40100, 0x40200, &work_bytes), 0);
}

CASE_WITH(test_blob_error, setup, teardown)
{
	struct program *program = *state;
	uint64_t work_bytes = UINT64_MAX;

	assert_int_equal(add(program, 0, 16, &work_bytes), 0);
	program->error = -EIO;
	assert_int_equal(add(program, 0x60000, 0x60010, &work_bytes), -EIO);
	program->error = 0;
	assert_int_equal(add(program, 0x60000, 0x60010, &work_bytes), 0);
}

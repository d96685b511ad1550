/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_line_program.h"

#include <string.h>

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

#define FORMATS_MAX 255

struct program {
	struct dwarf_lines *lines;
	struct cursor c;
	uint64_t base;	       /* offset of c.begin in .debug_line */
	struct cursor opcodes; /* the program after its header */
	uint8_t instruction_bytes, opcode_base, line_range;
	int8_t line_base;
	uint8_t operands[256]; /* operand counts of the standard opcodes */
};

/* The registers of the standard's state machine that are used here. */
struct registers {
	uint64_t address;
	uint64_t file;
	uint64_t line;
	size_t first;	/* index of the sequence's first row */
	bool goes_back; /* addresses decrease: the sequence is invalid */
};

/* Read a NUL-terminated string of the program. *ret_empty is set for an empty one. */
static int string_read(struct program *p, struct dwarf_value *ret, bool *ret_empty)
{
	const char *s;
	struct dwarf_value value = {p->base + cursor_offset(&p->c), DWARF_STRING_LINE};

	if (cursor_string(&p->c, &s))
		return -EBADMSG;
	*ret = value;
	*ret_empty = !*s;
	return 0;
}

/* Read the directory, the time and the size after a file name. */
static int file_rest_read(struct program *p, struct dwarf_line_file *file)
{
	uint64_t ignored;
	int err = leb128_read(&p->c, &file->directory);

	err = err ?: leb128_read(&p->c, &ignored);
	err = err ?: leb128_read(&p->c, &ignored);
	if (err)
		return err;
	if (p->lines->files.size >= DWARF_FILES_MAX)
		return -E2BIG;
	return vec_push(&p->lines->files, *file);
}

static int tables_before_5(struct program *p)
{
	struct dwarf_line_file file = {0};
	struct dwarf_value directory;
	bool empty;
	int err;

	for (;;) {
		err = string_read(p, &directory, &empty);
		if (err)
			return err;
		if (empty)
			break;
		if (p->lines->directories.size >= DWARF_FILES_MAX)
			return -E2BIG;
		if (vec_push(&p->lines->directories, directory))
			return -ENOMEM;
	}
	for (;;) {
		err = string_read(p, &file.name, &empty);
		if (err || empty)
			return err;
		err = file_rest_read(p, &file);
		if (err)
			return err;
	}
}

struct entry_format {
	uint64_t content, form;
};

static int entry_read(struct program *p, const struct entry_format *formats, uint8_t count,
		      struct dwarf_line_file *ret)
{
	/*
	 * A placeholder: the header belongs to no unit. An inline string is in
	 * .debug_line here, not in .debug_info.
	 */
	struct dwarf_unit unit = {.version = 5, .offset_bytes = p->lines->offset_bytes};

	*ret = (struct dwarf_line_file){0};
	for (uint8_t i = 0; i < count; i++) {
		struct dwarf_value value;
		int err = dwarf_value_read(&p->c, formats[i].form, 0, &unit, p->base, &value);

		if (err)
			return err;
		if (value.class == DWARF_STRING_HERE)
			value.class = DWARF_STRING_LINE;
		if (formats[i].content == DWARF_LNCT_PATH)
			ret->name = value;
		else if (formats[i].content == DWARF_LNCT_DIRECTORY_INDEX)
			ret->directory = value.u;
	}
	return 0;
}

/* Read a DWARF 5 table: a description of its entries, then the entries. */
static int table_since_5(struct program *p, bool directories)
{
	struct entry_format formats[FORMATS_MAX];
	struct dwarf_line_file entry;
	uint8_t format_count = 0;
	uint64_t count;
	int err = dwarf_read_u8(&p->c, &format_count);

	for (uint8_t i = 0; i < format_count && !err; i++) {
		err = leb128_read(&p->c, &formats[i].content);
		err = err ?: leb128_read(&p->c, &formats[i].form);
	}
	err = err ?: leb128_read(&p->c, &count);
	if (err)
		return err;
	if (count > DWARF_FILES_MAX)
		return -E2BIG;
	for (uint64_t i = 0; i < count && !err; i++) {
		size_t before = cursor_left(&p->c);

		err = entry_read(p, formats, format_count, &entry);
		if (!err && cursor_left(&p->c) == before)
			err = -EBADMSG;
		if (!err)
			err = directories ? vec_push(&p->lines->directories, entry.name)
					  : vec_push(&p->lines->files, entry);
	}
	return err;
}

static int instruction_sizes_read(struct program *p)
{
	uint8_t ignored;
	int err = dwarf_read_u8(&p->c, &p->instruction_bytes);

	if (p->lines->version >= 4)
		err = err ?: dwarf_read_u8(&p->c, &ignored); /* operations per instruction */
	err = err ?: dwarf_read_u8(&p->c, &ignored);	     /* initial is_stmt */
	err = err ?: dwarf_read_u8(&p->c, (uint8_t *)&p->line_base);
	err = err ?: dwarf_read_u8(&p->c, &p->line_range);
	err = err ?: dwarf_read_u8(&p->c, &p->opcode_base);
	if (!err && (!p->line_range || !p->opcode_base))
		err = -EBADMSG;
	return err ?: cursor_read(&p->c, p->operands + 1, p->opcode_base - 1);
}

static int header_read(struct program *p)
{
	struct dwarf_lines *lines = p->lines;
	uint64_t version, header_bytes, length;
	uint8_t address_bytes = 8, segment_bytes;
	int err;

	err = dwarf_read_length(&p->c, &length, &lines->offset_bytes);
	err = err ?: dwarf_read_uint(&p->c, 2, &version);
	if (err)
		return err;
	if (version < 2 || version > 5)
		return -ENOTSUP;
	lines->version = version;
	if (version >= 5) {
		err = dwarf_read_u8(&p->c, &address_bytes);
		err = err ?: dwarf_read_u8(&p->c, &segment_bytes);
	}
	err = err ?: dwarf_read_uint(&p->c, lines->offset_bytes, &header_bytes);
	if (err || (address_bytes != 4 && address_bytes != 8) || header_bytes > cursor_left(&p->c))
		return err ?: -EBADMSG;
	p->opcodes = cursor_of(p->c.at + header_bytes, cursor_left(&p->c) - header_bytes);
	p->c.end = p->opcodes.at;
	err = instruction_sizes_read(p);
	if (err)
		return err;
	if (version < 5)
		return tables_before_5(p);
	err = table_since_5(p, true);
	return err ?: table_since_5(p, false);
}

/* Add a row, unless it differs from the last row only in its address. */
static int row_add(struct program *p, struct registers *r)
{
	struct dwarf_lines *lines = p->lines;
	struct dwarf_row row = {
		.address = r->address,
		.file = r->file < UINT32_MAX ? (uint32_t)r->file : UINT32_MAX,
		.line = r->line < UINT32_MAX ? (uint32_t)r->line : 0,
	};
	struct dwarf_row *last;

	if (lines->rows.size > r->first) {
		last = &lines->rows.data[lines->rows.size - 1];
		r->goes_back |= row.address < last->address;
		if (row.address == last->address) {
			*last = row;
			return 0;
		}
		if (row.file == last->file && row.line == last->line)
			return 0;
	}
	if (lines->rows.size >= DWARF_ROWS_MAX)
		return -E2BIG;
	return vec_push(&lines->rows, row);
}

static int sequence_end(struct program *p, struct registers *r)
{
	struct dwarf_lines *lines = p->lines;
	struct dwarf_sequence sequence = {
		.end = r->address,
		.first = (uint32_t)r->first,
		.count = (uint32_t)(lines->rows.size - r->first),
	};
	int err = 0;

	if (sequence.count) {
		sequence.start = lines->rows.data[r->first].address;
		r->goes_back |= sequence.end < lines->rows.data[lines->rows.size - 1].address;
	}
	if (sequence.count && !r->goes_back && sequence.start)
		err = vec_push(&lines->sequences, sequence);
	else
		lines->rows.size = r->first;
	*r = (struct registers){.file = 1, .line = 1, .first = lines->rows.size};
	return err;
}

static int extended(struct program *p, struct cursor *c, struct registers *r)
{
	struct dwarf_line_file file = {0};
	const void *operation;
	uint64_t length;
	struct cursor inner;
	uint8_t opcode;
	bool empty;
	int err;

	if (leb128_read(c, &length) || cursor_take(c, length, &operation))
		return -EBADMSG;
	inner = cursor_of(operation, length);
	if (dwarf_read_u8(&inner, &opcode))
		return 0; /* an empty operation */
	switch (opcode) {
	case DWARF_LNE_END_SEQUENCE:
		return sequence_end(p, r);
	case DWARF_LNE_SET_ADDRESS:
		length = cursor_left(&inner);
		return length == 4 || length == 8 ? dwarf_read_uint(&inner, length, &r->address)
						  : -EBADMSG;
	case DWARF_LNE_DEFINE_FILE:
		p->c.at = inner.at;
		p->c.end = inner.end;
		err = string_read(p, &file.name, &empty);
		return err ?: file_rest_read(p, &file);
	default:
		return 0;
	}
}

static int skip_operands(struct cursor *c, uint8_t count)
{
	uint64_t ignored;
	int err = 0;

	while (count-- && !err)
		err = leb128_read(c, &ignored);
	return err;
}

static int standard(struct program *p, struct cursor *c, struct registers *r, uint8_t opcode)
{
	uint64_t number = 0;
	int64_t difference = 0;
	int err = 0;

	switch (opcode) {
	case DWARF_LNS_EXTENDED:
		return extended(p, c, r);
	case DWARF_LNS_ADVANCE_PC:
		err = leb128_read(c, &number);
		r->address += number * p->instruction_bytes;
		return err;
	case DWARF_LNS_ADVANCE_LINE:
		err = dwarf_read_sleb(c, &difference);
		r->line = (uint32_t)(r->line + (uint64_t)difference);
		return err;
	case DWARF_LNS_SET_FILE:
		return leb128_read(c, &r->file);
	case DWARF_LNS_CONST_ADD_PC:
		r->address +=
			(uint64_t)((255 - p->opcode_base) / p->line_range) * p->instruction_bytes;
		return 0;
	case DWARF_LNS_FIXED_ADVANCE_PC:
		err = dwarf_read_uint(c, 2, &number);
		r->address += number;
		return err;
	default:
		return skip_operands(c, p->operands[opcode]);
	}
}

static int opcodes_run(struct program *p)
{
	struct registers r = {.file = 1, .line = 1};
	struct cursor c = p->opcodes;
	uint8_t opcode;
	int err = 0;

	while (cursor_left(&c) && !err) {
		dwarf_read_u8(&c, &opcode);
		if (opcode >= p->opcode_base) {
			opcode -= p->opcode_base;
			r.address += (uint64_t)(opcode / p->line_range) * p->instruction_bytes;
			r.line = (uint32_t)(r.line +
					    (uint64_t)(p->line_base + opcode % p->line_range));
		} else if (opcode != DWARF_LNS_COPY) {
			err = standard(p, &c, &r, opcode);
			continue;
		}
		err = row_add(p, &r);
	}
	/* Drop rows of a sequence without an end: their last address is unknown. */
	p->lines->rows.size = r.first;
	return err;
}

int dwarf_line_program_run(struct dwarf_file *file, uint64_t offset, struct dwarf_lines *lines)
{
	struct section_reader *reader = &file->sections[DWARF_LINE];
	struct program program = {.lines = lines, .base = offset};
	uint8_t offset_bytes;
	uint64_t length;
	int err;

	err = section_view(reader, offset, 12, &program.c);
	err = err ?: dwarf_read_length(&program.c, &length, &offset_bytes);
	if (err)
		return err;
	if (length > reader->size_bytes - offset - cursor_offset(&program.c))
		return -EBADMSG;
	if (length > DWARF_LINES_BYTES_MAX)
		return -E2BIG;
	err = section_view(reader, offset, cursor_offset(&program.c) + length, &program.c);
	err = err ?: header_read(&program);
	return err ?: opcodes_run(&program);
}

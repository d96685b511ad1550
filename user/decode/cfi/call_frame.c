/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/call_frame.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"
#include "decode/cfi/eh_pointer.h"
#include "decode/cfi/frame_expression.h"

#define ENTRY_HEAD_BYTES   20 /* longest length and longest CIE pointer */
#define AUGMENTATION_MAX   15
#define EH_CIE_ID	   0
#define DEBUG_CIE_ID	   UINT32_MAX
#define DEBUG_CIE_ID_64BIT UINT64_MAX

/* An entry. The content cursor is after the CIE id or pointer. */
struct entry {
	struct cursor content; /* borrowed */
	uint64_t address;      /* of content.begin */
	uint64_t next;
	bool is_cie;
	uint64_t cie_offset; /* offset of an FDE's CIE */
};

void call_frame_section_init(struct call_frame_section *ret, struct section_reader *reader,
			     uint64_t address, bool is_eh)
{
	*ret = (struct call_frame_section){
		.entries = *reader,
		.cies = section_reader_again(reader),
		.address = address,
		.is_eh = is_eh,
	};
	*reader = (struct section_reader){0};
}

void call_frame_section_deinit(struct call_frame_section *section)
{
	section_reader_deinit(&section->cies);
	section_reader_deinit(&section->entries);
	*section = (struct call_frame_section){0};
}

size_t call_frame_section_bytes(const struct call_frame_section *section)
{
	return section_reader_bytes(&section->entries) + section_reader_bytes(&section->cies);
}

/* Decode the field after the length. Its value distinguishes a CIE from an FDE. */
static int entry_identify(const struct call_frame_section *section, struct entry *entry,
			  uint64_t id_offset, uint8_t offset_bytes)
{
	uint64_t id;

	if (dwarf_read_uint(&entry->content, section->is_eh ? 4 : offset_bytes, &id))
		return -EBADMSG;
	entry->address = section->address + id_offset;
	if (section->is_eh) {
		entry->is_cie = id == EH_CIE_ID;
		entry->cie_offset = id_offset - id;
		return id <= id_offset ? 0 : -EBADMSG;
	}
	entry->is_cie = id == (offset_bytes == 4 ? DEBUG_CIE_ID : DEBUG_CIE_ID_64BIT);
	entry->cie_offset = id;
	return 0;
}

/* Read an entry. Sets ret->next if its size is valid. Returns -ENOENT at the end of the section. */
static int entry_read(const struct call_frame_section *section, struct section_reader *reader,
		      uint64_t offset, struct entry *ret)
{
	uint64_t length, left;
	uint8_t offset_bytes;
	struct cursor head;
	int err;

	ret->next = 0;
	if (offset >= reader->size_bytes)
		return -ENOENT;
	err = section_view(reader, offset, ENTRY_HEAD_BYTES, &head);
	if (err)
		return err;
	if (dwarf_read_length(&head, &length, &offset_bytes))
		return -EBADMSG;
	if (!length && section->is_eh)
		return -ENOENT;
	offset += cursor_offset(&head);
	left = reader->size_bytes - offset;
	if (length > left)
		return -EBADMSG;
	ret->next = offset + length;
	if (!length)
		return -EBADMSG;
	err = section_view(reader, offset, length, &ret->content);
	return err ? err : entry_identify(section, ret, offset, offset_bytes);
}

/* Decode the augmentation data that matter for FDEs. */
static int augmentation_read(const char *letters, struct cursor *data, struct call_frame_cie *cie)
{
	bool narrow = cie->program.narrow;
	uint8_t encoding;
	uint64_t ignored;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			if (dwarf_read_u8(data, &encoding))
				return -EBADMSG;
			cie->program.pointer_encoding = eh_pointer_encoding(encoding, narrow);
			break;
		case 'L':
			if (cursor_skip(data, 1))
				return -EBADMSG;
			break;
		case 'P':
			if (dwarf_read_u8(data, &encoding) ||
			    eh_length_read(data, eh_pointer_encoding(encoding, narrow), &ignored))
				return -EBADMSG;
			break;
		case 'S': /* signal frame: recognised by its rules instead */
		case 'B':
			break;
		default:
			/* Unknown data of unknown size: no later letter can be decoded. */
			cie->is_opaque = true;
			return strchr(letters, 'R') ? -EBADMSG : 0;
		}
	}
	return 0;
}

static int cie_augmentation(struct cursor *c, const char *letters, struct call_frame_cie *cie)
{
	struct cursor data;
	const void *bytes;
	uint64_t size_bytes;

	if (!*letters)
		return 0;
	/* Without 'z' the augmentation data have no size, so the rest cannot be found. */
	if (*letters != 'z' || leb128_read(c, &size_bytes) || cursor_take(c, size_bytes, &bytes))
		return -EBADMSG;
	cie->has_augmentation = true;
	data = cursor_of(bytes, size_bytes);
	return augmentation_read(letters + 1, &data, cie);
}

static int cie_parse(struct entry *entry, struct call_frame_cie *cie)
{
	struct frame_program *program = &cie->program;
	struct cursor *c = &entry->content;
	uint8_t version, sizes[2], ra_byte, address_bytes = program->narrow ? 4 : 8;
	uint64_t ra;
	const char *letters;

	if (dwarf_read_u8(c, &version) || cursor_string(c, &letters))
		return -EBADMSG;
	if (version != 1 && version != 3 && version != 4)
		return -EBADMSG;
	/* address size and segment selector size */
	if (version == 4 && (cursor_read(c, sizes, 2) || sizes[0] != address_bytes || sizes[1]))
		return -EBADMSG;
	if (leb128_read(c, &program->code_factor) || dwarf_read_sleb(c, &program->data_factor))
		return -EBADMSG;
	if (version == 1 ? dwarf_read_u8(c, &ra_byte) : leb128_read(c, &ra))
		return -EBADMSG;
	if (version == 1)
		ra = ra_byte;
	if (cie_augmentation(c, letters, cie))
		return -EBADMSG;
	program->code = cursor_of(c->at, cursor_left(c));
	program->code_address = entry->address + cursor_offset(c);
	if (frame_register_role(program->narrow, ra) != DWARF_REGISTER_RA ||
	    frame_program_rules(program, &cie->rules))
		cie->is_opaque = true;
	program->code = (struct cursor){0};
	return 0;
}

static int cie_find(struct call_frame_section *section, uint64_t offset,
		    const struct call_frame_cie **ret)
{
	struct call_frame_cie cie = {.offset = offset, .is_held = true};
	struct entry entry;
	int err;

	for (uint32_t i = 0; i < CALL_FRAME_CIES_KEPT; i++) {
		if (section->kept[i].is_held && section->kept[i].offset == offset) {
			*ret = &section->kept[i];
			return 0;
		}
	}
	cie.program.narrow = section->narrow;
	cie.program.pointer_encoding = eh_pointer_encoding(DWARF_EH_PE_ABSPTR, section->narrow);
	err = entry_read(section, &section->cies, offset, &entry);
	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	if (!entry.is_cie || cie_parse(&entry, &cie))
		return -EBADMSG;
	section->kept[section->kept_next] = cie;
	*ret = &section->kept[section->kept_next];
	section->kept_next = (section->kept_next + 1) % CALL_FRAME_CIES_KEPT;
	return 0;
}

static int fde_parse(struct entry *entry, const struct call_frame_cie *cie, struct call_frame *ret)
{
	struct call_frame frame = {
		.is_opaque = cie->is_opaque,
		.program = cie->program,
		.rules = cie->rules,
	};
	struct eh_pointer_base base = {.here = entry->address, .narrow = cie->program.narrow};
	uint8_t encoding = cie->program.pointer_encoding;
	struct cursor *c = &entry->content;
	uint64_t size_bytes;

	if (eh_pointer_read(c, encoding, &base, &frame.start) ||
	    eh_length_read(c, encoding, &size_bytes) ||
	    __builtin_add_overflow(frame.start, size_bytes, &frame.end))
		return -EBADMSG;
	if (cie->has_augmentation && (leb128_read(c, &size_bytes) || cursor_skip(c, size_bytes)))
		return -EBADMSG;
	frame.program.code = cursor_of(c->at, cursor_left(c));
	frame.program.code_address = entry->address + cursor_offset(c);
	*ret = frame;
	return 0;
}

int call_frame_read(struct call_frame_section *section, uint64_t offset, struct call_frame *ret,
		    uint64_t *ret_next)
{
	const struct call_frame_cie *cie;
	struct entry entry;
	int err;

	err = entry_read(section, &section->entries, offset, &entry);
	*ret_next = entry.next;
	if (err)
		return err;
	if (entry.is_cie) {
		*ret = (struct call_frame){0};
		return 0;
	}
	err = cie_find(section, entry.cie_offset, &cie);
	return err ? err : fde_parse(&entry, cie, ret);
}

int call_frame_rows(const struct call_frame *frame, const struct frame_window *window)
{
	if (frame->is_opaque)
		return frame_window_add(window, frame->start, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
					UNWIND_RBP_KEPT);
	return frame_program_run(&frame->program, &frame->rules, frame->start, window);
}

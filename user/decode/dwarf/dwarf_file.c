/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_file.h"

#include <stdio.h>

#include "base/scope.h"
#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"
#include "decode/dwarf/dwarf_die.h"

#define UNIT_HEADER_MAX 64

int dwarf_file_init(struct dwarf_file *ret, const struct elf_file *elf,
		    struct section_budget *budget, struct dwarf_file *skeletons)
{
	static const char *const names[] = {
		[DWARF_INFO] = ".debug_info",	      [DWARF_ABBREV] = ".debug_abbrev",
		[DWARF_LINE] = ".debug_line",	      [DWARF_LINE_STR] = ".debug_line_str",
		[DWARF_STR] = ".debug_str",	      [DWARF_STR_OFFSETS] = ".debug_str_offsets",
		[DWARF_ADDR] = ".debug_addr",	      [DWARF_RANGES] = ".debug_ranges",
		[DWARF_RNGLISTS] = ".debug_rnglists", [DWARF_ARANGES] = ".debug_aranges",
		[DWARF_CU_INDEX] = ".debug_cu_index",
	};
	CLEANUP(dwarf_file_deinit) struct dwarf_file file = {.skeletons = skeletons};
	char name[32];

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		int err;

		snprintf(name, sizeof(name), "%s%s", names[i],
			 skeletons && i != DWARF_CU_INDEX ? ".dwo" : "");
		err = section_reader_init(&file.sections[i], elf, name, budget);

		if (err == -ENOMEM || (err && i <= DWARF_ABBREV))
			return err;
	}
	file.sections[DWARF_INFO_AGAIN] = section_reader_again(&file.sections[DWARF_INFO]);
	*ret = file;
	file = (struct dwarf_file){0};
	return 0;
}

void dwarf_file_deinit(struct dwarf_file *file)
{
	for (unsigned i = 0; i < DWARF_SECTIONS; i++)
		section_reader_deinit(&file->sections[i]);
}

void dwarf_file_drop_cache(struct dwarf_file *file)
{
	for (unsigned i = 0; i < DWARF_SECTIONS; i++)
		section_reader_drop_cache(&file->sections[i]);
}

size_t dwarf_file_bytes(const struct dwarf_file *file)
{
	size_t size_bytes = 0;

	for (unsigned i = 0; i < DWARF_SECTIONS; i++)
		size_bytes += section_reader_bytes(&file->sections[i]);
	return size_bytes;
}

/* Read the header fields after the version. DWARF 5 changed their order. */
static int unit_header_rest(struct cursor *c, struct dwarf_unit *unit)
{
	int err = 0;

	unit->type = DWARF_UNIT_COMPILE;
	if (unit->version >= 5) {
		err = err ?: dwarf_read_u8(c, &unit->type);
		err = err ?: dwarf_read_u8(c, &unit->address_bytes);
	}
	err = err ?: dwarf_read_uint(c, unit->offset_bytes, &unit->abbrev_offset);
	if (unit->version < 5)
		err = err ?: dwarf_read_u8(c, &unit->address_bytes);
	if (unit->type == DWARF_UNIT_SKELETON || unit->type == DWARF_UNIT_SPLIT_COMPILE)
		err = err ?: dwarf_read_uint(c, 8, &unit->dwo_id);
	else if (unit->type == DWARF_UNIT_TYPE || unit->type == DWARF_UNIT_SPLIT_TYPE)
		err = err ?: cursor_skip(c, 8 + unit->offset_bytes);
	return err;
}

/* Defaults of the base attributes: the offset after the header of the section's first table. */
static void unit_default_bases(struct dwarf_unit *unit)
{
	bool wide = unit->offset_bytes == 8;

	unit->addr_base = wide ? 16 : 8;
	unit->str_offsets_base = wide ? 16 : 8;
	unit->rnglists_base = wide ? 20 : 12;
}

int dwarf_unit_read(struct dwarf_file *file, uint64_t offset, struct dwarf_unit *ret)
{
	struct section_reader *info = &file->sections[DWARF_INFO];
	struct dwarf_unit unit = {.offset = offset};
	uint64_t length, version = 0;
	struct cursor c;
	int err;

	err = section_view(info, offset, UNIT_HEADER_MAX, &c);
	err = err ?: dwarf_read_length(&c, &length, &unit.offset_bytes);
	if (err)
		return err;
	if (length > info->size_bytes - offset - cursor_offset(&c))
		return -EBADMSG;
	unit.end = offset + cursor_offset(&c) + length;
	err = dwarf_read_uint(&c, 2, &version);
	unit.version = version;
	*ret = unit;
	if (err || version < 2 || version > 5)
		return -ENOTSUP;
	err = unit_header_rest(&c, &unit);
	unit.dies = offset + cursor_offset(&c);
	if (err || (unit.address_bytes != 4 && unit.address_bytes != 8) || unit.dies > unit.end)
		return -ENOTSUP;
	unit_default_bases(&unit);
	*ret = unit;
	return 0;
}

static void unit_take_root(struct dwarf_unit *unit, const struct dwarf_die *root)
{
	const struct dwarf_value *values = root->values;

	if (values[DWARF_SLOT_ADDR_BASE].class)
		unit->addr_base = values[DWARF_SLOT_ADDR_BASE].u;
	if (values[DWARF_SLOT_STR_OFFSETS_BASE].class)
		unit->str_offsets_base = values[DWARF_SLOT_STR_OFFSETS_BASE].u;
	if (values[DWARF_SLOT_RNGLISTS_BASE].class)
		unit->rnglists_base = values[DWARF_SLOT_RNGLISTS_BASE].u;
	unit->split_ranges_base = values[DWARF_SLOT_RANGES_BASE].u;
	if (values[DWARF_SLOT_DWO_ID].class == DWARF_NUMBER)
		unit->dwo_id = values[DWARF_SLOT_DWO_ID].u;
	if (values[DWARF_SLOT_LANGUAGE].class == DWARF_NUMBER)
		unit->language = (uint16_t)values[DWARF_SLOT_LANGUAGE].u;
	unit->dwo_name = values[DWARF_SLOT_DWO_NAME];
	unit->line_program = values[DWARF_SLOT_STMT_LIST];
	unit->comp_dir = values[DWARF_SLOT_COMP_DIR];
	unit->low_pc = values[DWARF_SLOT_LOW_PC];
	unit->high_pc = values[DWARF_SLOT_HIGH_PC];
	unit->ranges = values[DWARF_SLOT_RANGES];
}

int dwarf_unit_root(struct dwarf_file *file, struct dwarf_unit *unit)
{
	CLEANUP(dwarf_abbrevs_deinit) struct dwarf_abbrevs abbrevs = {0};
	struct dwarf_die root;
	struct cursor c;
	uint64_t code;
	int err;

	if (unit->dies == unit->end)
		return 0;
	err = section_view(&file->sections[DWARF_INFO], unit->dies, 16, &c);
	err = err ?: leb128_read(&c, &code);
	if (err || !code)
		return err;
	err = dwarf_abbrevs_read(file, unit->abbrev_offset, code, &abbrevs);
	err = err ?: dwarf_die_at(file, unit, &abbrevs, unit->dies, &root);
	if (err)
		return err;
	unit_take_root(unit, &root);
	/* With DW_AT_ranges, low_pc is the base of the list and may be absent. */
	err = dwarf_address(file, unit, unit->low_pc, &unit->base_address);
	return err == -ENOENT ? 0 : err;
}

static int index_of_address(struct cursor *c, size_t size_bytes, struct dwarf_value *ret)
{
	ret->class = DWARF_ADDRESS_INDEX;
	return size_bytes ? dwarf_read_uint(c, size_bytes, &ret->u) : leb128_read(c, &ret->u);
}

static int index_of_string(struct cursor *c, size_t size_bytes, struct dwarf_value *ret)
{
	ret->class = DWARF_STRING_INDEX;
	return size_bytes ? dwarf_read_uint(c, size_bytes, &ret->u) : leb128_read(c, &ret->u);
}

static int number(struct cursor *c, size_t size_bytes, enum dwarf_class class,
		  struct dwarf_value *ret)
{
	ret->class = class;
	return dwarf_read_uint(c, size_bytes, &ret->u);
}

/* Read a reference; size_bytes 0 means ULEB128. */
static int reference(struct cursor *c, size_t size_bytes, const struct dwarf_unit *unit,
		     struct dwarf_value *ret)
{
	int err;

	ret->class = DWARF_REFERENCE;
	err = size_bytes ? dwarf_read_uint(c, size_bytes, &ret->u) : leb128_read(c, &ret->u);
	if (err)
		return err;
	if (ret->u >= unit->end - unit->offset)
		ret->class = DWARF_NONE; /* outside the unit: treated as absent */
	ret->u += unit->offset;
	return 0;
}

/* Skip a block. Its length field has length_bytes; 0 means ULEB128. */
static int block(struct cursor *c, size_t length_bytes)
{
	uint64_t length;
	int err =
		length_bytes ? dwarf_read_uint(c, length_bytes, &length) : leb128_read(c, &length);

	return err ?: cursor_skip(c, length);
}

static int string_here(struct cursor *c, uint64_t base, struct dwarf_value *ret)
{
	const char *ignored;

	*ret = (struct dwarf_value){base + cursor_offset(c), DWARF_STRING_HERE};
	return cursor_string(c, &ignored);
}

static int signed_number(struct cursor *c, struct dwarf_value *ret)
{
	int64_t value = 0;
	int err = dwarf_read_sleb(c, &value);

	*ret = (struct dwarf_value){(uint64_t)value, DWARF_NUMBER};
	return err;
}

static int leb_number(struct cursor *c, enum dwarf_class class, struct dwarf_value *ret)
{
	ret->class = class;
	return leb128_read(c, &ret->u);
}

int dwarf_value_read(struct cursor *c, uint64_t form, int64_t implicit,
		     const struct dwarf_unit *unit, uint64_t base, struct dwarf_value *ret)
{
	size_t offset_bytes = unit->offset_bytes;

	*ret = (struct dwarf_value){0};
	/* The loop ends because each step consumes a byte. */
	while (form == DWARF_FORM_INDIRECT) {
		if (leb128_read(c, &form) || form == DWARF_FORM_IMPLICIT_CONST)
			return -EBADMSG;
	}
	switch (form) {
	case DWARF_FORM_ADDR:
		return number(c, unit->address_bytes, DWARF_ADDRESS, ret);
	case DWARF_FORM_ADDRX:
	case DWARF_FORM_GNU_ADDR_INDEX:
		return index_of_address(c, 0, ret);
	case DWARF_FORM_ADDRX1:
	case DWARF_FORM_ADDRX2:
	case DWARF_FORM_ADDRX3:
	case DWARF_FORM_ADDRX4:
		return index_of_address(c, form - DWARF_FORM_ADDRX1 + 1, ret);
	case DWARF_FORM_DATA1:
		return number(c, 1, DWARF_NUMBER, ret);
	case DWARF_FORM_DATA2:
		return number(c, 2, DWARF_NUMBER, ret);
	case DWARF_FORM_DATA4:
		return number(c, 4, DWARF_NUMBER, ret);
	case DWARF_FORM_DATA8:
		return number(c, 8, DWARF_NUMBER, ret);
	case DWARF_FORM_UDATA:
		return leb_number(c, DWARF_NUMBER, ret);
	case DWARF_FORM_SDATA:
		return signed_number(c, ret);
	case DWARF_FORM_IMPLICIT_CONST:
		*ret = (struct dwarf_value){(uint64_t)implicit, DWARF_NUMBER};
		return 0;
	case DWARF_FORM_SEC_OFFSET:
		return number(c, offset_bytes, DWARF_OFFSET, ret);
	case DWARF_FORM_RNGLISTX:
		return leb_number(c, DWARF_LIST_INDEX, ret);
	case DWARF_FORM_REF1:
		return reference(c, 1, unit, ret);
	case DWARF_FORM_REF2:
		return reference(c, 2, unit, ret);
	case DWARF_FORM_REF4:
		return reference(c, 4, unit, ret);
	case DWARF_FORM_REF8:
		return reference(c, 8, unit, ret);
	case DWARF_FORM_REF_UDATA:
		return reference(c, 0, unit, ret);
	case DWARF_FORM_REF_ADDR:
		return number(c, unit->version == 2 ? unit->address_bytes : offset_bytes,
			      DWARF_REFERENCE, ret);
	case DWARF_FORM_GNU_REF_ALT:
		return number(c, offset_bytes, DWARF_ALT_REFERENCE, ret);
	case DWARF_FORM_REF_SUP4:
		return number(c, 4, DWARF_ALT_REFERENCE, ret);
	case DWARF_FORM_REF_SUP8:
		return number(c, 8, DWARF_ALT_REFERENCE, ret);
	case DWARF_FORM_STRING:
		return string_here(c, base, ret);
	case DWARF_FORM_STRP:
		return number(c, offset_bytes, DWARF_STRING, ret);
	case DWARF_FORM_LINE_STRP:
		return number(c, offset_bytes, DWARF_LINE_STRING, ret);
	case DWARF_FORM_STRP_SUP:
	case DWARF_FORM_GNU_STRP_ALT:
		return number(c, offset_bytes, DWARF_ALT_STRING, ret);
	case DWARF_FORM_STRX:
	case DWARF_FORM_GNU_STR_INDEX:
		return index_of_string(c, 0, ret);
	case DWARF_FORM_STRX1:
	case DWARF_FORM_STRX2:
	case DWARF_FORM_STRX3:
	case DWARF_FORM_STRX4:
		return index_of_string(c, form - DWARF_FORM_STRX1 + 1, ret);
	case DWARF_FORM_FLAG_PRESENT:
		*ret = (struct dwarf_value){1, DWARF_NUMBER};
		return 0;
	case DWARF_FORM_FLAG:
		return number(c, 1, DWARF_NUMBER, ret);
	case DWARF_FORM_LOCLISTX:
		return leb_number(c, DWARF_NONE, ret);
	case DWARF_FORM_REF_SIG8:
		return cursor_skip(c, 8);
	case DWARF_FORM_DATA16:
		return cursor_skip(c, 16);
	case DWARF_FORM_BLOCK1:
		return block(c, 1);
	case DWARF_FORM_BLOCK2:
		return block(c, 2);
	case DWARF_FORM_BLOCK4:
		return block(c, 4);
	case DWARF_FORM_BLOCK:
	case DWARF_FORM_EXPRLOC:
		return block(c, 0);
	default:
		return -EBADMSG; /* unknown form, of unknown size */
	}
}

/* Read entry `index` of a table of offsets or addresses at base. */
static int table_entry(struct section_reader *reader, uint64_t base, uint64_t index,
		       size_t entry_bytes, uint64_t *ret)
{
	struct cursor c;
	int err;

	if (index > reader->size_bytes / entry_bytes || base > reader->size_bytes)
		return -EBADMSG;
	err = section_view(reader, base + index * entry_bytes, entry_bytes, &c);
	return err ?: dwarf_read_uint(&c, entry_bytes, ret);
}

int dwarf_string(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		 const char **ret)
{
	static const uint8_t section_of_class[] = {
		[DWARF_STRING_HERE] = DWARF_INFO_AGAIN,
		[DWARF_STRING_LINE] = DWARF_LINE,
		[DWARF_STRING] = DWARF_STR,
		[DWARF_LINE_STRING] = DWARF_LINE_STR,
		[DWARF_STRING_INDEX] = DWARF_STR,
	};
	uint64_t offset = value.u;
	int err;

	if (value.class == DWARF_ALT_STRING && file->alternate)
		return section_string(&file->alternate->sections[DWARF_STR], offset,
				      DWARF_STRING_MAX, ret);
	if (value.class < DWARF_STRING_HERE || value.class > DWARF_STRING_INDEX)
		return -ENOENT;
	if (value.class == DWARF_STRING_INDEX) {
		err = table_entry(&file->sections[DWARF_STR_OFFSETS], unit->str_offsets_base,
				  value.u, unit->offset_bytes, &offset);
		if (err)
			return err;
	}
	return section_string(&file->sections[section_of_class[value.class]], offset,
			      DWARF_STRING_MAX, ret);
}

int dwarf_address(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		  uint64_t *ret)
{
	if (value.class == DWARF_ADDRESS) {
		*ret = value.u;
		return 0;
	}
	if (value.class != DWARF_ADDRESS_INDEX)
		return -ENOENT;
	return table_entry(&(file->skeletons ?: file)->sections[DWARF_ADDR], unit->addr_base,
			   value.u, unit->address_bytes, ret);
}

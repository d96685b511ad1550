/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/eh_pointer.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

size_t eh_pointer_bytes(uint8_t encoding)
{
	switch (encoding & DWARF_EH_PE_FORMAT) {
	case DWARF_EH_PE_UDATA2:
	case DWARF_EH_PE_SDATA2:
		return 2;
	case DWARF_EH_PE_UDATA4:
	case DWARF_EH_PE_SDATA4:
		return 4;
	case DWARF_EH_PE_ABSPTR:
	case DWARF_EH_PE_UDATA8:
	case DWARF_EH_PE_SDATA8:
		return 8;
	default:
		return 0;
	}
}

uint8_t eh_pointer_encoding(uint8_t encoding, bool narrow)
{
	if (narrow && encoding != DWARF_EH_PE_OMIT &&
	    (encoding & DWARF_EH_PE_FORMAT) == DWARF_EH_PE_ABSPTR)
		return encoding | DWARF_EH_PE_UDATA4;
	return encoding;
}

int eh_length_read(struct cursor *c, uint8_t encoding, uint64_t *ret)
{
	size_t size_bytes = eh_pointer_bytes(encoding);
	int64_t number;
	uint64_t value;
	int err;

	switch (encoding & DWARF_EH_PE_FORMAT) {
	case DWARF_EH_PE_ULEB128:
		return leb128_read(c, ret);
	case DWARF_EH_PE_SLEB128:
		err = dwarf_read_sleb(c, &number);
		if (!err)
			*ret = (uint64_t)number;
		return err;
	}
	if (!size_bytes)
		return -EBADMSG;
	err = dwarf_read_uint(c, size_bytes, &value);
	if (err)
		return err;
	if ((encoding & DWARF_EH_PE_FORMAT) == DWARF_EH_PE_SDATA2)
		value = (uint64_t)(int16_t)value;
	else if ((encoding & DWARF_EH_PE_FORMAT) == DWARF_EH_PE_SDATA4)
		value = (uint64_t)(int32_t)value;
	*ret = value;
	return 0;
}

int eh_pointer_read(struct cursor *c, uint8_t encoding, const struct eh_pointer_base *base,
		    uint64_t *ret)
{
	uint64_t from, value;
	int err;

	if (encoding & DWARF_EH_PE_INDIRECT)
		return -EBADMSG;
	switch (encoding & DWARF_EH_PE_BASE) {
	case DWARF_EH_PE_ABSPTR:
		from = 0;
		break;
	case DWARF_EH_PE_PCREL:
		from = base->here + cursor_offset(c);
		break;
	case DWARF_EH_PE_DATAREL:
		if (!base->data)
			return -EBADMSG;
		from = *base->data;
		break;
	default:
		return -EBADMSG;
	}
	err = eh_length_read(c, encoding, &value);
	if (!err)
		*ret = base->narrow ? (uint32_t)(from + value) : from + value;
	return err;
}

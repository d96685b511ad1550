/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "decode/x86/disassembly.h"
#include "tests/unit/cases.h"

#define BASE 0x401000

static struct disassembled text_of(enum disassembly_style style, bool is_32_bit,
				   const uint8_t *code, size_t size_bytes)
{
	struct disassembler disassembler;
	struct disassembled ret;

	assert_int_equal(disassembler_init(&disassembler, style, is_32_bit), 0);
	disassemble(&disassembler, code, size_bytes, BASE, &ret);
	return ret;
}

CASE(test_styles)
{
	static const uint8_t add[] = {0x48, 0x83, 0xc0, 0x10}; /* add rax, 16 */
	struct disassembled att = text_of(DISASSEMBLY_ATT, false, add, sizeof(add));
	struct disassembled intel = text_of(DISASSEMBLY_INTEL, false, add, sizeof(add));

	assert_string_equal(att.text, "add $0x10, %rax");
	assert_string_equal(intel.text, "add rax, 0x10");
	assert_true(att.valid && !att.has_target);
	assert_int_equal(att.length, 4);
}

CASE(test_targets)
{
	static const uint8_t back[] = {0x75, 0xfe};		 /* jnz to itself */
	static const uint8_t call[] = {0xe8, 0x0b, 0, 0, 0};	 /* call */
	static const uint8_t indirect[] = {0xff, 0xe0};		 /* jmp rax */
	static const uint8_t begin[] = {0xc7, 0xf8, 6, 0, 0, 0}; /* xbegin */
	struct disassembled ret = text_of(DISASSEMBLY_ATT, false, back, sizeof(back));

	assert_true(ret.has_target);
	assert_int_equal(ret.target, BASE);
	assert_string_equal(ret.text, "jnz 0x401000");
	ret = text_of(DISASSEMBLY_ATT, false, call, sizeof(call));
	assert_true(ret.has_target);
	assert_int_equal(ret.target, BASE + 0x10);
	assert_false(text_of(DISASSEMBLY_ATT, false, indirect, sizeof(indirect)).has_target);
	assert_true(text_of(DISASSEMBLY_ATT, false, begin, sizeof(begin)).valid);
}

CASE(test_bad_code)
{
	static const uint8_t push_es[] = {0x06}, cut[] = {0x48, 0x83, 0xc0};
	struct disassembled ret = text_of(DISASSEMBLY_ATT, false, push_es, sizeof(push_es));

	assert_false(ret.valid);
	assert_int_equal(ret.length, 1);
	assert_string_equal(ret.text, ".byte 0x06");
	/* It is an instruction of 32-bit code. */
	ret = text_of(DISASSEMBLY_ATT, true, push_es, sizeof(push_es));
	assert_string_equal(ret.text, "push %es");
	ret = text_of(DISASSEMBLY_ATT, false, cut, sizeof(cut));
	assert_string_equal(ret.text, ".byte 0x48");
}

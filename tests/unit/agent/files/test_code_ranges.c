/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/code_ranges.h"

#include <string.h>

#include "tests/unit/cases.h"

#define NODE_ADDRESS 0x1000000

/* The copy of the builtins is in the middle of the reservation. */
static const char maps[] =
	"00400000-01000000 r--p 00000000 fe:01 12345   /usr/bin/node\n"
	"01000000-03000000 r-xp 00c00000 fe:01 12345   /usr/bin/node\n"
	"03000000-03001000 rw-p 02c00000 fe:01 12345   /usr/bin/node\n"
	"7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n" /* a guard page and a stack */
	"7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
	"7f0000801000-7f0000841000 rw-p 00000000 00:00 0 \n"
	"7f0000841000-7f0000900000 ---p 00000000 00:00 0 \n"
	"7f0000900000-7f0000940000 rwxp 00000000 00:00 0 \n"
	"7f0000940000-7f0000980000 rw-p 00000000 00:00 0 \n"
	"7f0000980000-7f0001000000 ---p 00000000 00:00 0 \n"
	"7f0001000000-7f0001200000 r-xp 01000000 fe:01 12345   /usr/bin/node\n"
	"7f0001200000-7f0001240000 r-xp 00000000 00:00 0        [anon:v8]\n"
	"7f0001240000-7f0008000000 ---p 00000000 00:00 0 \n"
	"not a mapping\n"
	"7f0009000000-7f000a000000 ---p 00000000 00:00 0 \n"
	"7f000a000000-7f000b000000 rw-p 00000000 00:00 0 \n"
	"7f000b000000-7f000b001000 r-xp 01100000 fe:01 12345   /usr/bin/node\n"
	"7f000c000000-7f000c001000 r-xp 00000000 fe:01 777     /usr/lib/libc.so.6\n"
	"7f000d000000-7f000d001000 rwxs 00000000 00:01 1024    /dev/zero (deleted)\n"
	"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0       [stack]\n"
	"7ffd00030000-7ffd00032000 r-xp 00000000 00:00 0       [vdso]\n";

static const struct runtime_code_range expected[] = {
	{0x7f0000841000, 0x7f0001000000, RUNTIME_CODE_ANON},
	{0x7f0001000000, 0x7f0001200000, 0x1000000},
	{0x7f0001200000, 0x7f0008000000, RUNTIME_CODE_ANON},
	{0x7f000b000000, 0x7f000b001000, 0x1100000},
};

CASE(reserved_code_and_copies_of_the_file)
{
	struct runtime_code_range ranges[RUNTIME_CODE_RANGES_MAX];
	size_t count = code_ranges_find(maps, strlen(maps), NODE_ADDRESS, ranges, 16);

	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		assert_true(ranges[i].start == expected[i].start);
		assert_true(ranges[i].end == expected[i].end);
		assert_true(ranges[i].file_offset == expected[i].file_offset);
	}
}

CASE(no_more_than_there_is_room)
{
	struct runtime_code_range ranges[RUNTIME_CODE_RANGES_MAX];

	for (size_t max = 0; max < 4; max++)
		assert_int_equal(code_ranges_find(maps, strlen(maps), NODE_ADDRESS, ranges, max),
				 max);
}

CASE(the_runtime_has_no_file)
{
	struct runtime_code_range ranges[RUNTIME_CODE_RANGES_MAX];

	assert_int_equal(code_ranges_find("", 0, NODE_ADDRESS, ranges, 16), 0);
	assert_int_equal(code_ranges_find(maps, strlen(maps), 0x7f0000900000, ranges, 16), 0);
	assert_int_equal(code_ranges_find(maps, strlen(maps), 0x10, ranges, 16), 0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/shared_code.h"

#include <string.h>

#include "tests/unit/cases.h"

static const char maps[] =
	"55d0c0000000-55d0c0400000 r-xp 00000000 fe:01 12345   /usr/bin/php8.2\n"
	"7f0000000000-7f0004000000 rw-s 00000000 00:01 1024    /dev/zero (deleted)\n"
	"7f0004000000-7f0008000000 r-xs 04000000 00:01 1024    /dev/zero (deleted)\n"
	"not a mapping\n"
	"7f0008000000-7f0009000000 rwxs 08000000 00:01 1024    /dev/zero (deleted)\n"
	"7f0009000000-7f000a000000 r-xs 00000000 fe:01 777     /srv/code.bin\n"
	"7f000a000000-7f000b000000 r-xp 00000000 00:01 1025    /memfd:jit (deleted)\n"
	"7f000b000000-7f000c000000 rwxs 00000000 00:0f 1026    /anon_hugepage (deleted)\n"
	"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0       [stack]\n";

CASE(executable_and_shared_and_of_no_file)
{
	struct runtime_range ranges[4];

	assert_int_equal(shared_code_find(maps, strlen(maps), ranges, 4), 3);
	assert_true(ranges[0].start == 0x7f0004000000 && ranges[0].end == 0x7f0008000000);
	assert_true(ranges[1].start == 0x7f0008000000 && ranges[1].end == 0x7f0009000000);
	assert_true(ranges[2].start == 0x7f000b000000 && ranges[2].flags == 0);
}

CASE(no_more_than_there_is_room)
{
	struct runtime_range ranges[2];

	assert_int_equal(shared_code_find(maps, strlen(maps), ranges, 2), 2);
	assert_int_equal(shared_code_find(maps, strlen(maps), ranges, 0), 0);
	assert_int_equal(shared_code_find("", 0, ranges, 2), 0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "decode/text/proc_maps.h"
#include "tests/unit/cases.h"

static struct proc_map one(const char *line)
{
	struct cursor text = cursor_of(line, strlen(line));
	struct proc_map map;

	assert_int_equal(proc_maps_next(&text, &map), 1);
	assert_int_equal(proc_maps_next(&text, &map), 0);
	return map;
}

static void assert_path(const struct proc_map *map, const char *path)
{
	assert_int_equal(map->path_bytes, strlen(path));
	assert_memory_equal(map->path, path, map->path_bytes);
}

CASE(test_file)
{
	struct proc_map map = one("7f0c8e628000-7f0c8e77d000 r-xp 00028000 fd:1a 1835012"
				  "                    /usr/lib/x86_64-linux-gnu/libc.so.6\n");

	assert_int_equal(map.start, 0x7f0c8e628000);
	assert_int_equal(map.end, 0x7f0c8e77d000);
	assert_int_equal(map.protection, PROT_READ | PROT_EXEC);
	assert_int_equal(map.map_flags, MAP_PRIVATE);
	assert_int_equal(map.file_offset, 0x28000);
	assert_int_equal(map.dev_major, 0xfd);
	assert_int_equal(map.dev_minor, 0x1a);
	assert_int_equal(map.inode, 1835012);
	assert_path(&map, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	assert_false(map.deleted);
}

CASE(test_without_file)
{
	struct proc_map map = one("7ffd00000000-7ffd00001000 -w-s 00000000 00:00 0 \n");

	assert_int_equal(map.protection, PROT_WRITE);
	assert_int_equal(map.map_flags, MAP_SHARED);
	assert_int_equal(map.path_bytes, 0);

	map = one("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
		  "[vsyscall]\n");
	assert_int_equal(map.protection, PROT_EXEC);
	assert_path(&map, "[vsyscall]");
}

CASE(test_odd_paths)
{
	struct proc_map map = one("1000-2000 r-xp 0 00:01 7  /memfd:jit cache (deleted)\n");
	char path[64];

	assert_path(&map, "/memfd:jit cache");
	assert_true(map.deleted);
	assert_memory_equal(map.path + map.path_bytes, " (deleted)", 10);

	map = one("1000-2000 r-xp 0 00:01 7  /a  b \\012c\\01\\012\n");
	assert_path(&map, "/a  b \\012c\\01\\012");
	assert_int_equal(proc_map_path(&map, path, sizeof(path)), 12);
	assert_string_equal(path, "/a  b \nc\\01\n");
	assert_int_equal(proc_map_path(&map, path, 4), 12);
	assert_string_equal(path, "/a ");

	map = one("1000-2000 r-xp 0 00:01 7  (deleted)\n");
	assert_path(&map, "(deleted)");
	assert_false(map.deleted);
}

CASE(test_bad_lines_are_passed_over)
{
	static const char *const bad[] = {
		"",
		"x",
		"1000-2000",
		"1000-2000 r-xp 0 00:01 7",
		"1000 2000 r-xp 0 00:01 7 /a",
		"2000-1000 r-xp 0 00:01 7 /a",
		"1000-1000 r-xp 0 00:01 7 /a",
		"1000-20000000000000000 r-xp 0 00:01 7 /a",
		"1000-2000 rwxq 0 00:01 7 /a",
		"1000-2000 xwrp 0 00:01 7 /a",
		"1000-2000 r-xp  00:01 7 /a",
		"1000-2000 r-xp 0 100000000:01 7 /a",
		"1000-2000 r-xp 0 00-01 7 /a",
		"1000-2000 r-xp 0 00:01 7f /a",
		"1000-2000 r-xp 0 00:01 18446744073709551616 /a",
		"1000-2000 R-xp 0 00:01 7 /a",
		"-2000 r-xp 0 00:01 7 /a",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[256];
		struct proc_map map = {.start = 99};
		struct cursor text;

		snprintf(line, sizeof(line), "%s\n3000-4000 r--p 0 00:01 7 /b\n", bad[i]);
		text = cursor_of(line, strlen(line));
		assert_int_equal(proc_maps_next(&text, &map), -EBADMSG);
		assert_int_equal(map.start, 99);
		assert_int_equal(proc_maps_next(&text, &map), 1);
		assert_int_equal(map.start, 0x3000);
		assert_int_equal(proc_maps_next(&text, &map), 0);
	}
}

CASE(test_nul_in_path)
{
	static const char line[] = "1000-2000 r-xp 0 00:01 7 /a\0b\n";
	struct cursor text = cursor_of(line, sizeof(line) - 1);
	struct proc_map map;

	assert_int_equal(proc_maps_next(&text, &map), -EBADMSG);
	assert_int_equal(proc_maps_next(&text, &map), 0);
}

/* A text that is truncated anywhere yields its complete lines only. */
CASE(test_cut_everywhere)
{
	static const char whole[] = "1000-2000 r-xp 0 00:01 7 /a\n3000-4000 r--p 10 00:01 8 /b c\n";
	size_t first = strchr(whole, '\n') + 1 - whole;

	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		char *exact = malloc(size ? size : 1);
		struct cursor text;
		struct proc_map map;
		int lines = 0, err;

		memcpy(exact, whole, size);
		text = cursor_of(exact, size);
		while ((err = proc_maps_next(&text, &map)) == 1)
			lines++;
		assert_int_equal(lines, size >= first);
		assert_int_equal(err, size == 0 || size == first ? 0 : -EBADMSG);
		free(exact);
	}
}

/* /proc/self/maps: all lines parse, and one of them contains this function. */
CASE(test_own_process)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char *bytes = calloc(1, 1 << 20);
	size_t size = fread(bytes, 1, 1 << 20, f);
	uint64_t here = (uintptr_t)test_own_process;
	struct cursor text = cursor_of(bytes, size);
	struct proc_map map;
	int found = 0, err;

	while ((err = proc_maps_next(&text, &map)) == 1) {
		if (map.start <= here && here < map.end) {
			assert_true(map.protection & PROT_EXEC);
			assert_int_equal(map.path[0], '/');
			found++;
		}
	}
	assert_int_equal(err, 0);
	assert_int_equal(found, 1);
	fclose(f);
	free(bytes);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loop of this program has a cold part, which the compiler makes. */
#include "runtimes/cpython/loop_code.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "runtimes/runtime_symbols.h"
#include "tests/unit/cases.h"

int with_cold_part(int *numbers, int count, int (*call)(int));

__attribute__((noipa, cold)) static void rare(int *numbers, int count)
{
	numbers[0] = count;
}

/* Values that live across the calls are saved, so the cold part begins with a frame. */
__attribute__((noipa, optimize("O2"))) int with_cold_part(int *numbers, int count, int (*call)(int))
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		sum += call(numbers[i]);
		if (__builtin_expect(sum < 0, 0)) {
			rare(numbers, i);
			sum += call(i) * 3;
			rare(numbers, sum);
		}
	}
	return sum;
}

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread((int)(intptr_t)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes
		       ? 0
		       : -EIO;
}

static int one(int number)
{
	return number;
}

CASE(a_cold_part_is_found_by_the_jumps_to_it)
{
	AUTO_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct runtime_symbol symbols[] = {
		{.name = "with_cold_part"},
		{.name = "with_cold_part", .is_part = true},
		{.name = "with_cold_part", .is_part = true},
		{.name = "with_cold_par"},
		{.name = "rare"},
	};
	struct runtime_range loop, parts[3];
	int number = with_cold_part(&(int){5}, 1, one);
	struct elf_file elf;
	struct stat info;

	assert_int_equal(number, 5);
	assert_int_equal(fstat(fd, &info), 0);
	struct blob blob = {.size_bytes = (uint64_t)info.st_size,
			    .read = read_file,
			    .context = (void *)(intptr_t)fd};
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	assert_int_equal(runtime_symbols_find(&elf, symbols, ARRAY_SIZE(symbols)), 0);
	assert_true(symbols[0].is_found);
	assert_true(symbols[1].is_found);
	assert_false(symbols[2].is_found);
	assert_false(symbols[3].is_found);
	assert_true(symbols[4].is_found);

	loop.start = symbols[0].address;
	loop.end = loop.start + symbols[0].size_bytes;
	assert_int_equal(cpython_cold_parts(&elf, &loop, 3, parts), 1);
	assert_true(parts[0].start == symbols[1].address);
	assert_true(parts[0].end == symbols[1].address + symbols[1].size_bytes);
	assert_int_equal(cpython_cold_parts(&elf, &loop, 0, parts), 0);

	/* The code of a function that has none. */
	loop.start = symbols[4].address;
	loop.end = loop.start + symbols[4].size_bytes;
	assert_int_equal(cpython_cold_parts(&elf, &loop, 3, parts), 0);
	loop.end = loop.start;
	assert_int_equal(cpython_cold_parts(&elf, &loop, 3, parts), -EBADMSG);
	elf_file_deinit(&elf);
}

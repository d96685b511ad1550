/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The input as the file of an interpreter. */
#include <stdint.h>

#include "runtimes/cpython/file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(4);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct blob blob = blob_of_memory(data, size_bytes);
	struct cpython_file file;
	struct elf_file elf;

	if (elf_file_init(&elf, &blob))
		return 0;
	if (!cpython_file_read(&elf, &file)) {
		seed_taken();
		CHECK(file.loop_count && file.loop_count <= RUNTIME_LOOPS_MAX);
		for (uint32_t i = 0; i < file.loop_count; i++)
			CHECK(file.loops[i].start <= file.loops[i].end);
		CHECK(file.unsettled.start <= file.unsettled.end);
	}
	elf_file_deinit(&elf);
	return 0;
}

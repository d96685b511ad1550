/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a hostile PHP: its functions, and the structures that the self-check compares. The
 * first byte selects the layout, the second one what is read; the rest repeats in the whole address
 * space but for its upper half, so that nearly all pointers lead somewhere.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "runtimes/php/php_function.h"
#include "runtimes/php/php_self_check.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(23);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define VERSIONS	     7
#define SELF_CHECK_READS_MAX 1024
#define SELF_CHECK_BYTES_MAX (64u << 10)

struct hostile {
	const uint8_t *data;
	size_t size_bytes;
	uint32_t reads;
	uint64_t read_bytes;
};

static int read_hostile(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct hostile *hostile = context;
	uint8_t *to = buf;

	hostile->reads++;
	hostile->read_bytes += size_bytes;
	if (address >> 63)
		return -EFAULT;
	for (size_t i = 0; i < size_bytes; i++)
		to[i] = hostile->data[(address + i) % hostile->size_bytes];
	return 0;
}

static void check_utf8(const char *text, size_t bytes_max)
{
	uint32_t bytes;

	CHECK(strlen(text) <= bytes_max);
	for (const char *at = text; *at; at += bytes)
		CHECK(utf8_next(at, &bytes) != UTF8_INVALID);
}

static void check_function(const struct runtime_function *function)
{
	check_utf8(function->name, 2 * RUNTIME_NAME_MAX + RUNTIME_FILE_MAX);
	CHECK(*function->name);
	check_utf8(function->file, RUNTIME_FILE_MAX);
	CHECK(function->code && !(function->check & 1));
	CHECK(function->lines.size <= RUNTIME_LINES_MAX);
	for (size_t i = 1; i < function->lines.size; i++)
		CHECK(function->lines.data[i].position > function->lines.data[i - 1].position);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const uint16_t versions[VERSIONS] = {704, 800, 801, 802, 803, 804, 805};
	struct runtime_function function = {0};
	struct hostile hostile = {.data = data + 2, .size_bytes = size_bytes - 2};
	struct process_memory memory = {.read = read_hostile, .context = &hostile};
	struct engine_version version = {.parts = 2};
	const struct php_layout *layout;
	int err;

	if (size_bytes < 3)
		return 0;
	version.part[0] = versions[data[0] % VERSIONS] / 100;
	version.part[1] = versions[data[0] % VERSIONS] % 100;
	layout = php_layout_of(&version);
	CHECK(layout);
	if (data[1] & 1) {
		err = php_self_check(&memory, layout, 0);
		CHECK(!err || err == -EBADMSG || err == -ENODATA);
		CHECK(hostile.reads <= SELF_CHECK_READS_MAX);
		CHECK(hostile.read_bytes <= SELF_CHECK_BYTES_MAX);
		if (!err)
			seed_taken();
		return 0;
	}
	err = php_function_read(&memory, layout, hostile.size_bytes, &function);
	CHECK(!err || err == -EBADMSG || err == -EFAULT);
	CHECK(hostile.reads <= PHP_FUNCTION_READS_MAX);
	CHECK(hostile.read_bytes <= PHP_FUNCTION_BYTES_MAX);
	if (!err) {
		check_function(&function);
		CHECK(function.copied.size <= PHP_CLOSURES_MAX);
		vec_for_each (copied, &function.copied)
			check_function(copied);
		seed_taken();
	}
	runtime_function_deinit(&function);
	return 0;
}

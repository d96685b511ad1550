/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader has found of code, from hostile memory: its limits, and its identity. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "runtimes/runtime_code.h"
#include "tests/unit/cases.h"

#define CODE 0x7f0000001000ull

static uint64_t words[16];
static uint32_t reads;

static int read_memory(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	reads++;
	if (address < CODE || address - CODE + size_bytes > sizeof(words))
		return -EFAULT;
	memcpy(buf, (uint8_t *)words + (address - CODE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_memory};

static struct runtime_code code_of(void)
{
	return (struct runtime_code){
		.start = CODE, .size_bytes = 0x100, .name = "pkg.A.run", .source = ""};
}

CASE(test_valid)
{
	struct runtime_code code = code_of();

	assert_true(runtime_code_is_valid(&code, CODE));
	assert_true(runtime_code_is_valid(&code, CODE + 0xff));
	assert_false(runtime_code_is_valid(&code, CODE - 1));
	assert_false(runtime_code_is_valid(&code, CODE + 0x100));
	code.size_bytes = 0;
	assert_false(runtime_code_is_valid(&code, CODE));
	code.size_bytes = RUNTIME_CODE_BYTES_MAX + 1;
	assert_false(runtime_code_is_valid(&code, CODE));
	code = code_of();
	code.start = (1ull << 47) - 1;
	assert_false(runtime_code_is_valid(&code, code.start));
	code.size_bytes = UINT64_MAX;
	assert_false(runtime_code_is_valid(&code, code.start));
}

CASE(test_texts)
{
	static char name[RUNTIME_CODE_NAME_MAX + 2];
	struct runtime_code code = code_of();

	code.name = "";
	assert_false(runtime_code_is_valid(&code, CODE));
	code.name = NULL;
	assert_false(runtime_code_is_valid(&code, CODE));
	memset(name, 'a', sizeof(name) - 1);
	code.name = name;
	assert_false(runtime_code_is_valid(&code, CODE));
	code.name = name + 1;
	assert_true(runtime_code_is_valid(&code, CODE));
	code.source = NULL;
	assert_false(runtime_code_is_valid(&code, CODE));
}

CASE(test_scopes)
{
	uint8_t table[16] = {0};
	struct runtime_code code = code_of();

	code.scopes = table;
	code.scope_bytes = 15;
	assert_false(runtime_code_is_valid(&code, CODE));
	table[0] = 1; /* a method that is not there */
	code.scope_bytes = 16;
	assert_false(runtime_code_is_valid(&code, CODE));
}

CASE(test_identity)
{
	struct runtime_identity identity = {
		.word = {{CODE + 8, UINT32_MAX, 5}, {CODE + 64, UINT64_MAX, CODE}}};
	struct runtime_code code = code_of();
	bool same = false;

	words[1] = 7ull << 32 | 5;
	words[8] = CODE;
	reads = 0;
	assert_int_equal(runtime_identity_holds(&identity, &memory, &same), 0);
	assert_true(same);
	assert_int_equal(reads, 1);
	words[1]++;
	assert_int_equal(runtime_identity_holds(&identity, &memory, &same), 0);
	assert_false(same);
	identity.word[1].address = CODE + sizeof(words) - 4;
	assert_int_equal(runtime_identity_holds(&identity, &memory, &same), -EFAULT);
	identity.word[1].address = CODE + 8 + RUNTIME_IDENTITY_SPAN;
	assert_int_equal(runtime_identity_holds(&identity, &memory, &same), 0);
	assert_false(same);
	code.identity = identity;
	assert_false(runtime_code_is_valid(&code, CODE));
	code.identity.word[1].address = 1ull << 47;
	assert_false(runtime_code_is_valid(&code, CODE));
	code.identity.word[1].mask = 0;
	assert_true(runtime_code_is_valid(&code, CODE));
}

/* Without a word, nothing is read. */
CASE(test_no_identity)
{
	const struct runtime_identity none = {0};
	bool same = false;

	reads = 0;
	assert_int_equal(runtime_identity_holds(&none, &memory, &same), 0);
	assert_true(same);
	assert_int_equal(reads, 0);
}

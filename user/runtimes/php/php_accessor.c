/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_accessor.h"

#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"

#define FUNCTION_BYTES 24

/* Skip bytes if the code has them next. */
static bool skip(struct cursor *code, const char *bytes, size_t size_bytes)
{
	if (cursor_left(code) < size_bytes || memcmp(code->at, bytes, size_bytes) != 0)
		return false;
	return !cursor_skip(code, size_bytes);
}

#define SKIP(code, text) skip(code, text, sizeof(text) - 1)

/* The instruction that sets rax. *ret_is_pointer: to the address of a variable. */
static bool read_value(struct cursor *code, uint64_t address, uint64_t *ret, bool *ret_is_pointer)
{
	bool is_relative = false, is_pointer = false, is_narrow = false;
	uint64_t value;
	int32_t number;

	if (SKIP(code, "\x31\xc0")) { /* xor eax, eax */
		*ret = 0;
		*ret_is_pointer = false;
		return true;
	}
	if (SKIP(code, "\xb8")) /* mov eax, N */
		is_narrow = true;
	else if (SKIP(code, "\x48\x8d\x05")) /* lea rax, [rip + N] */
		is_relative = true;
	else if (SKIP(code, "\x48\x8b\x05")) /* mov rax, [rip + N] */
		is_relative = is_pointer = true;
	else if (!SKIP(code, "\x48\xc7\xc0")) /* mov rax, N */
		return false;
	if (cursor_read(code, &number, sizeof(number)))
		return false;
	value = is_narrow ? (uint32_t)number : (uint64_t)(int64_t)number;
	*ret = is_relative ? value + address + cursor_offset(code) : value;
	*ret_is_pointer = is_pointer;
	return true;
}

int php_accessor_read(const struct process_memory *memory, uint64_t function, uint64_t *ret)
{
	uint8_t bytes[FUNCTION_BYTES];
	struct cursor code = cursor_of(bytes, sizeof(bytes));
	bool is_pointer, has_frame;
	uint64_t value;
	int err = process_memory_read(memory, function, bytes, sizeof(bytes));

	if (err)
		return err;
	SKIP(&code, "\xf3\x0f\x1e\xfa");	     /* endbr64 */
	has_frame = SKIP(&code, "\x55\x48\x89\xe5"); /* push rbp; mov rbp, rsp */
	if (!read_value(&code, function, &value, &is_pointer) ||
	    (has_frame && !SKIP(&code, "\x5d")) || !SKIP(&code, "\xc3"))
		return -EBADMSG;
	if (is_pointer)
		err = process_memory_read(memory, value, &value, sizeof(value));
	if (!err)
		*ret = value;
	return err;
}

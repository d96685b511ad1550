/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a Java virtual machine in a few kilobytes. The offsets of its structures are those
 * of no version. A test program includes this header once, and its cases run with a machine each.
 */
#ifndef JITBPF_TESTS_UNIT_RUNTIMES_HOTSPOT_SMALL_VM_H
#define JITBPF_TESTS_UNIT_RUNTIMES_HOTSPOT_SMALL_VM_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/process_memory.h"
#include "runtimes/runtime_reader.h"
#include "tests/unit/cases.h"

#define BASE  0x10000ull
#define BYTES 0x10000

/* Offsets in structures. */
enum {
	METHOD_CONST = 24,
	CONST_CONSTANTS = 16,
	CONST_WORDS = 32,
	CONST_FLAGS = 36,
	CONST_CODE = 40,
	CONST_NAME = 42,
	CONST_SIZE = 56,
	CONSTANTS_HOLDER = 32,
	CONSTANTS_SOURCE = 50,
	CONSTANTS_SIZE = 80,
	CLASS_NAME = 40,
	CLASS_METHODS = 200,
	CLASS_CONSTANTS = 208,
	SYMBOL_LENGTH = 4,
	SYMBOL_BYTES = 6,
	HAS_LINES = 4,
};

struct vm {
	uint8_t bytes[BYTES];
	uint64_t next;
};

static struct vm *vm;

static inline int vm_set_up(void)
{
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -1;
	vm->next = BASE + 64;
	return 0;
}

static inline int read_bytes(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	if (address < BASE || address - BASE > BYTES || size_bytes > BYTES - (address - BASE))
		return -EFAULT;
	memcpy(buf, vm->bytes + (address - BASE), size_bytes);
	return 0;
}

static inline uint64_t room(size_t size_bytes)
{
	uint64_t at = vm->next;

	vm->next += (size_bytes + 15) / 16 * 16;
	assert_true(vm->next - BASE <= BYTES);
	return at;
}

static inline void put(uint64_t address, uint64_t value, size_t size_bytes)
{
	memcpy(vm->bytes + (address - BASE), &value, size_bytes);
}

static inline uint64_t word(uint64_t value)
{
	uint64_t at = room(8);

	put(at, value, 8);
	return at;
}

static inline uint64_t string(const char *text)
{
	uint64_t at = room(strlen(text) + 1);

	memcpy(vm->bytes + (at - BASE), text, strlen(text) + 1);
	return at;
}

static inline uint64_t symbol(const char *text)
{
	uint64_t at = room(SYMBOL_BYTES + strlen(text) + 8);

	put(at, 0x5a5a0001, 4); /* a hash, and a count of references */
	put(at + SYMBOL_LENGTH, strlen(text), 2);
	memcpy(vm->bytes + (at + SYMBOL_BYTES - BASE), text, strlen(text));
	return at;
}

static inline uint64_t make_method(uint64_t class, const char *name, const char *source,
				   const uint8_t *lines, size_t line_bytes, uint16_t code_bytes)
{
	uint64_t constants = room(CONSTANTS_SIZE + 8 * 4);
	size_t size_bytes = CONST_SIZE + code_bytes + line_bytes;
	uint64_t const_method = room(size_bytes + 8), method = room(80);

	put(constants + CONSTANTS_HOLDER, class, 8);
	put(class + CLASS_CONSTANTS, constants, 8);
	put(constants + CONSTANTS_SOURCE, source ? 2 : 0, 2);
	put(constants + CONSTANTS_SIZE + 8, symbol(name), 8);
	if (source)
		put(constants + CONSTANTS_SIZE + 16, symbol(source), 8);
	put(const_method + CONST_CONSTANTS, constants, 8);
	put(const_method + CONST_WORDS, (size_bytes + 7) / 8, 4);
	put(const_method + CONST_FLAGS, line_bytes ? HAS_LINES | 0x8000 : 0, 2);
	put(const_method + CONST_CODE, code_bytes, 2);
	put(const_method + CONST_NAME, 1, 2);
	if (line_bytes)
		memcpy(vm->bytes + (const_method + CONST_SIZE + code_bytes - BASE), lines,
		       line_bytes);
	put(method + METHOD_CONST, const_method, 8);
	return method;
}

static inline uint64_t make_class(const char *name, uint64_t *ret_symbol)
{
	uint64_t class = room(256), text = symbol(name);

	put(class + CLASS_NAME, text, 8);
	if (ret_symbol)
		*ret_symbol = text;
	return class;
}

#endif

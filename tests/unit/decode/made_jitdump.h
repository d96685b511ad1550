/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a jitdump file, as bytes. */
#ifndef JITBPF_TESTS_UNIT_DECODE_MADE_JITDUMP_H
#define JITBPF_TESTS_UNIT_DECODE_MADE_JITDUMP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct made_jitdump {
	uint8_t bytes[8192];
	size_t size_bytes;
};

static inline void made_jitdump_put(struct made_jitdump *made, const void *bytes, size_t size_bytes)
{
	assert(made->size_bytes + size_bytes <= sizeof(made->bytes));
	memcpy(made->bytes + made->size_bytes, bytes, size_bytes);
	made->size_bytes += size_bytes;
}

static inline void made_jitdump_header(struct made_jitdump *made, uint32_t pid, uint32_t reserved)
{
	uint32_t words[10] = {0x4a695444, 1, 40, 62, reserved, pid, 77};

	made_jitdump_put(made, words, sizeof(words));
}

/* Begin a record; made_jitdump_end() sets its size. Returns where it begins. */
static inline size_t made_jitdump_begin(struct made_jitdump *made, uint32_t kind, uint64_t time_ns)
{
	size_t begin = made->size_bytes;
	uint32_t words[2] = {kind, 0};

	made_jitdump_put(made, words, sizeof(words));
	made_jitdump_put(made, &time_ns, sizeof(time_ns));
	return begin;
}

static inline void made_jitdump_end(struct made_jitdump *made, size_t begin)
{
	uint32_t bytes = (uint32_t)(made->size_bytes - begin);

	memcpy(made->bytes + begin + 4, &bytes, sizeof(bytes));
}

/* A load of so much code, each byte of which is the number of the byte. */
static inline void made_jitdump_load(struct made_jitdump *made, uint64_t time_ns, uint32_t pid,
				     uint64_t address, uint64_t code_bytes, const char *name)
{
	size_t begin = made_jitdump_begin(made, 0, time_ns);
	uint64_t fields[] = {pid | (uint64_t)(pid + 1) << 32, address, address, code_bytes, 5};

	made_jitdump_put(made, fields, sizeof(fields));
	made_jitdump_put(made, name, strlen(name) + 1);
	for (uint64_t i = 0; i < code_bytes; i++)
		made_jitdump_put(made, &(uint8_t){(uint8_t)i}, 1);
	made_jitdump_end(made, begin);
}

static inline void made_jitdump_move(struct made_jitdump *made, uint64_t time_ns, uint32_t pid,
				     uint64_t from, uint64_t to, uint64_t code_bytes)
{
	size_t begin = made_jitdump_begin(made, 1, time_ns);
	uint64_t fields[] = {pid, to, from, to, code_bytes, 5};

	made_jitdump_put(made, fields, sizeof(fields));
	made_jitdump_end(made, begin);
}

struct made_jitdump_line {
	uint64_t address;
	uint32_t line, column;
	const char *file;
};

/* Padded to 8 bytes, as V8 does it. */
static inline void made_jitdump_lines(struct made_jitdump *made, uint64_t address,
				      const struct made_jitdump_line *lines, size_t count)
{
	size_t begin = made_jitdump_begin(made, 2, 1);
	uint64_t fields[] = {address, count};

	made_jitdump_put(made, fields, sizeof(fields));
	for (size_t i = 0; i < count; i++) {
		made_jitdump_put(made, &lines[i], 16);
		made_jitdump_put(made, lines[i].file, strlen(lines[i].file) + 1);
	}
	while ((made->size_bytes - begin) % 8)
		made_jitdump_put(made, "", 1);
	made_jitdump_end(made, begin);
}

static inline void made_jitdump_empty(struct made_jitdump *made, uint32_t kind, uint64_t time_ns)
{
	made_jitdump_end(made, made_jitdump_begin(made, kind, time_ns));
}

#endif

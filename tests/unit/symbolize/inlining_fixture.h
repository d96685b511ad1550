/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A variant of inlining.cpp, its symbolizer, and addr2line for comparison. */
#ifndef JITBPF_TESTS_INLINING_FIXTURE_H
#define JITBPF_TESTS_INLINING_FIXTURE_H

#include <inttypes.h>

#include "decode/elf/elf_file.h"
#include "symbolize/symbolizer.h"
#include "tests/unit/symbolize/inlining_files.h"

struct fixture {
	struct symbolizer *symbolizer;
	struct module module;
	char path[4096];
	uint64_t text, text_end, text_offset;
	const char *debug;	/* the only path with debug info, or its end */
	char debug_variant[64]; /* the file at that path */
};

static inline int open_module(void *context, const struct module *module, struct blob *ret)
{
	return file_blob(module->path, ret);
}

static inline int open_debug(void *fixture_, const struct module *module, const char *path,
			     bool ours, struct blob *ret)
{
	struct fixture *fixture = fixture_;
	size_t length = strlen(path), wanted = fixture->debug ? strlen(fixture->debug) : 0;
	char real[4096];

	if (!ours || !wanted || length < wanted || strcmp(path + length - wanted, fixture->debug))
		return -ENOENT;
	inlining_path(fixture->debug_variant, real);
	return file_blob(real, ret);
}

static inline void begin(struct fixture *fixture, const char *variant)
{
	struct file_source source = {
		.open_module = open_module,
		.open_debug = open_debug,
		.context = fixture,
	};
	CLEANUP(blob_close) struct blob blob = {0};
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	const struct elf_section *text;

	inlining_path(variant, fixture->path);
	fixture->module = (struct module){.number = 1, .path = fixture->path};
	assert_int_equal(file_blob(fixture->path, &blob), 0);
	assert_int_equal(elf_file_init_any(&elf, &blob), 0);
	text = elf_file_section(&elf, ".text");
	assert_non_null(text);
	fixture->text = text->address;
	fixture->text_end = text->address + text->size_bytes;
	fixture->text_offset = text->file_offset;
	assert_int_equal(symbolizer_create(&source, &fixture->symbolizer), 0);
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	symbolizer_destroy(fixture->symbolizer);
	free(fixture);
	return 0;
}

static inline int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return !*state;
}

static inline uint32_t frames_at(struct fixture *fixture, uint64_t address,
				 struct symbol_frame *frames)
{
	uint32_t count;

	assert_int_equal(symbolizer_native(fixture->symbolizer, &fixture->module,
					   address - fixture->text + fixture->text_offset, frames,
					   &count),
			 0);
	return count;
}

/* Read a line of addr2line, without the newline and the discriminator. */
static inline bool read_line(FILE *f, char *line, int size_bytes)
{
	char *discriminator;

	if (!fgets(line, size_bytes, f))
		return false;
	line[strcspn(line, "\n")] = '\0';
	discriminator = strstr(line, " (discriminator ");
	if (discriminator)
		*discriminator = '\0';
	return true;
}

/*
 * For a split or cloned function ("main.cold"), debug info has the name of the
 * function, and the symbol table that of the part. jitbpf shows the symbol,
 * addr2line one or the other.
 */
static inline void assert_name(const char *name, const char *expected)
{
	size_t length = strlen(expected);

	if (!strncmp(name, expected, length) &&
	    (name[length] == '.' || !strncmp(name + length, " [clone ", 8)))
		return;
	assert_string_equal(name, strcmp(expected, "??") ? expected : "");
}

/* Compare the function and "file:line" of a frame; addr2line shows line 0 as unknown too. */
static inline void assert_frame(const struct symbol_frame *frame, const char *name,
				const char *place)
{
	const char *colon = strrchr(place, ':');
	bool known = frame->line;

	/* Padding has no symbol, while addr2line names the preceding function. */
	if (*frame->name || frame->inlined)
		assert_name(frame->name, name);
	assert_non_null(colon);
	assert_int_equal(frame->line, strtoul(colon + 1, NULL, 10));
	if (known) {
		char file[4096];

		snprintf(file, sizeof(file), "%.*s", (int)(colon - place), place);
		assert_string_equal(frame->file, file);
	}
}

/* Write the addresses to a file for addr2line, one per line. */
static inline void write_addresses(const struct fixture *fixture, const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (uint64_t address = fixture->text; address < fixture->text_end; address++)
		fprintf(f, "%#" PRIx64 "\n", address);
}

struct tally {
	unsigned addresses, inlined, nobodys, deepest;
};

/* Compare all frames of each address of the text with addr2line. */
static inline void compare_all(struct fixture *fixture, FILE *addr2line, struct tally *tally)
{
	static char lines[2 * 128 + 2][1 << 16];
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	bool more = read_line(addr2line, lines[0], sizeof(lines[0]));

	while (more) {
		uint64_t address = strtoull(lines[0], NULL, 16);
		uint32_t count = frames_at(fixture, address, frames), expected = 0;

		while ((more = read_line(addr2line, lines[0], sizeof(lines[0]))) &&
		       strncmp(lines[0], "0x", 2)) {
			memmove(lines[2 * expected + 1], lines[0], strlen(lines[0]) + 1);
			assert_true(
				read_line(addr2line, lines[2 * expected + 2], sizeof(lines[0])));
			expected++;
		}
		tally->addresses++;
		tally->inlined += count > 1;
		if (expected > tally->deepest)
			tally->deepest = expected;
		/* In a chain that is too long, the frames next to the function are dropped. */
		if (expected > SYMBOL_FRAMES_MAX)
			assert_int_equal(count, SYMBOL_FRAMES_MAX);
		else
			assert_int_equal(count, expected);
		for (uint32_t i = 0; i + 1 < count || (i < count && count == expected); i++) {
			assert_frame(&frames[i], lines[2 * i + 1], lines[2 * i + 2]);
			assert_int_equal(frames[i].inlined, i + 1 < count);
		}
		if (expected > SYMBOL_FRAMES_MAX) {
			assert_name(frames[count - 1].name, lines[2 * expected - 1]);
			assert_int_equal(frames[count - 1].line, 0);
		}
		tally->nobodys += !*frames[count - 1].name;
	}
}

static inline struct tally addr2line_agrees(struct fixture *fixture, const char *truth)
{
	char addresses[4096], command[3 * 4096], program[4096], own[32];
	struct tally tally = {0};
	FILE *addr2line;

	inlining_path(truth, program);
	snprintf(own, sizeof(own), "addresses.%d", getpid()); /* tests run side by side */
	inlining_path(own, addresses);
	write_addresses(fixture, addresses);
	snprintf(command, sizeof(command), "addr2line -a -i -f -C -e %s <%s", program, addresses);
	addr2line = popen(command, "re");
	assert_non_null(addr2line);
	compare_all(fixture, addr2line, &tally);
	assert_int_equal(pclose(addr2line), 0);
	unlink(addresses);
	return tally;
}

#endif

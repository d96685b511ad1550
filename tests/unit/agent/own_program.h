/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file source whose modules are files of this machine, as the test's own program. */
#ifndef JITBPF_TESTS_OWN_PROGRAM_H
#define JITBPF_TESTS_OWN_PROGRAM_H

#include <errno.h>

#include "agent/files/helper/file_blob.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "state/process/file_source.h"
#include "tests/unit/cases.h"

#define OWN_PROGRAM "/proc/self/exe"

/* For struct file_source. */
static inline int own_program_open(void *context, const struct module *module, struct blob *ret)
{
	return file_blob_open_path(ret, module->path);
}

/* For struct file_source: there are no debug files. */
static inline int own_program_no_debug(void *context, const struct module *module, const char *path,
				       bool ours, struct blob *ret)
{
	return -ENOENT;
}

/* Returns the file offset of the program's code, which has at least that size. */
static inline uint64_t own_program_text(size_t size_bytes)
{
	const struct module self = {.path = OWN_PROGRAM};
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(blob_close) struct blob blob = {0};
	const struct elf_section *text;

	assert_int_equal(own_program_open(NULL, &self, &blob), 0);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	text = elf_file_section(&elf, ".text");
	assert_non_null(text);
	assert_true(text->size_bytes > size_bytes);
	return text->file_offset;
}

#endif

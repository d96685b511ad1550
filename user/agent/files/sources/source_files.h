/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of source files. A file is read when its first line is requested. The recording chose
 * the names of the files, so their number and size are bounded.
 */
#ifndef JITBPF_AGENT_FILES_SOURCES_SOURCE_FILES_H
#define JITBPF_AGENT_FILES_SOURCES_SOURCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/sources/source_reader.h"
#include "base/vec.h"

#define SOURCE_FILES_MAX       256	   /* source files that are requested */
#define SOURCE_FILES_BYTES_MAX (64u << 20) /* of all */

struct read_source {
	char *path; /* path in the recording */
	struct source_file file;
	VEC(uint32_t) starts; /* of lines */
	int error;
};

/*
 * The caller sets the members up to for_others, and zeroes the others: no file was read yet. reader
 * and folders are borrowed.
 */
struct source_files {
	struct source_reader *reader;
	/*
	 * Further folders in which a file is searched: by its whole path, then by shorter and
	 * shorter ends of it. A relative path is searched only there.
	 */
	const char *const *folders;
	size_t folder_count;
	bool for_others; /* outside of these folders, only files that everybody may read */
	VEC(struct read_source) files;
	uint64_t bytes;
	uint64_t left_out; /* look-ups of more files than SOURCE_FILES_MAX */
};

void source_files_deinit(struct source_files *files);

/* Forget the files that were read. */
void source_files_clear(struct source_files *files);

/* Both implement struct source_lines (sink/annotate/annotation_output.h). */
const char *source_files_line(void *files, const char *path, uint32_t line, size_t *ret_bytes);
const char *source_files_trouble(void *files, const char *path);

/* Returns words for read_source.error. */
const char *source_files_words(int error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The variants of inlining.cpp, beside the test program. */
#ifndef JITBPF_TESTS_INLINING_FILES_H
#define JITBPF_TESTS_INLINING_FILES_H

#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blob.h"
#include "base/scope.h"

static inline void beside_self(const char *program, const char *variant, char path[4096])
{
	char self[3000];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length > 0 ? length : 0] = '\0';
	snprintf(path, 4096, "%s/%s-%s", dirname(self), program, variant);
}

static inline void inlining_path(const char *variant, char path[4096])
{
	beside_self("inlining", variant, path);
}

/* Read a whole file. The caller frees it. Returns NULL if it is missing. */
static inline uint8_t *file_bytes(const char *path, size_t *ret_bytes)
{
	AUTO_FCLOSE FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long size_bytes;

	if (!f || fseek(f, 0, SEEK_END) || (size_bytes = ftell(f)) <= 0)
		return NULL;
	rewind(f);
	bytes = malloc((size_t)size_bytes);
	if (bytes && fread(bytes, 1, (size_t)size_bytes, f) != (size_t)size_bytes) {
		free(bytes);
		bytes = NULL;
	}
	*ret_bytes = (size_t)size_bytes;
	return bytes;
}

/* A blob over a whole file, which frees its bytes. Returns -ENOENT if the file is missing. */
static inline int file_blob(const char *path, struct blob *ret)
{
	size_t size_bytes = 0;
	uint8_t *bytes = file_bytes(path, &size_bytes);

	if (!bytes)
		return -ENOENT;
	*ret = blob_of_memory(bytes, size_bytes);
	ret->close = free;
	return 0;
}

#endif

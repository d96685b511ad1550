/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A memory image: what a reader of a runtime has read of a process that stood still, and what it
 * made of it. It keeps a version of the runtime under test where that is not installed.
 *
 * The file is IMAGE_MAGIC, then parts: u64 kind, u64 address, u64 size_bytes, the bytes. All
 * numbers are little-endian. php/runtime_image.c, for Ruby, too, and cpython/cpython_image.c write
 * images.
 */
#ifndef JITBPF_TESTS_RUNTIMES_MEMORY_IMAGE_H
#define JITBPF_TESTS_RUNTIMES_MEMORY_IMAGE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/vec.h"
#include "runtimes/process_memory.h"
#include "uapi/runtime_recipe.h"

#define IMAGE_MAGIC "jitbpfRI"

enum image_part_kind {
	IMAGE_MEMORY = 1,
	IMAGE_FILE = 2,	  /* an ELF file with the runtime's symbols only; address: the bias */
	IMAGE_THREAD = 3, /* struct runtime_thread */
	IMAGE_RANGES = 4, /* struct runtime_range of shared code */
	IMAGE_FRAMES = 5, /* text: "function file:line", a line for each frame */
	IMAGE_FACTS = 6,  /* what such a file says, in place of it: words of 8 bytes */
};

struct image_part {
	uint64_t kind, address, size_bytes;
	uint8_t *bytes;
};

/* Parts of memory are in order, and do not overlap. */
struct memory_image {
	VEC(struct image_part) parts;
	uint64_t reads, read_bytes; /* through memory_image_memory(), or memory_image_of() */
};

void memory_image_deinit(struct memory_image *image);

/* Add a part; the bytes are copied. Memory is merged with what is there. Returns 0 or -ENOMEM. */
int memory_image_add(struct memory_image *image, uint64_t kind, uint64_t address, const void *bytes,
		     size_t size_bytes);

/* Returns the first part of a kind, or NULL. */
const struct image_part *memory_image_part(const struct memory_image *image, uint64_t kind);

/* Returns 0 or a negative errno. */
int memory_image_load(const char *path, struct memory_image *ret);
int memory_image_save(const struct memory_image *image, const char *path);

/* Returns the memory of an image, which is borrowed. What is not in it cannot be read. */
struct process_memory memory_image_memory(struct memory_image *image);

/* A process that stands still. */
struct imaged_process {
	pid_t pid;
	struct memory_image image; /* what was read of it */
};

/* Returns the memory of a process, which is borrowed. What is read is added to its image. */
struct process_memory memory_image_of(struct imaged_process *process);

#endif

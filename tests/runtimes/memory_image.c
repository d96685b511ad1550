/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/runtimes/memory_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/scope.h"

#define PART_BYTES_MAX (1u << 20)
#define HEAD_BYTES     24

void memory_image_deinit(struct memory_image *image)
{
	vec_for_each (part, &image->parts)
		free(part->bytes);
	vec_deinit(&image->parts);
}

static uint64_t end_of(const struct image_part *part)
{
	return part->address + part->size_bytes;
}

static void remove_at(struct memory_image *image, size_t i)
{
	free(image->parts.data[i].bytes);
	memmove(&image->parts.data[i], &image->parts.data[i + 1],
		(image->parts.size - i - 1) * sizeof(*image->parts.data));
	image->parts.size--;
}

/* Make *part of it and all memory that it touches. Newer bytes win. */
static int merge(struct memory_image *image, struct image_part *part)
{
	for (size_t i = image->parts.size; i-- > 0;) {
		struct image_part *old = &image->parts.data[i];
		uint64_t start, end;
		uint8_t *bytes;

		if (old->kind != IMAGE_MEMORY || end_of(old) < part->address ||
		    old->address > end_of(part))
			continue;
		start = old->address < part->address ? old->address : part->address;
		end = end_of(old) > end_of(part) ? end_of(old) : end_of(part);
		bytes = malloc(end - start);
		if (!bytes)
			return -ENOMEM;
		memcpy(bytes + (old->address - start), old->bytes, old->size_bytes);
		memcpy(bytes + (part->address - start), part->bytes, part->size_bytes);
		free(part->bytes);
		*part = (struct image_part){IMAGE_MEMORY, start, end - start, bytes};
		remove_at(image, i);
	}
	return 0;
}

int memory_image_add(struct memory_image *image, uint64_t kind, uint64_t address, const void *bytes,
		     size_t size_bytes)
{
	struct image_part part = {kind, address, size_bytes, malloc(size_bytes ?: 1)};
	int err = part.bytes ? 0 : -ENOMEM;

	if (!err && size_bytes)
		memcpy(part.bytes, bytes, size_bytes);
	if (!err && kind == IMAGE_MEMORY)
		err = merge(image, &part);
	err = err ?: vec_push(&image->parts, part);
	if (err)
		free(part.bytes);
	return err;
}

const struct image_part *memory_image_part(const struct memory_image *image, uint64_t kind)
{
	vec_for_each (part, &image->parts) {
		if (part->kind == kind)
			return part;
	}
	return NULL;
}

int memory_image_load(const char *path, struct memory_image *ret)
{
	AUTO_FCLOSE FILE *file = fopen(path, "rb");
	CLEANUP(memory_image_deinit) struct memory_image image = {0};
	char magic[sizeof(IMAGE_MAGIC) - 1];
	uint64_t head[HEAD_BYTES / 8];

	if (!file)
		return -errno;
	if (fread(magic, sizeof(magic), 1, file) != 1 || memcmp(magic, IMAGE_MAGIC, sizeof(magic)))
		return -EBADMSG;
	while (fread(head, sizeof(head), 1, file) == 1) {
		AUTO_FREE uint8_t *bytes = NULL;
		int err;

		if (head[2] > PART_BYTES_MAX)
			return -EBADMSG;
		bytes = malloc(head[2] + 1);
		if (!bytes)
			return -ENOMEM;
		if (head[2] && fread(bytes, head[2], 1, file) != 1)
			return -EBADMSG;
		err = memory_image_add(&image, head[0], head[1], bytes, head[2]);
		if (err)
			return err;
	}
	*ret = image;
	image = (struct memory_image){0};
	return 0;
}

int memory_image_save(const struct memory_image *image, const char *path)
{
	FILE *file = fopen(path, "wb");
	int err;

	if (!file)
		return -errno;
	fwrite(IMAGE_MAGIC, sizeof(IMAGE_MAGIC) - 1, 1, file);
	vec_for_each (part, &image->parts) {
		fwrite(part, HEAD_BYTES, 1, file);
		fwrite(part->bytes, part->size_bytes, 1, file);
	}
	err = ferror(file) ? -EIO : 0;
	return fclose(file) ? -errno : err;
}

static int read_image(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct memory_image *image = context;

	image->reads++;
	image->read_bytes += size_bytes;
	vec_for_each (part, &image->parts) {
		if (part->kind != IMAGE_MEMORY || address < part->address ||
		    address - part->address > part->size_bytes ||
		    size_bytes > part->size_bytes - (address - part->address))
			continue;
		memcpy(buf, part->bytes + (address - part->address), size_bytes);
		return 0;
	}
	return -EFAULT;
}

struct process_memory memory_image_memory(struct memory_image *image)
{
	return (struct process_memory){.read = read_image, .context = image};
}

static int read_process(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct imaged_process *process = context;
	struct iovec here = {buf, size_bytes}, there = {(void *)address, size_bytes};

	process->image.reads++;
	process->image.read_bytes += size_bytes;
	if (process_vm_readv(process->pid, &here, 1, &there, 1, 0) != (ssize_t)size_bytes)
		return -EFAULT;
	return memory_image_add(&process->image, IMAGE_MEMORY, address, buf, size_bytes);
}

struct process_memory memory_image_of(struct imaged_process *process)
{
	return (struct process_memory){.read = read_process, .context = process};
}

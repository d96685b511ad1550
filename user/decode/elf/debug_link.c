/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/debug_link.h"

#include <elf.h>
#include <lzma.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/scope.h"

#define READ_BYTES (64u << 10)

/* Read a section of at most sizeof(buf) bytes; larger ones are -EBADMSG. */
static int section_read(const struct elf_file *elf, const char *name, uint8_t buf[DEBUG_LINK_MAX],
			struct cursor *ret)
{
	const struct elf_section *section = elf_file_section(elf, name);
	int err;

	if (!section || section->type == SHT_NOBITS)
		return -ENOENT;
	if (section->size_bytes > DEBUG_LINK_MAX)
		return -EBADMSG;
	err = blob_read(elf->blob, section->file_offset, buf, section->size_bytes);
	if (!err)
		*ret = cursor_of(buf, section->size_bytes);
	return err;
}

int debug_link_read(const struct elf_file *elf, struct debug_link *ret)
{
	uint8_t buf[DEBUG_LINK_MAX];
	struct debug_link link;
	struct cursor c;
	const char *name;
	int err;

	err = section_read(elf, ".gnu_debuglink", buf, &c);
	err = err ?: cursor_string(&c, &name);
	err = err ?: cursor_skip(&c, -cursor_offset(&c) % 4);
	err = err ?: cursor_read(&c, &link.crc, sizeof(link.crc));
	if (err)
		return err;
	/* A name with a slash could leave the directories that are searched for it. */
	if (!*name || strlen(name) >= sizeof(link.name) || strchr(name, '/'))
		return -EBADMSG;
	strcpy(link.name, name);
	*ret = link;
	return 0;
}

int debug_link_check(const struct debug_link *link, const struct blob *file)
{
	AUTO_FREE uint8_t *buf = malloc(READ_BYTES);
	uLong crc = crc32(0, NULL, 0);

	if (!buf)
		return -ENOMEM;
	for (uint64_t offset = 0; offset < file->size_bytes;) {
		uint64_t left = file->size_bytes - offset;
		size_t size_bytes = left < READ_BYTES ? left : READ_BYTES;
		int err = blob_read(file, offset, buf, size_bytes);

		if (err)
			return err;
		crc = crc32(crc, buf, (uInt)size_bytes);
		offset += size_bytes;
	}
	return crc == link->crc ? 0 : -ESTALE;
}

int debug_alt_link_read(const struct elf_file *elf, struct debug_alt_link *ret)
{
	uint8_t buf[DEBUG_LINK_MAX];
	struct cursor c;
	const char *path;
	int err;

	err = section_read(elf, ".gnu_debugaltlink", buf, &c);
	err = err ?: cursor_string(&c, &path);
	if (err)
		return err;
	if (!*path || !cursor_left(&c) || cursor_left(&c) > JITBPF_BUILD_ID_MAX)
		return -EBADMSG;
	strcpy(ret->path, path);
	ret->build_id_bytes = (uint32_t)cursor_left(&c);
	return cursor_read(&c, ret->build_id, ret->build_id_bytes);
}

struct inflation {
	const struct blob *blob;
	uint64_t offset, end; /* of the unread input */
	lzma_stream stream;
	uint8_t *input;
	struct {
		uint8_t *data;
		size_t size, capacity;
	} output;
};

static void inflation_deinit(struct inflation *inflation)
{
	lzma_end(&inflation->stream);
	free(inflation->input);
	free(inflation->output.data);
}

static int inflation_feed(struct inflation *inflation)
{
	uint64_t left = inflation->end - inflation->offset;
	size_t size_bytes = left < READ_BYTES ? left : READ_BYTES;
	int err;

	if (inflation->stream.avail_in)
		return 0;
	if (!left)
		return -EBADMSG;
	err = blob_read(inflation->blob, inflation->offset, inflation->input, size_bytes);
	if (err)
		return err;
	inflation->offset += size_bytes;
	inflation->stream.next_in = inflation->input;
	inflation->stream.avail_in = size_bytes;
	return 0;
}

/* Decompress the next piece. Sets *ret_end after the last one. */
static int inflation_step(struct inflation *inflation, bool *ret_end)
{
	size_t before = inflation->output.size;
	lzma_ret status;
	int err = inflation_feed(inflation);

	if (err)
		return err;
	if (before > MINI_DEBUG_INFLATED_MAX)
		return -E2BIG;
	if (vec_reserve(&inflation->output, before + READ_BYTES))
		return -ENOMEM;
	inflation->stream.next_out = inflation->output.data + before;
	inflation->stream.avail_out = inflation->output.capacity - before;
	status = lzma_code(&inflation->stream, LZMA_RUN);
	inflation->output.size = inflation->output.capacity - inflation->stream.avail_out;
	*ret_end = status == LZMA_STREAM_END;
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

int mini_debug_inflate(const struct elf_file *elf, uint8_t **ret, size_t *ret_bytes)
{
	const struct elf_section *section = elf_file_section(elf, ".gnu_debugdata");
	CLEANUP(inflation_deinit)
	struct inflation inflation = {
		.blob = elf->blob,
		.stream = LZMA_STREAM_INIT,
	};
	bool end = false;
	int err = 0;

	if (!section || section->type == SHT_NOBITS)
		return -ENOENT;
	if (!blob_has(elf->blob, section->file_offset, section->size_bytes))
		return -EBADMSG;
	inflation.offset = section->file_offset;
	inflation.end = section->file_offset + section->size_bytes;
	inflation.input = malloc(READ_BYTES);
	if (!inflation.input ||
	    lzma_stream_decoder(&inflation.stream, MINI_DEBUG_DECODER_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	while (!end && !err)
		err = inflation_step(&inflation, &end);
	if (err)
		return err;
	*ret = TAKE_PTR(inflation.output.data);
	*ret_bytes = inflation.output.size;
	return 0;
}

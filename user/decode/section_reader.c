/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/section_reader.h"

#include <elf.h>
#include <zlib.h>

#include "base/scope.h"

#define WINDOW_BYTES	  (8u << 10)
#define INPUT_BYTES	  (64u << 10)
#define INFLATE_RATIO_MAX 1032 /* deflate cannot do more */
#define STRING_FIRST	  256

/* Fill to, whole, from the compressed bytes in [offset, end) of the blob. */
static int inflate_blob(const struct blob *blob, uint64_t offset, uint64_t end, uint8_t *to,
			uint64_t size_bytes)
{
	AUTO_FREE uint8_t *input = malloc(INPUT_BYTES);
	z_stream stream = {0};
	uint64_t filled = 0;
	int status = Z_OK, err = 0;

	if (!input || inflateInit(&stream) != Z_OK)
		return -ENOMEM;
	while (status == Z_OK && filled < size_bytes) {
		uint64_t room = size_bytes - filled;

		if (!stream.avail_in) {
			uint64_t left = end - offset;

			stream.avail_in = left < INPUT_BYTES ? left : INPUT_BYTES;
			stream.next_in = input;
			err = stream.avail_in ? blob_read(blob, offset, input, stream.avail_in)
					      : -EBADMSG;
			if (err)
				break;
			offset += stream.avail_in;
		}
		stream.avail_out = room < INT32_MAX ? room : INT32_MAX;
		stream.next_out = to + filled;
		room = stream.avail_out;
		status = inflate(&stream, Z_NO_FLUSH);
		filled += room - stream.avail_out;
	}
	inflateEnd(&stream);
	if (err)
		return err;
	return filled == size_bytes ? 0 : -EBADMSG;
}

static int inflate_section(struct section_reader *reader, const struct elf_section *section)
{
	AUTO_FREE uint8_t *inflated = NULL;
	uint64_t begin = section->file_offset;
	Elf64_Chdr header;
	int err;

	if (section->size_bytes < sizeof(header))
		return -EBADMSG;
	err = blob_read(reader->blob, begin, &header, sizeof(header));
	if (err)
		return err;
	if (header.ch_type != ELFCOMPRESS_ZLIB)
		return -ENOTSUP;
	if (header.ch_size / INFLATE_RATIO_MAX > section->size_bytes)
		return -EBADMSG;
	if (header.ch_size > reader->budget->inflate_bytes)
		return -E2BIG;
	inflated = malloc(header.ch_size ? header.ch_size : 1);
	if (!inflated)
		return -ENOMEM;
	err = inflate_blob(reader->blob, begin + sizeof(header), begin + section->size_bytes,
			   inflated, header.ch_size);
	if (err)
		return err;
	reader->budget->inflate_bytes -= header.ch_size;
	reader->size_bytes = header.ch_size;
	reader->inflated = TAKE_PTR(inflated);
	return 0;
}

int section_reader_init(struct section_reader *ret, const struct elf_file *elf, const char *name,
			struct section_budget *budget)
{
	const struct elf_section *section = elf_file_section(elf, name);
	struct section_reader reader = {.blob = elf->blob, .budget = budget};
	int err;

	if (!section || section->type == SHT_NOBITS)
		return -ENOENT;
	if (section->file_offset > elf->blob->size_bytes ||
	    section->size_bytes > elf->blob->size_bytes - section->file_offset)
		return -EBADMSG;
	reader.file_offset = section->file_offset;
	reader.size_bytes = section->size_bytes;
	if (section->flags & SHF_COMPRESSED) {
		err = inflate_section(&reader, section);
		if (err)
			return err;
	}
	*ret = reader;
	return 0;
}

void section_reader_deinit(struct section_reader *reader)
{
	if (!reader->shares)
		free(reader->inflated);
	free(reader->window);
	*reader = (struct section_reader){0};
}

struct section_reader section_reader_again(const struct section_reader *of)
{
	struct section_reader reader = *of;

	reader.shares = true;
	reader.window = NULL;
	reader.window_bytes = reader.window_capacity = 0;
	return reader;
}

/* Read the window anew, larger than asked for: what comes next is near. */
static int window_fill(struct section_reader *reader, uint64_t offset, uint64_t wanted)
{
	uint64_t left = reader->size_bytes - offset;
	uint64_t size_bytes = wanted > WINDOW_BYTES ? wanted : WINDOW_BYTES;
	int err;

	if (size_bytes > left)
		size_bytes = left;
	/* A window that was needed once for something huge is not kept. */
	if (size_bytes > reader->window_capacity ||
	    reader->window_capacity / 4 > size_bytes + WINDOW_BYTES) {
		free(reader->window);
		reader->window_capacity = reader->window_bytes = 0;
		reader->window = malloc(size_bytes);
		if (!reader->window)
			return -ENOMEM;
		reader->window_capacity = size_bytes;
	}
	reader->window_bytes = 0;
	err = blob_read(reader->blob, reader->file_offset + offset, reader->window, size_bytes);
	if (err)
		return err;
	reader->window_offset = offset;
	reader->window_bytes = size_bytes;
	return 0;
}

int section_view(struct section_reader *reader, uint64_t offset, uint64_t wanted,
		 struct cursor *ret)
{
	int err;

	if (offset >= reader->size_bytes)
		return -EBADMSG;
	if (wanted > reader->size_bytes - offset)
		wanted = reader->size_bytes - offset;
	if (wanted > reader->budget->work_bytes)
		return -E2BIG;
	reader->budget->work_bytes -= wanted;
	if (reader->inflated) {
		*ret = cursor_of(reader->inflated + offset, wanted);
		return 0;
	}
	if (offset < reader->window_offset ||
	    offset - reader->window_offset > reader->window_bytes ||
	    wanted > reader->window_bytes - (offset - reader->window_offset)) {
		err = window_fill(reader, offset, wanted);
		if (err)
			return err;
	}
	*ret = cursor_of(reader->window + (offset - reader->window_offset), wanted);
	return 0;
}

int section_string(struct section_reader *reader, uint64_t offset, size_t max, const char **ret)
{
	size_t wanted = STRING_FIRST;
	struct cursor c;
	int err;

	for (;;) {
		if (wanted > max + 1)
			wanted = max + 1;
		err = section_view(reader, offset, wanted, &c);
		if (err)
			return err;
		if (!cursor_string(&c, ret))
			return 0;
		if (wanted == max + 1 || cursor_left(&c) < wanted)
			return -EBADMSG;
		wanted *= 8;
	}
}

size_t section_reader_bytes(const struct section_reader *reader)
{
	return reader->window_capacity +
	       (reader->inflated && !reader->shares ? reader->size_bytes : 0);
}

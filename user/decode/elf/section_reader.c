/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/section_reader.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"

#define WINDOW_BYTES (8u << 10)
#define WHOLE_BYTES  (1u << 20) /* sections up to this size are read at once */
#define KEPT_BYTES   (2u << 20) /* larger windows are freed as soon as they are not needed */
#define STRING_FIRST 256

const struct elf_section *section_find(const struct elf_file *elf, const char *name,
				       bool *ret_legacy)
{
	const struct elf_section *section = elf_file_section(elf, name);
	char legacy[64];

	*ret_legacy = false;
	if (!section && begins_with(name, ".debug_")) {
		snprintf(legacy, sizeof(legacy), ".z%s", name + 1);
		section = elf_file_section(elf, legacy);
		*ret_legacy = section;
	}
	return section && section->type != SHT_NOBITS ? section : NULL;
}

int section_reader_init(struct section_reader *ret, const struct elf_file *elf, const char *name,
			struct section_budget *budget)
{
	struct section_reader reader = {.blob = elf->blob, .budget = budget};
	enum inflated_header kind =
		elf->machine == EM_386 ? INFLATED_HEADER_32 : INFLATED_HEADER_64;
	const struct elf_section *section;
	bool legacy;
	int err;

	section = section_find(elf, name, &legacy);
	if (!section)
		return -ENOENT;
	if (!blob_has(elf->blob, section->file_offset, section->size_bytes))
		return -EBADMSG;
	reader.file_offset = section->file_offset;
	reader.size_bytes = section->size_bytes;
	if (legacy || section->flags & SHF_COMPRESSED) {
		if (legacy)
			kind = INFLATED_HEADER_LEGACY;
		err = inflated_section_create(elf->blob, section, kind, &budget->inflate_bytes,
					      &reader.inflated);
		if (err)
			return err;
		reader.size_bytes = inflated_section_size(reader.inflated);
	}
	*ret = reader;
	return 0;
}

void section_reader_deinit(struct section_reader *reader)
{
	if (!reader->shares)
		inflated_section_destroy(reader->inflated);
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

static int window_reserve(struct section_reader *reader, uint64_t size_bytes)
{
	reader->window_bytes = 0;
	/* A window that was large for a single view is not kept. */
	if (size_bytes <= reader->window_capacity &&
	    (reader->window_capacity <= KEPT_BYTES || reader->window_capacity / 4 <= size_bytes))
		return 0;
	free(reader->window);
	reader->window_capacity = 0;
	reader->window = malloc(size_bytes);
	if (!reader->window)
		return -ENOMEM;
	reader->window_capacity = size_bytes;
	return 0;
}

/* Fill the window with more than requested: nearby bytes are likely to be read next. */
static int window_fill(struct section_reader *reader, uint64_t offset, uint64_t wanted)
{
	uint64_t size_bytes = reader->window_least ?: WINDOW_BYTES;
	int err;

	if (size_bytes < wanted)
		size_bytes = wanted;
	/* A compressed section is never read whole: its contents before a damage stay readable. */
	if (!reader->inflated && !reader->window_least && reader->size_bytes <= WHOLE_BYTES) {
		offset = 0;
		size_bytes = reader->size_bytes;
	} else if (size_bytes > reader->size_bytes - offset) {
		size_bytes = reader->size_bytes - offset;
	}
	err = window_reserve(reader, size_bytes);
	if (err)
		return err;
	err = reader->inflated ? inflated_section_read(reader->inflated, offset, reader->window,
						       size_bytes, &reader->budget->work_bytes)
			       : blob_read(reader->blob, reader->file_offset + offset,
					   reader->window, size_bytes);
	reader->budget->spent |= err == -E2BIG;
	if (err)
		return err;
	reader->window_offset = offset;
	reader->window_bytes = size_bytes;
	return 0;
}

bool section_view_held(const struct section_reader *reader, uint64_t offset, uint64_t wanted,
		       struct cursor *ret)
{
	if (offset < reader->window_offset ||
	    offset - reader->window_offset > reader->window_bytes ||
	    wanted > reader->window_bytes - (offset - reader->window_offset))
		return false;
	*ret = cursor_of(reader->window + (offset - reader->window_offset), wanted);
	return true;
}

int section_view(struct section_reader *reader, uint64_t offset, uint64_t wanted,
		 struct cursor *ret)
{
	int err;

	if (offset >= reader->size_bytes)
		return -EBADMSG;
	if (wanted > reader->size_bytes - offset)
		wanted = reader->size_bytes - offset;
	if (wanted > reader->budget->work_bytes) {
		reader->budget->spent = true;
		return -E2BIG;
	}
	reader->budget->work_bytes -= wanted;
	if (section_view_held(reader, offset, wanted, ret))
		return 0;
	err = window_fill(reader, offset, wanted);
	if (!err)
		*ret = cursor_of(reader->window + (offset - reader->window_offset), wanted);
	return err;
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

void section_reader_drop_cache(struct section_reader *reader)
{
	free(TAKE_PTR(reader->window));
	reader->window_bytes = reader->window_capacity = 0;
	if (reader->inflated && !reader->shares)
		inflated_section_drop_cache(reader->inflated);
}

size_t section_reader_bytes(const struct section_reader *reader)
{
	return reader->window_capacity +
	       (reader->inflated && !reader->shares ? inflated_section_bytes(reader->inflated) : 0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/copied_text.h"

#include <string.h>

#include "base/scope.h"

static bool are_all_equal(const uint8_t *bytes, size_t size_bytes)
{
	return !memcmp(bytes, bytes + 1, size_bytes - 1);
}

bool copied_text_equals(struct file_store *files, const struct blob *file, uint32_t pid,
			uint64_t address, uint64_t size_bytes, uint64_t file_offset)
{
	uint8_t is[COPIED_TEXT_PLACE_BYTES], wanted[COPIED_TEXT_PLACE_BYTES];
	uint32_t telling = 0;

	if (size_bytes < sizeof(is))
		return false;
	for (uint32_t i = 0; i < COPIED_TEXT_PLACES; i++) {
		uint64_t at = (size_bytes - sizeof(is)) / (COPIED_TEXT_PLACES - 1) * i;

		if (i == COPIED_TEXT_PLACES - 1)
			at = size_bytes - sizeof(is);
		if (file_offset > UINT64_MAX - at ||
		    blob_read(file, file_offset + at, wanted, sizeof(wanted)) ||
		    file_store_read_writer(files, pid, address + at, is, sizeof(is)) ||
		    memcmp(is, wanted, sizeof(is)))
			return false;
		telling += !are_all_equal(is, sizeof(is));
	}
	return telling >= COPIED_TEXT_PLACES / 2;
}

static bool is_text_of(void *files, const struct jitbpf_mapping *mapping)
{
	AUTO_CLOSE int fd = -1;
	struct blob file;
	bool equal;

	if (file_store_open_mapped(files, mapping, &fd, &file))
		return false;
	equal = copied_text_equals(files, &file, mapping->pid, mapping->address,
				   mapping->size_bytes, mapping->file_offset);
	blob_close(&file);
	return equal;
}

void copied_text_source(struct file_store *files, struct text_source *ret)
{
	*ret = (struct text_source){.equals = is_text_of, .context = files};
}

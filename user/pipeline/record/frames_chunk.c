/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/frames_chunk.h"

#include <string.h>

#include "symbolize/recorded_frames.h"

/* With the longest strings, the chunk is within the limit of readers. */
_Static_assert(sizeof(struct jitbpf_frames_chunk) + JITBPF_BUILD_ID_MAX + JITBPF_TEXT_MAX +
			       FRAMES_CHUNK_FRAMES_MAX *
				       (sizeof(struct jitbpf_frame_entry) + 3 * JITBPF_TEXT_MAX +
					FRAMES_CHUNK_DECL_FILE_MAX) <=
		       JITBPF_CHUNK_MAX,
	       "a FRAMES chunk fits");

struct entry {
	struct jitbpf_frame_entry fixed;
	const char *texts[4]; /* name, file, module, decl_file */
};

static uint16_t text_bytes(const char *text)
{
	return (uint16_t)strnlen(text, JITBPF_TEXT_MAX);
}

static struct entry entry_of(const struct frame *frame, const struct frame_table *table,
			     const struct string_pool *strings)
{
	uint32_t declared = frame_table_decl_file(table, frame);
	bool here = declared && declared == frame->file;
	const char *decl_file = string_pool_get(strings, here ? 0 : declared);
	const char *name = string_pool_get(strings, frame->name);
	const char *file = string_pool_get(strings, frame->file);
	const char *module = string_pool_get(strings, frame->module);

	return (struct entry){
		.fixed =
			{
				.symbol_offset = frame->symbol_offset,
				.line = frame->line,
				.flags = frame->flags | (here ? JITBPF_FRAME_DECLARED_HERE : 0),
				.kind = frame->kind,
				.name_bytes = text_bytes(name),
				.file_bytes = text_bytes(file),
				.module_bytes = text_bytes(module),
				.decl_file_bytes =
					(uint16_t)strnlen(decl_file, FRAMES_CHUNK_DECL_FILE_MAX),
			},
		.texts = {name, file, module, decl_file},
	};
}

static uint32_t entry_bytes(const struct entry *entry)
{
	return (uint32_t)sizeof(entry->fixed) + entry->fixed.name_bytes + entry->fixed.file_bytes +
	       entry->fixed.module_bytes + entry->fixed.decl_file_bytes;
}

/* The caller has reserved the room. */
static void put(struct frames_chunk *chunk, const void *bytes, size_t size_bytes)
{
	if (size_bytes)
		memcpy(chunk->bytes.data + chunk->bytes.size, bytes, size_bytes);
	chunk->bytes.size += size_bytes;
}

static void put_entry(struct frames_chunk *chunk, const struct entry *entry)
{
	put(chunk, &entry->fixed, sizeof(entry->fixed));
	put(chunk, entry->texts[0], entry->fixed.name_bytes);
	put(chunk, entry->texts[1], entry->fixed.file_bytes);
	put(chunk, entry->texts[2], entry->fixed.module_bytes);
	put(chunk, entry->texts[3], entry->fixed.decl_file_bytes);
}

int frames_chunk_make(struct frames_chunk *chunk, const struct location *location,
		      const struct module *module, const struct string_pool *strings,
		      const struct frame_table *table, const struct frame *frames, uint32_t count)
{
	struct jitbpf_frames_chunk head = {
		.h = {.size_bytes = sizeof(head), .type = JITBPF_CHUNK_FRAMES},
		.offset = location->offset,
		.kind = (uint16_t)location->kind,
	};
	if (count > FRAMES_CHUNK_FRAMES_MAX)
		count = FRAMES_CHUNK_FRAMES_MAX;
	if (module) {
		head.build_id_bytes = (uint16_t)module->build_id_bytes;
		head.path_bytes = text_bytes(module->path);
		head.dev_major = module->dev_major;
		head.dev_minor = module->dev_minor;
		head.inode = recorded_frames_inode(module);
	}
	head.frame_count = (uint16_t)count;
	head.h.size_bytes += head.build_id_bytes + head.path_bytes;
	for (uint32_t i = 0; i < count; i++) {
		struct entry entry = entry_of(&frames[i], table, strings);

		head.h.size_bytes += entry_bytes(&entry);
	}
	if (vec_reserve(&chunk->bytes, head.h.size_bytes))
		return -ENOMEM;
	chunk->bytes.size = 0;
	put(chunk, &head, sizeof(head));
	put(chunk, module ? module->build_id : NULL, head.build_id_bytes);
	put(chunk, module ? module->path : NULL, head.path_bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct entry entry = entry_of(&frames[i], table, strings);

		put_entry(chunk, &entry);
	}
	return 0;
}

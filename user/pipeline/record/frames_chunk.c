/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/frames_chunk.h"

#include <string.h>

#include "symbolize/recorded_frames.h"

/* With the longest strings, the chunk is within the limit of readers. */
_Static_assert(sizeof(struct jitbpf_frames_chunk) + JITBPF_BUILD_ID_MAX + JITBPF_TEXT_MAX +
			       FRAMES_CHUNK_FRAMES_MAX *
				       (sizeof(struct jitbpf_frame_entry) + 3 * JITBPF_TEXT_MAX) <=
		       JITBPF_CHUNK_MAX,
	       "a FRAMES chunk fits");

struct entry {
	struct jitbpf_frame_entry fixed;
	const char *texts[3]; /* name, file, module */
};

static uint16_t text_bytes(const char *text)
{
	return (uint16_t)strnlen(text, JITBPF_TEXT_MAX);
}

static struct entry entry_of(const struct frame *frame, const struct string_pool *strings)
{
	const char *name = string_pool_get(strings, frame->name);
	const char *file = string_pool_get(strings, frame->file);
	const char *module = string_pool_get(strings, frame->module);

	return (struct entry){
		.fixed =
			{
				.symbol_offset = frame->symbol_offset,
				.line = frame->line,
				.flags = frame->flags,
				.kind = frame->kind,
				.name_bytes = text_bytes(name),
				.file_bytes = text_bytes(file),
				.module_bytes = text_bytes(module),
			},
		.texts = {name, file, module},
	};
}

static uint32_t entry_bytes(const struct entry *entry)
{
	return (uint32_t)sizeof(entry->fixed) + entry->fixed.name_bytes + entry->fixed.file_bytes +
	       entry->fixed.module_bytes;
}

static void put_entry(struct chunk_writer *writer, const struct entry *entry)
{
	chunk_put(writer, &entry->fixed, sizeof(entry->fixed));
	chunk_put(writer, entry->texts[0], entry->fixed.name_bytes);
	chunk_put(writer, entry->texts[1], entry->fixed.file_bytes);
	chunk_put(writer, entry->texts[2], entry->fixed.module_bytes);
}

int frames_chunk_put(struct chunk_writer *writer, const struct location *location,
		     const struct module *module, const struct string_pool *strings,
		     const struct frame *frames, uint32_t count)
{
	struct jitbpf_frames_chunk chunk = {
		.h = {.size_bytes = sizeof(chunk), .type = JITBPF_CHUNK_FRAMES},
		.offset = location->offset,
		.kind = (uint16_t)location->kind,
	};
	if (count > FRAMES_CHUNK_FRAMES_MAX)
		count = FRAMES_CHUNK_FRAMES_MAX;
	if (module) {
		chunk.build_id_bytes = (uint16_t)module->build_id_bytes;
		chunk.path_bytes = text_bytes(module->path);
		chunk.dev_major = module->dev_major;
		chunk.dev_minor = module->dev_minor;
		chunk.inode = recorded_frames_inode(module);
	}
	chunk.frame_count = (uint16_t)count;
	chunk.h.size_bytes += chunk.build_id_bytes + chunk.path_bytes;
	for (uint32_t i = 0; i < count; i++) {
		struct entry entry = entry_of(&frames[i], strings);

		chunk.h.size_bytes += entry_bytes(&entry);
	}
	chunk_put(writer, &chunk, sizeof(chunk));
	chunk_put(writer, module ? module->build_id : NULL, chunk.build_id_bytes);
	chunk_put(writer, module ? module->path : NULL, chunk.path_bytes);
	for (uint32_t i = 0; i < count; i++) {
		struct entry entry = entry_of(&frames[i], strings);

		put_entry(writer, &entry);
	}
	return writer->error;
}

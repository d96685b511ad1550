/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/recorded_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "symbolize/name/shown_name.h"

/* The identity of a location. */
struct key {
	uint64_t offset;
	uint64_t inode; /* recorded_frames_inode() */
	uint32_t dev_major, dev_minor;
	uint16_t kind;
	uint16_t build_id_bytes;
	uint16_t path_bytes;
	const void *build_id;
	const void *path;
};

struct entry {
	struct key key;	       /* build_id and path are not used */
	size_t identity_at;    /* offset of both in recorded_frames.identities */
	uint32_t first, count; /* frames */
};

struct recorded_frames {
	struct string_pool *strings; /* borrowed */
	VEC(struct entry) entries;
	VEC(uint8_t) identities;
	VEC(struct frame) frames;
	struct index_map index; /* of entries */
	uint64_t taken_bytes;
	uint64_t left_out;
};

static size_t identity_bytes(const struct key *key)
{
	return (size_t)key->build_id_bytes + key->path_bytes;
}

static uint64_t hash_of(const struct key *key)
{
	uint64_t hash = hash_mix(key->offset, key->kind);

	hash = hash_mix(hash, key->inode);
	hash = hash_mix(hash, (uint64_t)key->dev_major << 32 | key->dev_minor);
	hash = hash_bytes(key->build_id, key->build_id_bytes, hash);
	return hash_bytes(key->path, key->path_bytes, hash);
}

/* Compare bytes of the identities with others. Without any identity, there is no array. */
static bool is_same(const struct recorded_frames *recorded, size_t at, const void *b,
		    size_t size_bytes)
{
	return !size_bytes || !memcmp(recorded->identities.data + at, b, size_bytes);
}

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct recorded_frames *recorded = items;
	const struct entry *entry = &recorded->entries.data[item];
	const struct key *a = &entry->key, *b = key_;

	return a->offset == b->offset && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->kind == b->kind &&
	       a->build_id_bytes == b->build_id_bytes && a->path_bytes == b->path_bytes &&
	       is_same(recorded, entry->identity_at, b->build_id, a->build_id_bytes) &&
	       is_same(recorded, entry->identity_at + a->build_id_bytes, b->path, a->path_bytes);
}

int recorded_frames_create(struct string_pool *strings, struct recorded_frames **ret)
{
	struct recorded_frames *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return -ENOMEM;
	recorded->strings = strings;
	*ret = recorded;
	return 0;
}

void recorded_frames_destroy(struct recorded_frames *recorded)
{
	if (!recorded)
		return;
	vec_deinit(&recorded->entries);
	vec_deinit(&recorded->identities);
	vec_deinit(&recorded->frames);
	index_map_deinit(&recorded->index);
	free(recorded);
}

/* Read the part before the frames. *c is then at the first frame. */
static int read_key(struct cursor *c, struct key *ret, uint16_t *ret_count)
{
	struct jitbpf_frames_chunk chunk;
	const void *build_id, *path;

	if (cursor_read(c, &chunk, sizeof(chunk)) || chunk.build_id_bytes > JITBPF_BUILD_ID_MAX ||
	    !chunk.frame_count || chunk.frame_count > JITBPF_FRAMES_MAX ||
	    cursor_take(c, chunk.build_id_bytes, &build_id) ||
	    cursor_take(c, chunk.path_bytes, &path))
		return -EBADMSG;
	*ret = (struct key){
		.offset = chunk.offset,
		.inode = chunk.inode,
		.dev_major = chunk.dev_major,
		.dev_minor = chunk.dev_minor,
		.kind = chunk.kind,
		.build_id_bytes = chunk.build_id_bytes,
		.path_bytes = chunk.path_bytes,
		.build_id = build_id,
		.path = path,
	};
	*ret_count = chunk.frame_count;
	return 0;
}

/* Read the fixed part of a frame. Sets ret_texts to its strings: name, file, module, decl_file. */
static int read_entry(struct cursor *c, struct jitbpf_frame_entry *ret, const void *ret_texts[4])
{
	if (cursor_read(c, ret, sizeof(*ret)) || cursor_take(c, ret->name_bytes, &ret_texts[0]) ||
	    cursor_take(c, ret->file_bytes, &ret_texts[1]) ||
	    cursor_take(c, ret->module_bytes, &ret_texts[2]) ||
	    cursor_take(c, ret->decl_file_bytes, &ret_texts[3]))
		return -EBADMSG;
	return 0;
}

/* Returns 0 if the frames fill the chunk exactly, or -EBADMSG. */
static int check_frames(struct cursor c, uint16_t count)
{
	struct jitbpf_frame_entry fixed;
	const void *texts[4];

	for (uint16_t i = 0; i < count; i++) {
		if (read_entry(&c, &fixed, texts))
			return -EBADMSG;
	}
	return cursor_left(&c) ? -EBADMSG : 0;
}

static int frame_of(struct string_pool *strings, const struct jitbpf_frame_entry *fixed,
		    const void *const texts[4], struct frame *ret)
{
	struct frame frame = {
		.line = fixed->line,
		.symbol_offset = fixed->symbol_offset,
		/* A newer version may have written an unknown kind. */
		.kind = fixed->kind < FRAME_KIND_COUNT ? fixed->kind : FRAME_KIND_UNKNOWN,
		.flags = fixed->flags & FRAME_INLINED,
	};

	if (shown_name_add(strings, texts[0], fixed->name_bytes, &frame.name) ||
	    shown_name_add(strings, texts[1], fixed->file_bytes, &frame.file) ||
	    shown_name_add(strings, texts[2], fixed->module_bytes, &frame.module) ||
	    shown_name_add(strings, texts[3], fixed->decl_file_bytes, &frame.decl_file))
		return -ENOMEM;
	if (fixed->flags & JITBPF_FRAME_DECLARED_HERE)
		frame.decl_file = frame.file;
	*ret = frame;
	return 0;
}

/* Copy frames that check_frames() accepted. */
static int take_frames(struct recorded_frames *recorded, struct cursor c, uint16_t count)
{
	struct jitbpf_frame_entry fixed;
	const void *texts[4];
	struct frame frame;

	if (vec_reserve(&recorded->frames, recorded->frames.size + count))
		return -ENOMEM;
	for (uint16_t i = 0; i < count; i++) {
		if (read_entry(&c, &fixed, texts))
			return -EBADMSG;
		if (frame_of(recorded->strings, &fixed, texts, &frame))
			return -ENOMEM;
		recorded->frames.data[recorded->frames.size++] = frame;
	}
	return 0;
}

/* The caller has reserved the room. */
static void put_identity(struct recorded_frames *recorded, const void *bytes, size_t size_bytes)
{
	if (size_bytes)
		memcpy(recorded->identities.data + recorded->identities.size, bytes, size_bytes);
	recorded->identities.size += size_bytes;
}

/* Add a new location. On failure, only strings may remain in the pool. */
static int add_entry(struct recorded_frames *recorded, const struct key *key, uint64_t hash,
		     const struct cursor *frames, uint16_t count)
{
	struct entry entry = {
		.key = *key,
		.identity_at = recorded->identities.size,
		.first = (uint32_t)recorded->frames.size,
		.count = count,
	};
	int err;

	entry.key.build_id = entry.key.path = NULL;
	if (vec_reserve(&recorded->entries, recorded->entries.size + 1) ||
	    vec_reserve(&recorded->identities, entry.identity_at + identity_bytes(key)))
		return -ENOMEM;
	err = take_frames(recorded, *frames, count);
	err = err ?: index_map_insert(&recorded->index, hash, (uint32_t)recorded->entries.size);
	if (err) {
		recorded->frames.size = entry.first;
		return err;
	}
	put_identity(recorded, key->build_id, key->build_id_bytes);
	put_identity(recorded, key->path, key->path_bytes);
	recorded->entries.data[recorded->entries.size++] = entry;
	return 0;
}

int recorded_frames_add(struct recorded_frames *recorded, const struct jitbpf_frames_chunk *chunk)
{
	struct cursor c = cursor_of(chunk, chunk->h.size_bytes);
	struct key key;
	uint64_t hash;
	uint16_t count;
	int err;

	if (read_key(&c, &key, &count) || check_frames(c, count))
		return -EBADMSG;
	/* The budget counts chunk sizes: the copies are smaller, except for the strings. */
	if (!location_kind_info(key.kind)->has_symbols ||
	    chunk->h.size_bytes > RECORDED_FRAMES_BYTES_MAX - recorded->taken_bytes) {
		recorded->left_out++;
		return 0;
	}
	hash = hash_of(&key);
	if (index_map_find(&recorded->index, hash, equal, recorded, &key) != INDEX_MAP_NONE)
		return 0;
	err = add_entry(recorded, &key, hash, &c, count);
	if (!err)
		recorded->taken_bytes += chunk->h.size_bytes;
	return err;
}

const struct frame *recorded_frames_find(const struct recorded_frames *recorded,
					 const struct location *location,
					 const struct module *module, uint32_t *ret_count)
{
	struct key key = {.offset = location->offset, .kind = (uint16_t)location->kind};
	const struct entry *entry;
	uint32_t item;

	*ret_count = 0;
	if (module) {
		key.build_id = module->build_id;
		key.build_id_bytes = (uint16_t)module->build_id_bytes;
		key.path = module->path;
		key.path_bytes = (uint16_t)strnlen(module->path, JITBPF_TEXT_MAX);
		key.dev_major = module->dev_major;
		key.dev_minor = module->dev_minor;
		key.inode = recorded_frames_inode(module);
	}
	item = index_map_find(&recorded->index, hash_of(&key), equal, recorded, &key);
	if (item == INDEX_MAP_NONE)
		return NULL;
	entry = &recorded->entries.data[item];
	*ret_count = entry->count;
	return recorded->frames.data + entry->first;
}

uint64_t recorded_frames_left_out(const struct recorded_frames *recorded)
{
	return recorded->left_out;
}

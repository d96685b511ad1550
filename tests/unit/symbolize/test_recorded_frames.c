/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/recorded_frames.h"
#include "tests/unit/cases.h"

struct fixture {
	struct string_pool *strings;
	struct recorded_frames *recorded;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || string_pool_create(&f->strings) ||
	    recorded_frames_create(f->strings, &f->recorded))
		return -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	recorded_frames_destroy(f->recorded);
	string_pool_destroy(f->strings);
	free(f);
	return 0;
}

/* Contents of a chunk. The frames have lines 1, 2, ... */
struct wanted {
	struct jitbpf_frames_chunk fixed;
	const char *identity;
	const char *name;
	uint16_t frame_kind, frame_flags;
	const char *decl_file;
};

/* Returns a chunk in memory of exactly its size. The caller frees it. */
static struct jitbpf_frames_chunk *chunk_of(const struct wanted *wanted)
{
	size_t identity_bytes = wanted->fixed.build_id_bytes + wanted->fixed.path_bytes;
	struct jitbpf_frame_entry entry = {
		.kind = wanted->frame_kind,
		.flags = wanted->frame_flags,
		.name_bytes = (uint16_t)strlen(wanted->name),
		.file_bytes = 3,
		.module_bytes = 2,
		.decl_file_bytes = wanted->decl_file ? (uint16_t)strlen(wanted->decl_file) : 0,
	};
	size_t size = sizeof(wanted->fixed) + identity_bytes +
		      wanted->fixed.frame_count *
			      (sizeof(entry) + entry.name_bytes + 5u + entry.decl_file_bytes);
	struct jitbpf_frames_chunk *chunk = calloc(1, size);
	uint8_t *at = (void *)(chunk + 1);

	*chunk = wanted->fixed;
	chunk->h.size_bytes = (uint32_t)size;
	chunk->h.type = JITBPF_CHUNK_FRAMES;
	if (identity_bytes)
		memcpy(at, wanted->identity, identity_bytes);
	at += identity_bytes;
	for (uint16_t i = 0; i < chunk->frame_count; i++) {
		entry.line = i + 1;
		memcpy(at, &entry, sizeof(entry));
		memcpy(at += sizeof(entry), wanted->name, entry.name_bytes);
		memcpy(at += entry.name_bytes, "f.cmo", 5);
		at += 5;
		if (entry.decl_file_bytes)
			memcpy(at, wanted->decl_file, entry.decl_file_bytes);
		at += entry.decl_file_bytes;
	}
	return chunk;
}

static int add(struct fixture *f, const struct wanted *wanted)
{
	struct jitbpf_frames_chunk *chunk = chunk_of(wanted);
	int err = recorded_frames_add(f->recorded, chunk);

	free(chunk);
	return err;
}

/* Returns the recorded name of a location, or NULL. */
static const char *name_of(const struct fixture *f, enum location_kind kind, uint64_t offset,
			   const struct module *module)
{
	struct location location = {.kind = kind, .offset = offset};
	uint32_t count;
	const struct frame *frame = recorded_frames_find(f->recorded, &location, module, &count);

	assert_int_equal(!frame, !count);
	return frame ? string_pool_get(f->strings, frame->name) : NULL;
}

static struct wanted kernel_frame(uint64_t address, const char *name)
{
	return (struct wanted){
		.fixed = {.kind = LOCATION_KERNEL, .offset = address, .frame_count = 1},
		.name = name,
	};
}

CASE_WITH(test_kernel, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted wanted = kernel_frame(0xffffffff81000000, "schedule");

	assert_null(name_of(f, LOCATION_KERNEL, 0xffffffff81000000, NULL));
	assert_int_equal(add(f, &wanted), 0);
	assert_string_equal(name_of(f, LOCATION_KERNEL, 0xffffffff81000000, NULL), "schedule");
	assert_null(name_of(f, LOCATION_KERNEL, 0xffffffff81000001, NULL));
	assert_null(name_of(f, LOCATION_NATIVE, 0xffffffff81000000, NULL));
}

static const char *decl_file_of(const struct fixture *f, uint64_t address)
{
	struct location location = {.kind = LOCATION_KERNEL, .offset = address};
	uint32_t count;
	const struct frame *frame = recorded_frames_find(f->recorded, &location, NULL, &count);

	assert_non_null(frame);
	return string_pool_get(f->strings, frame->decl_file);
}

CASE_WITH(test_static_functions, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted elsewhere = kernel_frame(1, "work"), here = kernel_frame(2, "work"),
		      unknown = kernel_frame(3, "work");

	elsewhere.decl_file = "/src/a.h";
	here.frame_flags = JITBPF_FRAME_DECLARED_HERE;
	assert_int_equal(add(f, &elsewhere), 0);
	assert_int_equal(add(f, &here), 0);
	assert_int_equal(add(f, &unknown), 0);
	assert_string_equal(decl_file_of(f, 1), "/src/a.h");
	assert_string_equal(decl_file_of(f, 2), "f.c");
	assert_string_equal(decl_file_of(f, 3), "");
}

CASE_WITH(test_first_wins, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted first = kernel_frame(1, "first"), second = kernel_frame(1, "second");

	assert_int_equal(add(f, &first), 0);
	assert_int_equal(add(f, &second), 0);
	assert_string_equal(name_of(f, LOCATION_KERNEL, 1, NULL), "first");
}

/* All of build ID, path, device, inode and generation must be equal. */
CASE_WITH(test_identities, setup, teardown)
{
	static const char *const names[] = {"first", "copied build ID", "reused inode"};
	struct fixture *f = *state;
	struct module module = {
		.build_id = "\1\0\2", .build_id_bytes = 3, .path = "/a", .inode = 5};
	struct wanted wanted = {
		.fixed = {.kind = LOCATION_NATIVE,
			  .offset = 16,
			  .frame_count = 1,
			  .build_id_bytes = 3,
			  .path_bytes = 2},
		.identity = "\1\0\2/a",
	};

	for (size_t i = 0; i < 3; i++) {
		module.inode = 5 + i % 2;
		module.inode_generation = i / 2;
		wanted.fixed.inode = recorded_frames_inode(&module);
		wanted.name = names[i];
		assert_int_equal(add(f, &wanted), 0);
	}
	for (size_t i = 0; i < 3; i++) {
		module.inode = 5 + i % 2;
		module.inode_generation = i / 2;
		assert_string_equal(name_of(f, LOCATION_NATIVE, 16, &module), names[i]);
	}
	module.inode_generation = 2;
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));
	module.inode_generation = 1;
	module.path = "/b";
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));
}

/* A module without build ID has its path, device and inode. A build ID alone is no identity. */
CASE_WITH(test_partial_identities, setup, teardown)
{
	struct fixture *f = *state;
	struct module module = {
		.build_id = "\1\0\2", .build_id_bytes = 3, .path = "/a", .inode = 5};
	struct wanted by_id = {
		.fixed = {.kind = LOCATION_NATIVE,
			  .offset = 16,
			  .frame_count = 1,
			  .build_id_bytes = 3},
		.identity = "\1\0\2",
		.name = "by id",
	};
	struct wanted by_path = {
		.fixed = {.kind = LOCATION_NATIVE,
			  .offset = 16,
			  .frame_count = 1,
			  .path_bytes = 2,
			  .dev_major = 8,
			  .dev_minor = 1,
			  .inode = 5},
		.identity = "/a",
		.name = "by path",
	};

	assert_int_equal(add(f, &by_id), 0);
	assert_int_equal(add(f, &by_path), 0);
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));

	module = (struct module){.path = "/a", .dev_major = 8, .dev_minor = 1, .inode = 5};
	assert_string_equal(name_of(f, LOCATION_NATIVE, 16, &module), "by path");
	module.inode = 6;
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));
	module.inode = 5;
	module.dev_minor = 2;
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));
	module.dev_minor = 1;
	module.path = "/aa";
	assert_null(name_of(f, LOCATION_NATIVE, 16, &module));
}

/* Many locations are found while the table grows, with their number of frames. */
CASE_WITH(test_many, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 3000; i++) {
		struct wanted wanted = kernel_frame(i * 16, "same");

		wanted.fixed.frame_count = 1 + i % 7;
		assert_int_equal(add(f, &wanted), 0);
	}
	for (uint64_t i = 0; i < 3000; i++) {
		struct location location = {.kind = LOCATION_KERNEL, .offset = i * 16};
		uint32_t count;
		const struct frame *frames =
			recorded_frames_find(f->recorded, &location, NULL, &count);

		assert_int_equal(count, 1 + i % 7);
		for (uint32_t j = 0; j < count; j++) {
			assert_int_equal(frames[j].line, j + 1);
			assert_string_equal(string_pool_get(f->strings, frames[j].name), "same");
			assert_string_equal(string_pool_get(f->strings, frames[j].file), "f.c");
			assert_string_equal(string_pool_get(f->strings, frames[j].module), "mo");
		}
	}
}

/* Kinds and flags of a newer version are ignored. */
CASE_WITH(test_what_is_not_known, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted wanted = kernel_frame(1, "a");
	struct location location = {.kind = LOCATION_KERNEL, .offset = 1};
	const struct frame *frame;
	uint32_t count;

	wanted.frame_kind = 77;
	wanted.frame_flags = 0xfffe | FRAME_INLINED;
	assert_int_equal(add(f, &wanted), 0);
	frame = recorded_frames_find(f->recorded, &location, NULL, &count);
	assert_int_equal(frame->kind, FRAME_KIND_UNKNOWN);
	assert_int_equal(frame->flags, FRAME_INLINED);

	wanted = kernel_frame(2, "b");
	wanted.fixed.kind = 77;
	assert_int_equal(add(f, &wanted), 0);
	assert_int_equal(recorded_frames_left_out(f->recorded), 1);
}

/* A chunk one byte shorter or longer than its parts is rejected, wherever the byte is. */
CASE_WITH(test_parts_fill_the_chunk, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted wanted = {
		.fixed = {.kind = LOCATION_NATIVE, .frame_count = 3, .path_bytes = 4},
		.identity = "/bin",
		.name = "name",
	};
	struct jitbpf_frames_chunk *chunk = chunk_of(&wanted);
	uint32_t size = chunk->h.size_bytes;

	for (uint32_t cut = sizeof(chunk->h); cut < size; cut++) {
		struct jitbpf_frames_chunk *exact = malloc(cut);

		chunk->h.size_bytes = cut;
		memcpy(exact, chunk, cut);
		assert_int_equal(recorded_frames_add(f->recorded, exact), -EBADMSG);
		free(exact);
	}
	chunk = realloc(chunk, size + 1);
	((uint8_t *)chunk)[size] = 0;
	chunk->h.size_bytes = size + 1;
	assert_int_equal(recorded_frames_add(f->recorded, chunk), -EBADMSG);
	free(chunk);
}

CASE_WITH(test_malformed, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted wanted = kernel_frame(1, "a");

	wanted.fixed.frame_count = 0;
	assert_int_equal(add(f, &wanted), -EBADMSG);

	wanted.fixed.frame_count = 1;
	wanted.identity = "012345678901234567890123456789";
	wanted.fixed.build_id_bytes = JITBPF_BUILD_ID_MAX + 1;
	assert_int_equal(add(f, &wanted), -EBADMSG);

	assert_null(name_of(f, LOCATION_KERNEL, 1, NULL));
	assert_int_equal(recorded_frames_left_out(f->recorded), 0);
}

/* Chunks over the budget are skipped and counted. */
CASE_WITH(test_budget, setup, teardown)
{
	struct fixture *f = *state;
	static char name[60001];
	struct wanted wanted = kernel_frame(0, memset(name, 'n', sizeof(name) - 1));
	struct jitbpf_frames_chunk *chunk;
	uint64_t fitting;

	wanted.fixed.frame_count = JITBPF_FRAMES_MAX;
	chunk = chunk_of(&wanted);
	fitting = RECORDED_FRAMES_BYTES_MAX / chunk->h.size_bytes;
	for (uint64_t i = 0; i < fitting + 2; i++) {
		chunk->offset = i;
		assert_int_equal(recorded_frames_add(f->recorded, chunk), 0);
	}
	free(chunk);
	assert_int_equal(recorded_frames_left_out(f->recorded), 2);
	assert_non_null(name_of(f, LOCATION_KERNEL, fitting - 1, NULL));
	assert_null(name_of(f, LOCATION_KERNEL, fitting, NULL));
}

/* A packed chunk of a few bytes can have thousands of frames, which each sample would show. */
CASE_WITH(test_too_many_frames, setup, teardown)
{
	struct fixture *f = *state;
	struct wanted wanted = kernel_frame(0, "name");
	struct jitbpf_frames_chunk *chunk;

	wanted.fixed.frame_count = JITBPF_FRAMES_MAX + 1;
	chunk = chunk_of(&wanted);
	assert_int_equal(recorded_frames_add(f->recorded, chunk), -EBADMSG);
	free(chunk);
}

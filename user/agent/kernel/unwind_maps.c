/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/unwind_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IS_IN_PIECES(bytes) ((bytes) % (UNWIND_ARRAY_PIECES * 4096ull) == 0)

_Static_assert(IS_IN_PIECES(UNWIND_ROWS_MAX * sizeof(struct unwind_row)), "whole pages each");
_Static_assert(IS_IN_PIECES(UNWIND_MAPPINGS_MAX * sizeof(struct unwind_mapping)), "likewise");

static void piece_unmap(const struct unwind_array *array, struct unwind_piece *piece)
{
	if (piece->bytes)
		munmap(piece->bytes, array->piece_bytes);
	piece->bytes = NULL;
}

/* Returns a mapped piece of the BPF array, valid until the next call; NULL with errno set. */
static uint8_t *piece_of(struct unwind_array *array, size_t number)
{
	struct unwind_piece *piece;
	void *bytes;

	for (piece = array->pieces; piece < array->pieces + UNWIND_PIECES_MAPPED; piece++) {
		if (piece->bytes && piece->number == number)
			return piece->bytes;
	}
	bytes = mmap(NULL, array->piece_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, array->fd,
		     (off_t)(number * array->piece_bytes));
	if (bytes == MAP_FAILED)
		return NULL;
	piece = &array->pieces[array->oldest++ % UNWIND_PIECES_MAPPED];
	piece_unmap(array, piece);
	*piece = (struct unwind_piece){.number = number, .bytes = bytes};
	return bytes;
}

/* Walks that begin after this call use no callers that were found before. */
static void count_removal(const struct unwind_maps *maps)
{
	__atomic_add_fetch(maps->removals, 1, __ATOMIC_SEQ_CST);
}

/* Copy a range of the private array to the BPF array. */
static int show(struct unwind_array *array, uint32_t first, uint32_t count)
{
	size_t at = first * array->element_bytes, end = at + count * array->element_bytes;

	while (at < end) {
		size_t offset = at % array->piece_bytes, bytes = array->piece_bytes - offset;
		uint8_t *piece = piece_of(array, at / array->piece_bytes);

		if (!piece)
			return -errno;
		bytes = bytes < end - at ? bytes : end - at;
		memcpy(piece + offset, array->ours + at, bytes);
		at += bytes;
	}
	return 0;
}

static int put_page(struct unwind_maps *maps, struct unwind_page_key key, struct unwind_page page,
		    uint64_t flags)
{
	int err = show(&maps->rows, page.first, page.count);

	if (err)
		return err;
	return bpf_map_update_elem(maps->pages_fd, &key, &page, flags) ? -errno : 0;
}

static int publish_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	return put_page(context, key, page, BPF_ANY);
}

static int replace_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	return put_page(context, key, page, BPF_EXIST);
}

static int publish_process(void *context, uint32_t pid, const struct unwind_process *process)
{
	struct unwind_maps *maps = context;
	int err = show(&maps->mappings, process->first, process->count);

	if (err)
		return err;
	return bpf_map_update_elem(maps->processes_fd, &pid, process, BPF_ANY) ? -errno : 0;
}

static void unpublish_page(void *context, struct unwind_page_key key)
{
	const struct unwind_maps *maps = context;

	bpf_map_delete_elem(maps->pages_fd, &key);
	count_removal(maps);
}

static void unpublish_process(void *context, uint32_t pid)
{
	const struct unwind_maps *maps = context;

	bpf_map_delete_elem(maps->processes_fd, &pid);
	count_removal(maps);
}

static int array_init(struct unwind_array *ret, const struct bpf_map *map)
{
	*ret = (struct unwind_array){
		.fd = bpf_map__fd(map),
		.count = bpf_map__max_entries(map),
		.element_bytes = bpf_map__value_size(map),
	};
	ret->piece_bytes = ret->count * ret->element_bytes / UNWIND_ARRAY_PIECES;
	/* calloc() of this size maps pages, which become resident when touched. */
	ret->ours = calloc(ret->count, ret->element_bytes);
	return ret->ours ? 0 : -ENOMEM;
}

static void array_deinit(struct unwind_array *array)
{
	for (uint32_t i = 0; i < UNWIND_PIECES_MAPPED; i++)
		piece_unmap(array, &array->pieces[i]);
	free(array->ours);
	*array = (struct unwind_array){0};
}

int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf)
{
	int err;

	ret->pages_fd = bpf_map__fd(bpf->maps.unwind_pages);
	ret->processes_fd = bpf_map__fd(bpf->maps.unwind_processes);
	ret->removals = (uint64_t *)&bpf->bss->unwind_removals;
	err = array_init(&ret->rows, bpf->maps.unwind_rows);
	err = err ?: array_init(&ret->mappings, bpf->maps.unwind_mappings);
	if (err)
		unwind_maps_deinit(ret);
	return err;
}

void unwind_maps_init_tables(struct unwind_maps *maps, struct unwind_tables *ret)
{
	*ret = (struct unwind_tables){
		.rows = (struct unwind_row *)maps->rows.ours,
		.mappings = (struct unwind_mapping *)maps->mappings.ours,
		.row_count = maps->rows.count,
		.mapping_count = maps->mappings.count,
		.publish_page = publish_page,
		.replace_page = replace_page,
		.publish_process = publish_process,
		.unpublish_page = unpublish_page,
		.unpublish_process = unpublish_process,
		.context = maps,
	};
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	array_deinit(&maps->rows);
	array_deinit(&maps->mappings);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/unwind_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/clock.h"

#define IS_IN_PIECES(bytes) ((bytes) % (UNWIND_ARRAY_PIECES * 4096ull) == 0)

_Static_assert(IS_IN_PIECES(UNWIND_ROWS * sizeof(struct unwind_row)), "whole pages each");
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

static void add_recipes(const struct unwind_maps *maps, int64_t more)
{
	__atomic_add_fetch(maps->recipe_count, (uint64_t)more, __ATOMIC_SEQ_CST);
}

static int publish_recipe(void *context, uint32_t pid, const struct runtime_recipe *recipe)
{
	const struct unwind_maps *maps = context;

	if (bpf_map_update_elem(maps->recipes_fd, &pid, recipe, BPF_ANY))
		return -errno;
	add_recipes(maps, 1);
	return 0;
}

static void unpublish_recipe(void *context, uint32_t pid)
{
	const struct unwind_maps *maps = context;

	bpf_map_delete_elem(maps->recipes_fd, &pid);
	add_recipes(maps, -1);
}

static void skip_program(void *context, const struct jitbpf_program_file *file)
{
	const struct unwind_maps *maps = context;
	uint32_t plain = 1;

	bpf_map_update_elem(maps->plain_programs_fd, file, &plain, BPF_ANY);
}

/* Pauses after a wake-up for a function that was known already. */
#define FIRST_PAUSE_NS	 2000000ull
#define LONGEST_PAUSE_NS 64000000ull

static void found_functions(void *context, bool found)
{
	struct unwind_maps *maps = context;
	uint64_t wakes = __atomic_load_n(maps->wakes, __ATOMIC_RELAXED), pause_ns = maps->pause_ns;

	if (wakes == maps->wakes_before && !found)
		return;
	maps->wakes_before = wakes;
	pause_ns = pause_ns ? 2 * pause_ns : FIRST_PAUSE_NS;
	maps->pause_ns = found ? 0 : pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
	__atomic_store_n(maps->wake_ns, found ? 0 : clock_now_ns() + maps->pause_ns,
			 __ATOMIC_RELAXED);
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
	ret->recipes_fd = bpf_map__fd(bpf->maps.runtime_recipes);
	ret->wake_ns = (uint64_t *)&bpf->bss->runtime_wake_ns;
	ret->wakes = (uint64_t *)&bpf->bss->runtime_wakes;
	ret->plain_programs_fd = bpf_map__fd(bpf->maps.plain_programs);
	ret->removals = (uint64_t *)&bpf->bss->unwind_removals;
	ret->recipe_count = (uint64_t *)&bpf->bss->runtime_recipe_count;
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
		.publish_recipe = publish_recipe,
		.unpublish_recipe = unpublish_recipe,
		.skip_program = skip_program,
		.found_functions = found_functions,
		.context = maps,
	};
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	array_deinit(&maps->rows);
	array_deinit(&maps->mappings);
}

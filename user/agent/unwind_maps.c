/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/unwind_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static int publish_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	const struct unwind_maps *maps = context;

	return bpf_map_update_elem(maps->pages_fd, &key, &page, BPF_ANY) ? -errno : 0;
}

static int replace_page(void *context, struct unwind_page_key key, struct unwind_page page)
{
	const struct unwind_maps *maps = context;

	return bpf_map_update_elem(maps->pages_fd, &key, &page, BPF_EXIST) ? -errno : 0;
}

static int publish_process(void *context, uint32_t pid, const struct unwind_process *process)
{
	const struct unwind_maps *maps = context;

	return bpf_map_update_elem(maps->processes_fd, &pid, process, BPF_ANY) ? -errno : 0;
}

static void withdraw_page(void *context, struct unwind_page_key key)
{
	const struct unwind_maps *maps = context;

	bpf_map_delete_elem(maps->pages_fd, &key);
}

static void withdraw_process(void *context, uint32_t pid)
{
	const struct unwind_maps *maps = context;

	bpf_map_delete_elem(maps->processes_fd, &pid);
}

/* *ret_bytes is 0 where it failed. */
static void *map_array(const struct bpf_map *map, size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *array;

	bytes = (bytes + page - 1) & ~(page - 1);
	array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	*ret_bytes = array == MAP_FAILED ? 0 : bytes;
	return array;
}

int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf)
{
	struct unwind_maps maps = {
		.pages_fd = bpf_map__fd(bpf->maps.unwind_pages),
		.processes_fd = bpf_map__fd(bpf->maps.unwind_processes),
		.row_count = bpf_map__max_entries(bpf->maps.unwind_rows),
		.mapping_count = bpf_map__max_entries(bpf->maps.unwind_mappings),
	};
	int err;

	maps.rows = map_array(bpf->maps.unwind_rows, &maps.rows_bytes);
	if (!maps.rows_bytes)
		return -errno;
	maps.mappings = map_array(bpf->maps.unwind_mappings, &maps.mappings_bytes);
	if (!maps.mappings_bytes) {
		err = -errno;
		unwind_maps_deinit(&maps);
		return err;
	}
	*ret = maps;
	return 0;
}

void unwind_maps_init_feed(struct unwind_maps *maps, struct unwind_feed *ret)
{
	*ret = (struct unwind_feed){
		.rows = maps->rows,
		.mappings = maps->mappings,
		.row_count = maps->row_count,
		.mapping_count = maps->mapping_count,
		.publish_page = publish_page,
		.replace_page = replace_page,
		.publish_process = publish_process,
		.withdraw_page = withdraw_page,
		.withdraw_process = withdraw_process,
		.context = maps,
	};
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	if (maps->rows_bytes)
		munmap(maps->rows, maps->rows_bytes);
	if (maps->mappings_bytes)
		munmap(maps->mappings, maps->mappings_bytes);
	maps->rows_bytes = maps->mappings_bytes = 0;
}

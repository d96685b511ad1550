/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/unwind_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

/* Copy count elements, of which the first is number `first`, into one of the programs' arrays. */
static int fill(int array_fd, uint32_t first, uint32_t count, const void *elements)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	AUTO_FREE uint32_t *numbers = NULL;
	uint32_t filled = count;

	if (!count)
		return 0;
	numbers = reallocarray(NULL, count, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = first + i;
	return bpf_map_update_batch(array_fd, numbers, elements, &filled, &options) ? -errno : 0;
}

static int put_page(const struct unwind_maps *maps, struct unwind_page_key key,
		    struct unwind_page page, uint64_t flags)
{
	int err = fill(maps->rows_fd, page.first, page.count, maps->rows + page.first);

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
	const struct unwind_maps *maps = context;
	int err = fill(maps->mappings_fd, process->first, process->count,
		       maps->mappings + process->first);

	if (err)
		return err;
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

int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf)
{
	struct unwind_maps maps = {
		.rows_fd = bpf_map__fd(bpf->maps.unwind_rows),
		.mappings_fd = bpf_map__fd(bpf->maps.unwind_mappings),
		.pages_fd = bpf_map__fd(bpf->maps.unwind_pages),
		.processes_fd = bpf_map__fd(bpf->maps.unwind_processes),
		.row_count = bpf_map__max_entries(bpf->maps.unwind_rows),
		.mapping_count = bpf_map__max_entries(bpf->maps.unwind_mappings),
	};

	/* Large enough for the system's own pages, which are there once they are touched. */
	maps.rows = calloc(maps.row_count, sizeof(*maps.rows));
	maps.mappings = calloc(maps.mapping_count, sizeof(*maps.mappings));
	if (!maps.rows || !maps.mappings) {
		unwind_maps_deinit(&maps);
		return -ENOMEM;
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
	free(maps->rows);
	free(maps->mappings);
	*maps = (struct unwind_maps){0};
}

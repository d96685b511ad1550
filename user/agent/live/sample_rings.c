/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/sample_rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/scope.h"
#include "uapi/kernel_maps.h"

static int make_ring(uint32_t ring_bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sample_ring", 0, 0, ring_bytes, NULL);

	return fd < 0 ? -errno : fd;
}

int sample_rings_create(struct sample_rings *ret)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	/* The map takes only rings that are like this one, of any size. */
	AUTO_CLOSE int like = make_ring((uint32_t)sysconf(_SC_PAGESIZE));
	int fd;

	if (like < 0)
		return like;
	opts.inner_map_fd = (uint32_t)like;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "sample_rings", sizeof(uint32_t),
			    sizeof(uint32_t), JITBPF_CPUS_MAX, &opts);
	if (fd < 0)
		return -errno;
	*ret = (struct sample_rings){.map_fd = fd};
	return 0;
}

void sample_rings_destroy(struct sample_rings *rings)
{
	background_join(&rings->putting);
	vec_for_each (fd, &rings->fds)
		close(*fd);
	vec_deinit(&rings->fds);
	vec_deinit(&rings->cpus);
	scope_close(&rings->map_fd);
	*rings = SAMPLE_RINGS_NONE;
}

/* Takes over fd if it succeeds. */
static int keep(struct sample_rings *rings, uint32_t cpu, int fd)
{
	int err = vec_reserve(&rings->fds, rings->fds.size + 1);

	err = err ?: vec_push(&rings->cpus, cpu);
	return err ?: vec_push(&rings->fds, fd);
}

int sample_rings_make(struct sample_rings *rings, uint32_t cpu, uint32_t ring_bytes)
{
	AUTO_CLOSE int fd = make_ring(ring_bytes);
	int err = fd < 0 ? fd : keep(rings, cpu, fd);

	if (!err)
		TAKE_FD(fd);
	return err;
}

static int put(const struct sample_rings *rings, uint32_t cpu, int fd)
{
	return bpf_map_update_elem(rings->map_fd, &cpu, &fd, BPF_ANY) ? -errno : 0;
}

static int put_all(void *rings_)
{
	const struct sample_rings *rings = rings_;
	uint32_t count = (uint32_t)rings->fds.size;
	int err = 0;

	if (!bpf_map_update_batch(rings->map_fd, rings->cpus.data, rings->fds.data, &count, NULL))
		return 0;
	for (size_t i = 0; i < rings->fds.size && !err; i++)
		err = put(rings, rings->cpus.data[i], rings->fds.data[i]);
	return err;
}

void sample_rings_begin_put(struct sample_rings *rings)
{
	background_start(&rings->putting, put_all, rings);
}

int sample_rings_end_put(struct sample_rings *rings)
{
	return background_join(&rings->putting);
}

int sample_rings_add(struct sample_rings *rings, uint32_t cpu, int fd)
{
	int err = put(rings, cpu, fd);

	return err ?: keep(rings, cpu, fd);
}

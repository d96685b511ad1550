/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/probe_trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/helper/file_blob.h"
#include "agent/kernel/proc/process_text.h"
#include "base/scope.h"
#include "decode/text/proc_maps.h"

#define SELF_TEST_RUNS	 4
#define COPY_PIECE_BYTES (1u << 20)

/* Map the site, so that it can be run without loading the shim. */
static int map_site(const struct probe_site *site, void **ret_map, size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t from = site->offset & ~(uint64_t)(page - 1);
	AUTO_CLOSE int fd = file_open_regular(site->path);
	size_t bytes = (size_t)(site->offset - from) + PROBE_SITE_BYTES;
	void *map;

	if (fd < 0)
		return fd;
	map = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)from);
	if (map == MAP_FAILED)
		return -errno;
	*ret_map = map;
	*ret_bytes = bytes;
	return 0;
}

/* Get the identity of a mapped file from /proc/self/maps. */
static int find_mapped(const void *map, struct mapped_file *ret)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	int err = process_maps_read(NULL, (uint32_t)getpid(), &text), more;
	struct proc_map line;
	struct cursor maps;

	if (err)
		return err;
	maps = cursor_of(text.data, text.size);
	while ((more = proc_maps_next(&maps, &line))) {
		if (more < 0 || line.start > (uintptr_t)map || line.end <= (uintptr_t)map)
			continue;
		*ret = (struct mapped_file){line.dev_major, line.dev_minor, line.inode};
		return 0;
	}
	return -ENOENT;
}

/* Run the site a few times. Returns the number of hits, of all places together. */
static uint64_t run_site(const uint8_t *code, volatile const uint64_t *hits)
{
	void (*run)(const void *, uint64_t, uint64_t, uint32_t) = (void *)code;
	uint64_t before = *hits;

	for (int i = 0; i < SELF_TEST_RUNS; i++)
		run(NULL, 0, 0, 0);
	return *hits - before;
}

static void end_at_fault(int signal)
{
	_exit(1);
}

/*
 * Returns true if a child can run the site after its parent has. Some kernels replace the nop by a
 * call to a page that children do not inherit; the child then crashes.
 */
static bool works_after_fork(const uint8_t *code, volatile const uint64_t *hits)
{
	struct sigaction at_fault = {.sa_handler = end_at_fault};
	int status;
	pid_t child = fork();

	if (child < 0)
		return false;
	if (child == 0) {
		sigaction(SIGSEGV, &at_fault, NULL);
		run_site(code, hits);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return status == 0;
}

/*
 * Returns true if the place fires each time, in addition to the places that were tried before and
 * stay attached, and is cheap. A newer kernel replaces the nop by a call after the first hit. An
 * older one leaves a breakpoint, which costs a single step more on a nop of several bytes.
 */
static bool works(const struct uprobe_target *target, uint32_t place, const uint8_t *code,
		  volatile const uint64_t *hits, struct uprobe *keep)
{
	uint64_t others = run_site(code, hits);

	if (uprobe_add(target, keep))
		return false;
	if (run_site(code, hits) != others + SELF_TEST_RUNS)
		return false;
	if (!place)
		return true;
	return *(volatile const uint8_t *)(code + place) != 0xcc && works_after_fork(code, hits);
}

/* Get the identity of the shim's mappings. */
static int identify(struct probe_site *site)
{
	size_t map_bytes = 0;
	void *map = NULL;
	int err = map_site(site, &map, &map_bytes);

	if (err)
		return err;
	err = find_mapped(map, &site->file);
	munmap(map, map_bytes);
	return err;
}

/*
 * Copy the shim, so that no other process maps the file of the trial: registering a uprobe waits
 * for all processes that map its file. Returns the descriptor of a memfd, or a negative errno.
 */
static int copy_shim(const struct probe_site *site)
{
	AUTO_CLOSE int from = file_open_regular(site->path);
	AUTO_CLOSE int to = memfd_create("jitbpf-site", MFD_CLOEXEC);
	ssize_t got;

	if (from < 0 || to < 0)
		return from < 0 ? from : -errno;
	while ((got = sendfile(to, from, NULL, COPY_PIECE_BYTES)) > 0)
		;
	return got < 0 ? -errno : TAKE_FD(to);
}

/* Without an agent that can be read, Java is not attached to at the start. */
static void find_jvm_agent(struct probe_trial *trial)
{
	struct probe_site *agent = &trial->jvm_agent;

	if (probe_site_find_jvm_agent(&trial->site, agent) || identify(agent))
		*agent = (struct probe_site){0};
	agent->place = trial->site.place;
}

/* Choose the place. Returns 0 or a negative errno: -ENOTSUP if none works. */
static int choose(void *trial_)
{
	static const uint32_t places[] = {6, 1, 0};
	struct probe_trial *trial = trial_;
	struct probe_site *site = &trial->site, copy = *site;
	struct uprobe_target target = {
		.program_fd = trial->programs->self_test_fd,
		.semaphore_offset = site->semaphore_offset,
		.pid = getpid(),
	};
	AUTO_CLOSE int fd = -1;
	const uint8_t *code;
	size_t map_bytes = 0;
	bool found = false;
	void *map = NULL;
	int err;

	err = identify(site);
	if (err)
		return err;
	fd = err = copy_shim(site);
	if (err < 0)
		return err;
	snprintf(copy.path, sizeof(copy.path), "/proc/self/fd/%d", fd);
	err = map_site(&copy, &map, &map_bytes);
	if (err)
		return err;
	code = (const uint8_t *)map + map_bytes - PROBE_SITE_BYTES;
	target.file_fd = fd;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !found; i++) {
		bool may_add = lock_gate_is_open(&trial->gate, clock_now_ns());

		site->place = may_add ? places[i] : 0;
		target.offset = site->offset + site->place;
		found = !may_add ||
			works(&target, site->place, code, trial->programs->hits, &trial->tried[i]);
	}
	munmap(map, map_bytes);
	if (found)
		find_jvm_agent(trial);
	return found ? 0 : -ENOTSUP;
}

void probe_trial_start(struct probe_trial *trial, const struct probe_site *site,
		       const struct attach_programs *programs)
{
	*trial = (struct probe_trial){
		.site = *site,
		.programs = programs,
		.gate_link = attach_programs_gate(programs),
		.tried = {UPROBE_NONE, UPROBE_NONE, UPROBE_NONE},
	};
	trial->gate.look = trial->gate_link < 0 ? NULL : lock_holders_look;
	trial->gate.context = &trial->gate_link;
	background_start(&trial->choosing, choose, trial);
}

/* The attacher removes the probes of the trial, since it outlives jitbpf if a removal must wait. */
int probe_trial_end(struct probe_trial *trial, struct attacher *attacher, struct probe_site *ret)
{
	int err = background_join(&trial->choosing);

	for (size_t i = 0; i < PROBE_PLACES; i++) {
		if (!err)
			err = attacher_keep(attacher, &trial->tried[i]);
		uprobe_close(&trial->tried[i]);
	}
	if (!err)
		*ret = trial->site;
	return err;
}

void probe_trial_deinit(struct probe_trial *trial)
{
	background_join(&trial->choosing);
	for (size_t i = 0; i < PROBE_PLACES && trial->programs; i++)
		uprobe_close(&trial->tried[i]);
}

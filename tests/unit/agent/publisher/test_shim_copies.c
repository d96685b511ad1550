/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of the shim, without attaching: what is refused, and which records repeat others. */
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/publisher/shim_copies.h"
#include "base/scope.h"
#include "tests/unit/cases.h"
#include "uapi/jit_record.h"

struct fixture {
	char folder[32];
	struct probe_site site;
	struct file_store *files;
	struct process_owners owners;
	struct shim_copies copies;
};

static int setup(void **state)
{
	const struct file_store_options options = {.live = true};
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	strcpy(f->folder, "/tmp/jitbpf-unit-XXXXXX");
	if (!mkdtemp(f->folder) || file_store_create(&options, &f->files))
		return -1;
	f->site.file.inode = 1;
	f->copies.site = &f->site;
	f->copies.files = f->files;
	f->copies.owners = &f->owners;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	shim_copies_deinit(&f->copies);
	file_store_destroy(f->files);
	rmdir(f->folder);
	free(f);
	return 0;
}

/* Returns a mapping, by this process, of a new file with a name and contents. */
static struct jitbpf_mapping *map_file(const struct fixture *f, const char *name,
				       const char *content)
{
	struct jitbpf_mapping *mapping = calloc(1, sizeof(*mapping) + 128);
	struct stat st;
	int fd;

	snprintf(mapping->path, 128, "%s/%s", f->folder, name);
	fd = open(mapping->path, O_CREAT | O_RDWR | O_EXCL, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	mapping->pid = (uint32_t)getpid();
	mapping->dev_major = major(st.st_dev);
	mapping->dev_minor = minor(st.st_dev);
	mapping->inode = st.st_ino;
	return mapping;
}

static void see(struct fixture *f, const struct jitbpf_mapping *mapping)
{
	const struct shim_copy *copy;

	assert_int_equal(shim_copies_see(&f->copies, mapping, &copy), 0);
	assert_null(copy);
}

CASE(test_names)
{
	assert_true(shim_has_name("/usr/lib/libjitbpf.so"));
	assert_true(shim_has_name("/x/libjitbpf.so.1.2 (old)"));
	assert_true(shim_has_name("libJitPI.so"));
	assert_false(shim_has_name("/usr/lib/jitbpf.so"));
	assert_false(shim_has_name("/libjitbpf.so/libc.so.6"));
	assert_false(shim_has_name(""));
}

/* A file that only has the name is refused, and not opened again for each mapping of it. */
CASE_WITH(test_not_the_shim, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *text = map_file(f, "libjitbpf.so", "no ELF file");
	AUTO_FREE struct jitbpf_mapping *other = map_file(f, "libjitbpf.so.2", "\177ELF");

	see(f, text);
	assert_int_equal(f->copies.refused, 1);
	assert_int_equal(f->copies.known.size, 1);
	assert_int_equal(f->copies.known.data[0].probe, 0);
	see(f, text);
	assert_int_equal(f->copies.refused, 1);
	see(f, other);
	assert_int_equal(f->copies.refused, 2);
	assert_int_equal(f->copies.attached, 0);
	unlink(text->path);
	unlink(other->path);
}

/* Mappings of other files, of no file, and of the installed shim are not examined. */
CASE_WITH(test_not_examined, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *other = map_file(f, "libother.so", "no ELF file");
	AUTO_FREE struct jitbpf_mapping *shim = map_file(f, "libjitbpf.so", "no ELF file");

	see(f, other);
	f->site.file = (struct mapped_file){shim->dev_major, shim->dev_minor, shim->inode};
	see(f, shim);
	shim->inode = 0;
	see(f, shim);
	assert_int_equal(f->copies.refused, 0);
	assert_int_equal(f->copies.known.size, 0);
	unlink(other->path);
	unlink(shim->path);
}

/* If the process has ended, another mapping may lead to the file: nothing is remembered. */
CASE_WITH(test_process_that_ended, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *mapping = map_file(f, "libjitbpf.so", "no ELF file");

	unlink(mapping->path);
	mapping->pid = 0x7fffffff;
	see(f, mapping);
	assert_int_equal(f->copies.refused, 0);
	assert_int_equal(f->copies.known.size, 0);
}

CASE_WITH(test_over_budget, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *mapping = map_file(f, "libjitbpf.so", "no ELF file");

	f->copies.in_use = SHIM_COPIES_MAX;
	see(f, mapping);
	see(f, mapping);
	assert_int_equal(f->copies.over_budget, 2);
	assert_int_equal(f->copies.refused, 0);
	unlink(mapping->path);
}

#define SECOND_NS 1000000000ull

/* Returns a copy as if a probe were on it, used by a process. */
static void add_copy(struct fixture *f, uint64_t inode, uint32_t pid, uint64_t used_ns)
{
	struct shim_copy copy = {.file.inode = inode, .attached_ns = 1, .used_ns = used_ns};

	assert_int_equal(vec_push(&copy.pids, pid), 0);
	assert_int_equal(vec_push(&f->copies.known, copy), 0);
	f->copies.in_use++;
}

static uint64_t unused_inode(struct fixture *f, uint64_t now_ns)
{
	const struct shim_copy *copy = shim_copies_unused(&f->copies, now_ns);

	return copy ? copy->file.inode : 0;
}

static void fork_child(struct fixture *f, uint32_t parent_pid, uint32_t pid, uint64_t time_ns)
{
	const struct jitbpf_task fork = {
		.h.time_ns = time_ns, .pid = pid, .parent_pid = parent_pid};

	assert_int_equal(shim_copies_fork(&f->copies, &fork), 0);
}

/* A copy is unused once its processes have ended; of several, the one unused for longest. */
CASE_WITH(test_unused, setup, teardown)
{
	const uint32_t ended = 0x7ffffff0, self = (uint32_t)getpid();
	struct fixture *f = *state;

	add_copy(f, 11, self, 0);
	add_copy(f, 12, ended, 30 * SECOND_NS);
	add_copy(f, 13, ended, 20 * SECOND_NS);
	assert_int_equal(unused_inode(f, 29 * SECOND_NS), 0);
	assert_int_equal(unused_inode(f, 30 * SECOND_NS), 13);
	assert_int_equal(unused_inode(f, 50 * SECOND_NS), 13);
	assert_int_equal(f->copies.known.data[0].pids.size, 1);
}

/* Children inherit the copy, whichever of two forks is seen first, and in the next drain, too. */
CASE_WITH(test_inherited, setup, teardown)
{
	const uint32_t ended = 0x7ffffff0, child = 0x7ffffff1, self = (uint32_t)getpid();
	struct fixture *f = *state;

	add_copy(f, 11, ended, 0);
	fork_child(f, child, self, 6);
	fork_child(f, ended, child, 5);
	assert_int_equal(shim_copies_end_round(&f->copies, 10), 0);
	assert_int_equal(unused_inode(f, 50 * SECOND_NS), 0);
	add_copy(f, 12, ended, 0);
	f->copies.known.data[0].pids.size = 0;
	assert_int_equal(shim_copies_end_round(&f->copies, 20), 0);
	assert_int_equal(unused_inode(f, 50 * SECOND_NS), 11);
	assert_int_equal(shim_copies_end_round(&f->copies, 30), 0);
	assert_int_equal(f->copies.forks.size, 0);
}

static void add_owned(struct fixture *f, uint32_t uid, uint64_t inode, uint64_t used_ns)
{
	struct shim_copy *copy;

	add_copy(f, inode, (uint32_t)getpid(), used_ns);
	copy = &f->copies.known.data[f->copies.known.size - 1];
	copy->probe = (uint32_t)inode;
	assert_int_equal(
		owner_budget_get(&f->copies.budget, (struct owner_key){.uid = uid}, &copy->owner),
		0);
	owner_budget_add(&f->copies.budget, copy->owner, 1);
}

static bool has_copy(const struct fixture *f, uint64_t inode)
{
	vec_for_each (copy, &f->copies.known) {
		if (copy->file.inode == inode)
			return true;
	}
	return false;
}

/* The owner with the most copies gives way, and not the others. */
CASE_WITH(test_room_for_each_owner, setup, teardown)
{
	struct fixture *f = *state;
	struct budget_owner *greedy, *modest;

	assert_int_equal(attacher_create(NULL, -1, -1, &f->copies.attacher), 0);
	for (uint64_t i = 1; i < SHIM_COPIES_MAX; i++)
		add_owned(f, 1000, i, 1000 - i);
	greedy = f->copies.known.data[0].owner;
	add_owned(f, 2000, 500, 1);
	modest = f->copies.known.data[SHIM_COPIES_MAX - 1].owner;
	assert_false(shim_copies_make_room(&f->copies, greedy));
	assert_int_equal(f->copies.in_use, SHIM_COPIES_MAX);
	assert_true(shim_copies_make_room(&f->copies, modest));
	assert_int_equal(f->copies.in_use, SHIM_COPIES_MAX - 1);
	assert_false(has_copy(f, SHIM_COPIES_MAX - 1)); /* not used for longest */
	assert_true(has_copy(f, 500));
	assert_int_equal(f->copies.over_budget, 1);
	assert_int_equal(greedy->used, SHIM_COPIES_MAX - 2);
	attacher_destroy(f->copies.attacher);
}

/* The list of refused files is bounded: the oldest ones are forgotten. */
CASE_WITH(test_many_refused, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *mapping = map_file(f, "libjitbpf.so", "no ELF file");

	for (uint64_t i = 0; i < SHIM_REFUSED_MAX; i++)
		assert_int_equal(vec_push(&f->copies.known, ((struct shim_copy){.file.inode = ~i})),
				 0);
	see(f, mapping);
	assert_int_equal(f->copies.known.size, SHIM_REFUSED_MAX);
	assert_int_equal(f->copies.known.data[0].file.inode, ~1ull);
	see(f, mapping);
	assert_int_equal(f->copies.refused, 1);
	unlink(mapping->path);
}

/* Returns the verdict on a record with a sequence number, of thread tid and a copy of the shim. */
static bool repeats(struct fixture *f, uint32_t tid, uint32_t copy, uint64_t sequence)
{
	union {
		struct jitbpf_jit jit;
		uint8_t bytes[sizeof(struct jitbpf_jit) + sizeof(struct jitbpf_jit_header)];
	} record = {.jit = {.pid = 5, .tid = tid, .copy = copy}};
	const struct jitbpf_jit_header header = {.sequence = sequence};

	record.jit.data_bytes = sizeof(header);
	memcpy(record.jit.data, &header, sizeof(header));
	return shim_copies_repeats(&f->copies, &record.jit);
}

/* Probes on two files with one inode fire for each hit; the second record is dropped. */
CASE_WITH(test_repeated, setup, teardown)
{
	struct fixture *f = *state;

	assert_false(repeats(f, 1, 1, 100));
	assert_false(repeats(f, 1, 2, 100)); /* no copy is attached: nothing is compared */
	f->copies.attached = 2;
	assert_false(repeats(f, 1, 1, 100));
	assert_true(repeats(f, 1, 2, 100));
	assert_true(repeats(f, 1, 3, 100));
	assert_false(repeats(f, 2, 2, 100)); /* another thread */
	assert_false(repeats(f, 1, 2, 101)); /* another event */
	assert_false(repeats(f, 1, 2, 101)); /* twice by one copy: two hits */
	assert_true(repeats(f, 1, 1, 101));
}

/* Only the latest hits are compared: records of other threads may come in between. */
CASE_WITH(test_latest_hits, setup, teardown)
{
	struct fixture *f = *state;

	f->copies.attached = 2;
	assert_false(repeats(f, 1, 1, 100));
	for (uint32_t tid = 2; tid < SHIM_HITS_KEPT + 1; tid++)
		assert_false(repeats(f, tid, 1, 7));
	assert_true(repeats(f, 1, 2, 100));
	assert_false(repeats(f, SHIM_HITS_KEPT + 1, 1, 7));
	assert_false(repeats(f, 1, 2, 100));
}

static void no_answer(void *context, uint32_t pending, uint64_t attached_ns)
{
	assert_int_equal(attached_ns, 0);
}

static int see_again(void *f, const struct jitbpf_mapping *mapping)
{
	see(f, mapping);
	return 0;
}

/* While all copies of the largest owner are pending, none can give way: the mapping is kept. */
CASE_WITH(test_room_later, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *mapping = map_file(f, "libjitbpf.so", "no ELF file");

	mapping->h.size_bytes = sizeof(*mapping) + 128;
	mapping->h.time_ns = clock_now_ns();
	assert_int_equal(attacher_create(NULL, -1, -1, &f->copies.attacher), 0);
	for (uint64_t i = 1; i <= SHIM_COPIES_MAX; i++) {
		add_owned(f, 1000, i, i);
		f->copies.known.data[i - 1].pending = (uint32_t)i;
	}
	see(f, mapping);
	see(f, mapping);
	assert_int_equal(shim_waiting_count(&f->copies.waiting, true), 1);
	assert_int_equal(shim_waiting_count(&f->copies.waiting, false), 0);
	assert_int_equal(f->copies.over_budget, 0);
	assert_int_equal(shim_waiting_retry(&f->copies.waiting, see_again, f), 0);
	assert_int_equal(f->copies.waiting.size, 1);
	/* The first of them is attached, and gives way; the file is not the shim. */
	f->copies.known.data[0].pending = 0;
	f->copies.waiting.tried_ns = 0;
	assert_int_equal(shim_waiting_retry(&f->copies.waiting, see_again, f), 0);
	assert_int_equal(f->copies.waiting.size, 0);
	assert_false(has_copy(f, 1));
	assert_int_equal(f->copies.refused, 1);
	/* A mapping is not kept for ever. */
	f->copies.known.data[0].pending = 2;
	f->copies.in_use = SHIM_COPIES_MAX;
	mapping->inode++;
	mapping->h.time_ns -= SHIM_WAITING_NS;
	see(f, mapping);
	assert_int_equal(f->copies.waiting.size, 0);
	f->copies.in_use = SHIM_COPIES_MAX - 1;
	attacher_destroy(f->copies.attacher);
	unlink(mapping->path);
}

/* Its file may be replaced before the request: the run goes on. */
CASE_WITH(test_beside_that_is_gone, setup, teardown)
{
	const struct probe_site site = {.path = "/nonexistent/libjitbpf-jvmti.so"};
	struct fixture *f = *state;

	assert_int_equal(shim_copies_add(&f->copies, &site), 0);
	assert_int_equal(f->copies.refused, 1);
	assert_int_equal(f->copies.known.size, 0);
}

/* A refusal of the copy beside jitbpf is counted, and not final. */
CASE_WITH(test_beside_that_is_refused, setup, teardown)
{
	struct fixture *f = *state;
	AUTO_FREE struct jitbpf_mapping *mapping = map_file(f, "libjitbpf-jvmti.so", "no ELF file");
	struct shim_copy copy = {
		.file = {mapping->dev_major, mapping->dev_minor, mapping->inode},
		.beside = true,
		.probe = 3,
		.pending = 3,
	};

	assert_int_equal(attacher_create(NULL, -1, -1, &f->copies.attacher), 0);
	assert_int_equal(vec_push(&f->copies.known, copy), 0);
	shim_copies_take_answers(&f->copies, no_answer, NULL); /* it took too long */
	assert_int_equal(f->copies.refused, 1);
	see(f, mapping); /* it is examined again, and is not the agent */
	assert_int_equal(f->copies.refused, 2);
	assert_int_equal(f->copies.known.size, 1);
	assert_int_equal(f->copies.in_use, 0);
	see(f, mapping);
	assert_int_equal(f->copies.refused, 2);
	attacher_destroy(f->copies.attacher);
	unlink(mapping->path);
}

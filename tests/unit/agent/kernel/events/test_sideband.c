/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's side-band records, from a ring in memory. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/kernel/proc/mapping_record.h"
#include "agent/kernel/events/sideband.h"
#include "base/scope.h"
#include "tests/unit/agent/kernel/events/made_sideband.h"
#include "tests/unit/cases.h"

#define RECORDS_MAX 600u
#define TIME_NS	    123456789012345ull
#define CPU	    3u
#define PID	    77u
#define TID	    78u

struct fixture {
	struct cpu_events events;
	struct cpu_event event;
	struct perf_event_mmap_page *control;
	struct file_store *files;
	uint64_t lost;
	uint8_t *taken[RECORDS_MAX];
	uint32_t count;
	uint32_t fails_at; /* the taker fails on the record of this number */
};

static int setup(void **state)
{
	const struct file_store_options options = {.live = false};
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->fails_at = UINT32_MAX;
	f->control = made_sideband();
	f->events.sideband_bytes = MADE_SIDEBAND_BYTES;
	f->event.sideband = f->control;
	return file_store_create(&options, &f->files);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < f->count; i++)
		free(f->taken[i]);
	file_store_destroy(f->files);
	free(f->control);
	free(f);
	return 0;
}

static void put(struct fixture *f, uint32_t type, uint16_t misc, const void *body, size_t bytes)
{
	made_sideband_put(
		f->control, type, misc, body, bytes,
		&(struct made_sideband_id){
			.pid = PID, .tid = TID, .time_ns = TIME_NS + f->count, .cpu = CPU});
}

static int take(void *context, const struct jitbpf_record *record)
{
	struct fixture *f = context;

	assert_true(f->count < RECORDS_MAX);
	f->taken[f->count] = malloc(record->size_bytes);
	memcpy(f->taken[f->count], record, record->size_bytes);
	if (record->type == JITBPF_MAPPING)
		mapping_record_identify((struct jitbpf_mapping *)f->taken[f->count], f->files);
	return f->count++ == f->fails_at ? -EIO : 0;
}

static void drain(struct fixture *f, uint32_t expected)
{
	uint32_t before = f->count;

	assert_int_equal(sideband_drain(&f->events, &f->event, take, f, &f->lost), 0);
	assert_int_equal(f->count - before, expected);
	assert_int_equal(f->control->data_tail, f->control->data_head);
}

/* The last one that was taken. */
static const void *last(struct fixture *f, uint32_t type, size_t bytes)
{
	const struct jitbpf_record *record = (const void *)f->taken[f->count - 1];

	assert_int_equal(record->type, type);
	assert_int_equal(record->size_bytes, bytes);
	assert_int_equal(record->time_ns, TIME_NS + f->count - 1);
	return record;
}

struct mmap2 {
	uint32_t pid, tid;
	uint64_t address, size_bytes, file_offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[4096];
};

static void put_mmap2(struct fixture *f, uint32_t pid, const char *path)
{
	struct mmap2 body = {
		.pid = pid,
		.tid = TID,
		.address = 0x7f0000000000,
		.size_bytes = 0x3000,
		.file_offset = 0x1000,
		.protection = 5,
		.flags = 2,
	};

	strcpy(body.path, path);
	put(f, PERF_RECORD_MMAP2, 0, &body, offsetof(struct mmap2, path) + strlen(path) + 1);
}

CASE_WITH(test_mappings, setup, teardown)
{
	struct fixture *f = *state;
	const struct jitbpf_mapping *mapping;
	char path[4000];

	put_mmap2(f, PID, "//anon");
	drain(f, 1);
	mapping = last(f, JITBPF_MAPPING, sizeof(*mapping) + sizeof("//anon"));
	assert_int_equal(mapping->pid, PID);
	assert_int_equal(mapping->tid, TID);
	assert_int_equal(mapping->address, 0x7f0000000000);
	assert_int_equal(mapping->size_bytes, 0x3000);
	assert_int_equal(mapping->file_offset, 0x1000);
	assert_int_equal(mapping->protection, 5);
	assert_int_equal(mapping->map_flags, 2);
	assert_int_equal(mapping->build_id_bytes, 0);
	assert_string_equal(mapping->path, "//anon");

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	put_mmap2(f, PID, path);
	drain(f, 1);
	mapping = last(f, JITBPF_MAPPING, sizeof(*mapping) + sizeof(path));
	assert_string_equal(mapping->path, path);
}

/* A file is met: this program, which has a build ID. */
CASE_WITH(test_file, setup, teardown)
{
	struct mmap2 body = {.pid = PID, .tid = TID, .size_bytes = 0x1000, .protection = 5};
	struct fixture *f = *state;
	const struct jitbpf_mapping *mapping;
	struct stat file;
	ssize_t length = readlink("/proc/self/exe", body.path, sizeof(body.path) - 1);

	assert_true(length > 0);
	assert_int_equal(stat(body.path, &file), 0);
	body.inode = file.st_ino;
	body.dev_major = major(file.st_dev);
	body.dev_minor = minor(file.st_dev);
	put(f, PERF_RECORD_MMAP2, 0, &body, offsetof(struct mmap2, path) + (size_t)length + 1);
	drain(f, 1);
	mapping = last(f, JITBPF_MAPPING, sizeof(*mapping) + (size_t)length + 1);
	assert_int_equal(mapping->inode, file.st_ino);
	assert_int_equal(mapping->build_id_bytes, 20);
	assert_string_equal(mapping->path, body.path);
}

/* Shared memory that a process maps without write access. */
CASE_WITH(test_read_only, setup, teardown)
{
	static const struct {
		const char *path;
		uint32_t protection, flags;
		bool own_device, read_only;
	} cases[] = {
		{"/srv/code", 5, MAP_SHARED, false, true},
		{"/srv/code", 7, MAP_SHARED, false, false},
		{"/srv/code", 5, MAP_PRIVATE, false, false},
		{"/memfd:jit (deleted)", 5, MAP_SHARED, true, true},
		{"/dev/zero (deleted)", 5, MAP_SHARED, true, false},
		{"/dev/zero (deleted)", 5, MAP_SHARED, false, true}, /* a file with that path */
	};
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct fixture *f = *state;
	struct stat memory;

	assert_int_equal(fstat(fd, &memory), 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mmap2 body = {
			.pid = PID,
			.tid = TID,
			.size_bytes = 0x1000,
			.inode = 1000000 + i,
			.dev_major = major(memory.st_dev),
			.dev_minor = minor(memory.st_dev) + !cases[i].own_device,
			.protection = cases[i].protection,
			.flags = cases[i].flags,
		};

		strcpy(body.path, cases[i].path);
		put(f, PERF_RECORD_MMAP2, 0, &body,
		    offsetof(struct mmap2, path) + strlen(body.path) + 1);
		drain(f, 1);
		assert_int_equal(((const struct jitbpf_record *)f->taken[f->count - 1])->flags,
				 cases[i].read_only ? JITBPF_MAPPING_READ_ONLY : 0);
	}
}

/* Memory of the kernel's own file system is identified without being opened. */
CASE_WITH(test_shared_memory, setup, teardown)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct mmap2 body = {.pid = PID, .tid = TID, .size_bytes = 0x1000, .protection = 7};
	const struct jitbpf_mapping *mapping;
	struct fixture *f = *state;
	struct stat memory;

	assert_int_equal(fstat(fd, &memory), 0);
	body.dev_major = major(memory.st_dev);
	body.dev_minor = minor(memory.st_dev);
	strcpy(body.path, "/dev/zero (deleted)"); /* cannot be opened here */
	for (unsigned i = 0; i < 4; i++) {
		bool shared = i & 1;

		body.inode = memory.st_ino + 1000000;
		body.inode_generation = i & 2 ? 77 : 0;
		body.flags = shared ? MAP_SHARED : MAP_PRIVATE;
		put(f, PERF_RECORD_MMAP2, 0, &body,
		    offsetof(struct mmap2, path) + strlen(body.path) + 1);
		drain(f, 1);
		mapping = last(f, JITBPF_MAPPING, sizeof(*mapping) + strlen(body.path) + 1);
		assert_int_equal(mapping->inode_generation, shared);
	}
	close(fd);
}

/* Processes that have no number in our namespace. */
CASE_WITH(test_foreign, setup, teardown)
{
	const struct {
		uint32_t pid, tid;
		char comm[16];
	} comms[] = {{.pid = 0}, {.pid = UINT32_MAX}};
	const struct {
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time_ns;
	} fork = {.pid = 0, .parent_pid = PID};
	struct fixture *f = *state;

	put_mmap2(f, 0, "/a");
	put_mmap2(f, UINT32_MAX, "/b");
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++)
		put(f, PERF_RECORD_COMM, 0, &comms[i], sizeof(comms[i]));
	put(f, PERF_RECORD_FORK, 0, &fork, sizeof(fork));
	drain(f, 0);
}

CASE_WITH(test_names, setup, teardown)
{
	struct {
		uint32_t pid, tid;
		char comm[24];
	} body = {.pid = PID, .tid = TID, .comm = "short"};
	struct fixture *f = *state;
	const struct jitbpf_comm *comm;

	put(f, PERF_RECORD_COMM, 0, &body, 16);
	drain(f, 1);
	comm = last(f, JITBPF_COMM, sizeof(*comm));
	assert_int_equal(comm->h.flags & JITBPF_COMM_EXEC, 0);
	assert_int_equal(comm->pid, PID);
	assert_int_equal(comm->tid, TID);
	assert_string_equal(comm->comm, "short");

	strcpy(body.comm, "longer than a name is");
	put(f, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body, sizeof(body));
	drain(f, 1);
	comm = last(f, JITBPF_COMM, sizeof(*comm));
	assert_int_equal(comm->h.flags & JITBPF_COMM_EXEC, JITBPF_COMM_EXEC);
	assert_int_equal(strnlen(comm->comm, sizeof(comm->comm)), sizeof(comm->comm) - 1);
}

CASE_WITH(test_tasks, setup, teardown)
{
	const struct {
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time_ns;
	} body = {.pid = 5, .parent_pid = 6, .tid = 7, .parent_tid = 8, .time_ns = TIME_NS};
	struct fixture *f = *state;
	const struct jitbpf_task *task;

	put(f, PERF_RECORD_EXIT, 0, &body, sizeof(body)); /* of a thread: of no use */
	put(f, PERF_RECORD_FORK, 0, &body, sizeof(body));
	drain(f, 1);
	task = last(f, JITBPF_FORK, sizeof(*task));
	assert_int_equal(task->pid, 5);
	assert_int_equal(task->parent_pid, 6);
	assert_int_equal(task->tid, 7);
	assert_int_equal(task->parent_tid, 8);
}

CASE_WITH(test_kernel_symbols, setup, teardown)
{
	struct {
		uint64_t address;
		uint32_t size_bytes;
		uint16_t kind, flags;
		char name[600];
	} body = {.address = 0xffffffffc0001000, .size_bytes = 64, .kind = 1, .name = "bpf_prog_1"};
	struct fixture *f = *state;
	const struct jitbpf_kernel_symbol *symbol;

	put(f, PERF_RECORD_KSYMBOL, 0, &body, 16 + sizeof("bpf_prog_1"));
	drain(f, 1);
	symbol = last(f, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + sizeof("bpf_prog_1"));
	assert_int_equal(symbol->address, 0xffffffffc0001000);
	assert_int_equal(symbol->size_bytes, 64);
	assert_int_equal(symbol->kind, 1);
	assert_int_equal(symbol->h.flags & JITBPF_KERNEL_SYMBOL_GONE, 0);
	assert_string_equal(symbol->name, "bpf_prog_1");

	body.flags = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	memset(body.name, 'n', sizeof(body.name) - 1);
	put(f, PERF_RECORD_KSYMBOL, 0, &body, sizeof(body));
	drain(f, 1);
	symbol = last(f, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + 512);
	assert_int_equal(symbol->h.flags & JITBPF_KERNEL_SYMBOL_GONE, JITBPF_KERNEL_SYMBOL_GONE);
	assert_int_equal(strlen(symbol->name), 511);
}

CASE_WITH(test_throttles, setup, teardown)
{
	const uint64_t body[3] = {0};
	struct fixture *f = *state;
	const struct jitbpf_throttle *throttle;

	put(f, PERF_RECORD_THROTTLE, 0, body, sizeof(body));
	drain(f, 1);
	throttle = last(f, JITBPF_THROTTLE, sizeof(*throttle));
	assert_int_equal(throttle->cpu, CPU);
	assert_int_equal(throttle->h.flags & JITBPF_THROTTLE_END, 0);
	put(f, PERF_RECORD_UNTHROTTLE, 0, body, sizeof(body));
	drain(f, 1);
	throttle = last(f, JITBPF_THROTTLE, sizeof(*throttle));
	assert_int_equal(throttle->h.flags & JITBPF_THROTTLE_END, JITBPF_THROTTLE_END);
}

CASE_WITH(test_lost_and_others, setup, teardown)
{
	const uint64_t body[2] = {1, 41};
	struct fixture *f = *state;

	f->lost = 1;
	put(f, PERF_RECORD_LOST, 0, body, sizeof(body));
	put(f, 999, 0, body, sizeof(body));
	drain(f, 0);
	assert_int_equal(f->lost, 42);
}

/* Paths of all lengths: records come to lie at both ends of the ring. */
CASE_WITH(test_ring_comes_round, setup, teardown)
{
	struct fixture *f = *state;
	char path[600];

	for (size_t i = 1; i < sizeof(path); i++) {
		const struct jitbpf_mapping *mapping;

		memset(path, 'a' + (int)(i % 26), i);
		path[i] = '\0';
		put_mmap2(f, PID, path);
		drain(f, 1);
		mapping = last(f, JITBPF_MAPPING, sizeof(*mapping) + i + 1);
		assert_string_equal(mapping->path, path);
	}
	assert_true(f->control->data_head > 40 * MADE_SIDEBAND_BYTES);
}

CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++)
		put_mmap2(f, PID, "//anon");
	f->fails_at = 1;
	assert_int_equal(sideband_drain(&f->events, &f->event, take, f, &f->lost), -EIO);
	assert_int_equal(f->count, 2);
	drain(f, 1);
}

/* A look at the records leaves them in the ring. */
CASE_WITH(test_peek, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t tail = f->control->data_tail, lost = 0;

	put_mmap2(f, PID, "//anon");
	put_mmap2(f, PID, "/some/file");
	assert_int_equal(sideband_peek(&f->events, &f->event, take, f, &lost), 0);
	assert_int_equal(f->count, 2);
	assert_int_equal(f->control->data_tail, tail);
	drain(f, 2);
	assert_memory_equal(f->taken[1], f->taken[3], sizeof(struct jitbpf_mapping));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/files/file_store.h"
#include "agent/files/helper/file_identity.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "tests/unit/cases.h"

#define CONTENT "no ELF file, but a regular one"

struct stored {
	struct file_store *store;
	char path[32];
	struct module module;
};

/* Create a file, and describe it as the module. */
static void make_file(struct stored *stored)
{
	struct mapped_identity identity;
	int fd;

	strcpy(stored->path, "/tmp/jitbpf-unit-XXXXXX");
	fd = mkstemp(stored->path);
	assert_int_equal(write(fd, CONTENT, sizeof(CONTENT)), sizeof(CONTENT));
	close(fd);
	fd = open(stored->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_identity_mapped(fd, &identity), 0);
	close(fd);
	stored->module = (struct module){
		.dev_major = identity.dev_major,
		.dev_minor = identity.dev_minor,
		.inode = identity.inode,
		.pid = (uint32_t)getpid(),
		.path = stored->path,
	};
}

static int setup(void **state)
{
	struct file_store_options options = {.live = true};
	struct stored *stored = calloc(1, sizeof(*stored));

	make_file(stored);
	*state = stored;
	return file_store_create(&options, &stored->store);
}

static int teardown(void **state)
{
	struct stored *stored = *state;

	file_store_destroy(stored->store);
	unlink(stored->path);
	free(stored);
	return 0;
}

static void meet(struct stored *stored)
{
	size_t bytes = sizeof(struct jitbpf_mapping) + sizeof(stored->path);
	AUTO_FREE struct jitbpf_mapping *mapping = calloc(1, bytes);

	mapping->h.size_bytes = (uint32_t)bytes;
	mapping->pid = stored->module.pid;
	mapping->dev_major = stored->module.dev_major;
	mapping->dev_minor = stored->module.dev_minor;
	mapping->inode = stored->module.inode;
	strcpy(mapping->path, stored->path);
	file_store_meet(stored->store, mapping);
	assert_int_equal(mapping->build_id_bytes, 0);
	stored->module.inode_generation = mapping->inode_generation;
}

static void check_opens(const struct file_source *source, const struct module *module)
{
	CLEANUP(blob_close) struct blob blob = {0};
	char bytes[sizeof(CONTENT)];

	assert_int_equal(source->open_module(source->context, module, &blob), 0);
	assert_int_equal(blob.size_bytes, sizeof(CONTENT));
	assert_int_equal(blob_read(&blob, 0, bytes, sizeof(bytes)), 0);
	assert_string_equal(bytes, CONTENT);
}

static void *open_often(void *stored_)
{
	struct stored *stored = stored_;
	struct file_source source;
	struct memory_source ignored;

	file_store_unwind_sources(stored->store, &source, &ignored);
	for (unsigned i = 0; i < 200; i++)
		check_opens(&source, &stored->module);
	return NULL;
}

/* A file stays open after it is deleted; each thread opens it through its own reader. */
CASE_WITH(test_threads, setup, teardown)
{
	struct stored *stored = *state;
	struct file_source naming;
	pthread_t unwinding;

	file_store_source(stored->store, &naming);
	check_opens(&naming, &stored->module);
	meet(stored);
	assert_int_equal(unlink(stored->path), 0);
	assert_int_equal(pthread_create(&unwinding, NULL, open_often, stored), 0);
	for (unsigned i = 0; i < 200; i++)
		check_opens(&naming, &stored->module);
	assert_int_equal(pthread_join(unwinding, NULL), 0);
	assert_null(file_store_given_up(stored->store, 0));
}

static int opens(const struct file_source *source, const struct module *module)
{
	CLEANUP(blob_close) struct blob blob = {0};

	return source->open_module(source->context, module, &blob);
}

/*
 * Another file is at the path by now: neither a mapping nor a module is of it. The process does not
 * map the file any more, so the file is gone.
 */
CASE_WITH(test_replaced, setup, teardown)
{
	struct stored *stored = *state;
	struct module before = stored->module;
	struct file_source naming;
	int fd;

	file_store_source(stored->store, &naming);
	fd = open(stored->path, O_RDONLY | O_CLOEXEC); /* the inode number is not used again */
	assert_int_equal(unlink(stored->path), 0);
	close(open(stored->path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(truncate(stored->path, 10), 0);
	assert_int_equal(opens(&naming, &before), -ESTALE);
	meet(stored);
	assert_int_equal(stored->module.inode_generation, 0);
	assert_int_equal(file_store_counts(stored->store).gone, 0);
	file_store_sampled(stored->store, stored->module.pid + 1);
	assert_int_equal(file_store_counts(stored->store).gone, 0);
	file_store_sampled(stored->store, stored->module.pid);
	assert_int_equal(file_store_counts(stored->store).gone, 1);
	meet(stored); /* known by now */
	assert_int_equal(file_store_counts(stored->store).gone, 1);
	assert_int_equal(file_store_counts(stored->store).unverified, 0);
	close(fd);
}

/*
 * The root of a process that has ended is not known: another file in ours is not a replaced one.
 * The file is gone, which counts for the process with samples.
 */
CASE_WITH(test_of_ended, setup, teardown)
{
	struct stored *stored = *state;

	stored->module.inode++;
	file_store_sampled(stored->store, stored->module.pid);
	stored->module.pid = 1u << 22; /* no process has it */
	file_store_sampled(stored->store, stored->module.pid - 1);
	meet(stored);
	stored->module.pid--;
	meet(stored);
	assert_int_equal(file_store_counts(stored->store).unverified, 0);
	assert_int_equal(file_store_counts(stored->store).gone, 1);
}

/* The file that has the inode number by now is a later one. */
CASE_WITH(test_later_version, setup, teardown)
{
	struct stored *stored = *state;
	struct file_source naming;

	file_store_source(stored->store, &naming);
	assert_int_equal(opens(&naming, &stored->module), 0);
	stored->module.inode_generation = 1;
	assert_int_equal(opens(&naming, &stored->module), -ESTALE);
}

/* After a recording, a file without a version or build ID could be any file of that inode number.
 */
CASE_WITH(test_of_recording, setup, teardown)
{
	struct stored *stored = *state;
	struct module unknown = stored->module;
	struct file_store_options options = {0};
	struct file_source later;

	meet(stored);
	assert_int_not_equal(stored->module.inode_generation, 0);
	file_store_destroy(stored->store);
	assert_int_equal(file_store_create(&options, &stored->store), 0);
	file_store_source(stored->store, &later);
	assert_int_equal(opens(&later, &stored->module), 0);
	assert_int_equal(opens(&later, &unknown), -ESTALE);
}

CASE_WITH(test_vdso, setup, teardown)
{
	CLEANUP(blob_close) struct blob blob = {0};
	struct module vdso = {.path = "[vdso]"};
	struct stored *stored = *state;
	struct file_source source;
	struct memory_source ignored;
	char magic[4];

	file_store_unwind_sources(stored->store, &source, &ignored);
	assert_int_equal(source.open_module(source.context, &vdso, &blob), 0);
	assert_int_equal(blob_read(&blob, 0, magic, sizeof(magic)), 0);
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
}

/* The image of the vDSO of 32-bit programs is another one. */
CASE_WITH(test_vdso_of_32_bit_programs, setup, teardown)
{
	CLEANUP(blob_close) struct blob blob = {0};
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	struct module vdso = {.path = "[vdso32]"};
	struct stored *stored = *state;
	struct elf_symbols symbols;
	struct file_source source;
	struct memory_source ignored;
	bool found = false;

	file_store_unwind_sources(stored->store, &source, &ignored);
	assert_int_equal(source.open_module(source.context, &vdso, &blob), 0);
	assert_int_equal(elf_file_init_any(&elf, &blob), 0);
	assert_int_equal(elf.machine, EM_386);
	assert_int_equal(elf_file_symbols(&elf, true, &symbols), 0);
	vec_for_each (symbol, &symbols.symbols)
		found |= !strcmp(symbol->name, "__kernel_vsyscall");
	assert_true(found);
	elf_symbols_deinit(&symbols);
}

/* Returns the parent of a process, or 0. Sets comm to its name. */
static pid_t parent_of(pid_t pid, char comm[16])
{
	char path[32], text[256] = "";
	pid_t parent = 0;
	char *end;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "re");
	if (stat && fgets(text, sizeof(text), stat) && (end = strrchr(text, ')'))) {
		*end = 0;
		snprintf(comm, 16, "%s", strchr(text, '(') + 1);
		sscanf(end + 1, " %*c %d", &parent);
	}
	if (stat)
		fclose(stat);
	return parent;
}

/* Signals all openers of this process, and returns their number. */
static size_t signal_openers(int signal)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(processes);
	while ((entry = readdir(processes))) {
		pid_t pid = atoi(entry->d_name), ancestor = pid;
		char comm[16] = "", other[16];

		if (pid <= 0)
			continue;
		for (ancestor = parent_of(pid, comm); ancestor > 1 && ancestor != getpid();)
			ancestor = parent_of(ancestor, other);
		if (ancestor != getpid() || strcmp(comm, "jitbpf-files") != 0)
			continue;
		assert_int_equal(kill(pid, signal), 0);
		count++;
	}
	closedir(processes);
	return count;
}

/* Meet a file, which starts the openers, and make another one. A busy machine needs several turns.
 */
static void meet_first(struct stored *stored)
{
	do {
		file_store_begin_turn(stored->store);
		meet(stored);
	} while (!stored->module.inode_generation);
	assert_int_equal(unlink(stored->path), 0);
	make_file(stored);
}

/*
 * The opener of a mapping gets no CPU in time. The file is not searched by its path at once: a file
 * system that does not answer look-ups would be given up. The late answer counts.
 */
CASE_WITH(test_late_mapping, setup, teardown)
{
	struct stored *stored = *state;

	meet_first(stored);
	assert_true(signal_openers(SIGSTOP) >= 2);
	file_store_begin_turn(stored->store);
	meet(stored);
	assert_int_equal(stored->module.inode_generation, 0);
	assert_int_equal(file_store_counts(stored->store).unanswered, 1);
	assert_null(file_store_given_up(stored->store, 0));

	assert_true(signal_openers(SIGCONT) >= 2);
	for (int i = 0; i < 1000 && !stored->module.inode_generation; i++) {
		usleep(10000);
		file_store_begin_turn(stored->store);
		meet(stored);
	}
	assert_int_not_equal(stored->module.inode_generation, 0);
	assert_int_equal(file_store_counts(stored->store).unanswered, 0);
}

/*
 * A file that was not identified when it was met is searched again, although nobody maps it again,
 * and its mapping is passed on with the identity.
 */
CASE_WITH(test_late_identity, setup, teardown)
{
	struct module_table modules = {0};
	struct stored *stored = *state;
	uint64_t generation = 0;

	meet_first(stored);
	assert_true(signal_openers(SIGSTOP) >= 2);
	file_store_begin_turn(stored->store);
	meet(stored);
	assert_int_equal(stored->module.inode_generation, 0);

	assert_true(signal_openers(SIGCONT) >= 2);
	for (int i = 0; i < 1000 && !generation; i++) {
		AUTO_FREE struct jitbpf_mapping *late = NULL;

		usleep(10000);
		file_store_begin_turn(stored->store);
		file_store_forget(stored->store, &modules);
		late = file_store_take_identified(stored->store);
		/* on a busy machine, the first file can be late, too */
		if (late && !strcmp(late->path, stored->path))
			generation = late->inode_generation;
	}
	assert_int_not_equal(generation, 0);
}

/* Memory is read in pieces, up to the end of the mapping. */
CASE_WITH(test_memory, setup, teardown)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 200 * page, got;
	uint8_t *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	AUTO_FREE uint8_t *copy = malloc(bytes + page);
	struct stored *stored = *state;
	struct memory_source source;
	struct file_source ignored;
	uint32_t pid = (uint32_t)getpid();

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Yama may forbid it otherwise */
	assert_true(memory != MAP_FAILED);
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(munmap(memory + bytes, page), 0);
	file_store_runtime_sources(stored->store, &ignored, &source);
	assert_int_equal(source.read(source.context, pid, FILE_OWNER_UNKNOWN, (uint64_t)memory,
				     copy, bytes, &got),
			 0);
	assert_int_equal(got, bytes);
	assert_memory_equal(copy, memory, bytes);
	assert_int_equal(source.read(source.context, pid, FILE_OWNER_UNKNOWN, (uint64_t)memory + 9,
				     copy, bytes + page, &got),
			 0);
	assert_int_equal(got, bytes - 9);
	assert_memory_equal(copy, memory + 9, bytes - 9);
	munmap(memory, bytes);
	assert_int_equal(source.read(source.context, pid, FILE_OWNER_UNKNOWN, (uint64_t)memory,
				     copy, bytes, &got),
			 -EFAULT);
	assert_int_equal(
		source.read(source.context, 0x7ffffffe, FILE_OWNER_UNKNOWN, 0, copy, 1, &got),
		-ESRCH);
	assert_null(file_store_given_up(stored->store, 0));
}

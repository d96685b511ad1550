/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shows the Python frames of all threads of a process, as its recipe says, and writes what was
 * read to a memory image. The process is stopped meanwhile.
 *
 * usage: cpython_image PID [IMAGE]
 *
 * Output: a line for the version, the recipe and the costs, each with # before it; then for each
 * thread "thread POINTER", and its frames (frame_text.h).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/scope.h"
#include "runtimes/cpython/cpython.h"
#include "tests/runtimes/cpython/cpython_facts.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"

#define THREADS_MAX 64

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread((int)(intptr_t)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes
		       ? 0
		       : -EIO;
}

/* Read the file that is mapped at `start` from offset 0 on. Returns 0 if it is CPython. */
static int read_mapped(pid_t pid, const char *range, uint64_t start, struct cpython_file *ret,
		       uint64_t *ret_bias)
{
	struct elf_file elf;
	struct stat info;
	char path[128];
	int err, fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%s", pid, range);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info))
		return -errno;
	struct blob blob = {.size_bytes = (uint64_t)info.st_size,
			    .read = read_file,
			    .context = (void *)(intptr_t)fd};
	err = elf_file_init(&elf, &blob);
	if (!err) {
		err = cpython_file_read(&elf, ret);
		if (!err)
			*ret_bias = start - (elf.segments.data[0].address & ~0xfffull);
		elf_file_deinit(&elf);
	}
	close(fd);
	return err;
}

static int find_file(pid_t pid, struct cpython_file *ret, uint64_t *ret_bias)
{
	AUTO_FCLOSE FILE *maps = NULL;
	char line[4096 + 128], path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char *name = strchr(line, '/'), range[64];

		if (!name || sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3 || offset)
			continue;
		name[strcspn(name, "\n")] = '\0';
		snprintf(range, sizeof(range), "%lx-%lx", start, end);
		if (engine_cpython.is_runtime(path_file(name)) &&
		    !read_mapped(pid, range, start, ret, ret_bias))
			return 0;
	}
	return -ENOENT;
}

/* Stop all threads. Returns their number, and their thread pointers. */
static size_t stop_threads(pid_t pid, uint64_t ret[THREADS_MAX])
{
	struct user_regs_struct registers;
	struct dirent *entry;
	size_t count = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) && count < THREADS_MAX) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || ptrace(PTRACE_SEIZE, tid, 0, 0) ||
		    ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, NULL, __WALL) != tid ||
		    ptrace(PTRACE_GETREGS, tid, 0, &registers))
			continue;
		ret[count++] = registers.fs_base;
	}
	if (tasks)
		closedir(tasks);
	return count;
}

static void print_recipe(const struct runtime_recipe *recipe, const char *version)
{
	printf("# version %s, base %ld, steps", version, (long)recipe->base);
	for (uint32_t i = 0; i < recipe->step_count; i++)
		printf(" %d", recipe->step[i]);
	printf(", loops");
	for (uint32_t i = 0; i < recipe->loop_count; i++)
		printf(" %llx-%llx", recipe->loops[i].start, recipe->loops[i].end);
	printf(", unsettled %lld-%lld\n", recipe->unsettled.start - recipe->loops[0].start,
	       recipe->unsettled.end - recipe->loops[0].start);
}

static int show(struct imaged_process *process, const struct frame_reader *reader,
		const uint64_t *threads, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct runtime_thread thread = {.thread_pointer = threads[i]};
		int err =
			memory_image_add(&process->image, IMAGE_THREAD, 0, &thread, sizeof(thread));

		if (err)
			return err;
		printf("thread %lu\n", threads[i]);
		frames_write(reader, &thread, stdout);
	}
	printf("# in all: %lu reads, %lu bytes\n", process->image.reads, process->image.read_bytes);
	return 0;
}

static int make_recipe(struct imaged_process *process, const struct cpython_file *file,
		       uint64_t bias, struct frame_reader *reader)
{
	/* Without the symbol, for a test of that. */
	struct cpython_file unnamed = *file;
	int err;

	unnamed.code_type = 0;
	err = cpython_recipe(&unnamed, bias, &reader->memory, &reader->recipe, &reader->layout,
			     &reader->version);
	process->image.reads = process->image.read_bytes = 0;
	return err
		       ?: cpython_recipe(file, bias, &reader->memory, &reader->recipe,
					 &reader->layout, &reader->version);
}

int main(int argc, char **argv)
{
	struct imaged_process process = {.pid = argc > 1 ? atoi(argv[1]) : 0};
	struct frame_reader reader = {
		.reader = &cpython_reader,
		.memory = memory_image_of(&process),
	};
	uint64_t threads[THREADS_MAX], bias = 0, facts[CPYTHON_FACTS];
	char version[ENGINE_VERSION_BYTES];
	struct cpython_file file;
	size_t count;
	int err = find_file(process.pid, &file, &bias);

	if (err)
		return fprintf(stderr, "no interpreter: %s\n", strerror(-err)), 1;
	count = stop_threads(process.pid, threads);
	err = make_recipe(&process, &file, bias, &reader);
	engine_version_text(&reader.version, version);
	if (err)
		return fprintf(stderr, "no recipe of version %s: %s\n", version, strerror(-err)), 1;
	print_recipe(&reader.recipe, version);
	printf("# recipe: %lu reads, %lu bytes\n", process.image.reads, process.image.read_bytes);
	cpython_facts_pack(&file, facts);
	err = memory_image_add(&process.image, IMAGE_FACTS, bias, facts, sizeof(facts));
	err = err ?: show(&process, &reader, threads, count);
	if (!err && argc > 2)
		err = memory_image_save(&process.image, argv[2]);
	memory_image_deinit(&process.image);
	return !!err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * v8_image [-o IMAGE] PID: stops the main thread of a process with V8, finds the interpreted frames
 * on its stack, and prints "function file:line" for each, newest first. With -o it writes what was
 * read, and the frames, to a memory image.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"
#include "runtimes/v8/v8_reader.h"
#include "tests/runtimes/memory_image.h"
#include "tests/runtimes/v8/v8_stack.h"

struct target {
	struct imaged_process process;
	char path[PATH_MAX]; /* of the file with V8 */
	int file;
	struct blob blob;
	struct elf_file elf;
	struct runtime_facts facts;
	struct runtime_process mapped;
	struct runtime_code_range ranges[RUNTIME_CODE_RANGES_MAX];
	uint64_t stack[2]; /* start, end */
	struct frame_reader reader;
};

struct map {
	uint64_t start, end, offset;
	char flags[8], path[PATH_MAX];
};

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	ssize_t bytes = pread(*(int *)context, buf, size_bytes, (off_t)offset);

	return bytes == (ssize_t)size_bytes ? 0 : -EIO;
}

/* Open the file of a mapping if it has V8. */
static void open_file(struct target *target, const struct map *map)
{
	char real[PATH_MAX + 32];
	struct stat status;
	uint64_t address;

	snprintf(real, sizeof(real), "/proc/%d/root%s", target->process.pid, map->path);
	target->file = open(real, O_RDONLY | O_CLOEXEC);
	if (target->file < 0 || fstat(target->file, &status))
		return;
	target->blob = (struct blob){
		.size_bytes = status.st_size, .read = read_file, .context = &target->file};
	if (elf_file_init(&target->elf, &target->blob))
		return;
	if (elf_file_address(&target->elf, map->offset, &address) &&
	    !v8_reader.facts(&target->elf, &target->facts)) {
		target->mapped.bias = map->start - address;
		snprintf(target->path, sizeof(target->path), "%s", map->path);
	}
	elf_file_deinit(&target->elf);
	close(target->file);
}

static bool next_map(FILE *maps, struct map *ret)
{
	char line[PATH_MAX + 128];

	*ret->path = 0;
	return fgets(line, sizeof(line), maps) &&
	       sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &ret->start, &ret->end,
		      ret->flags, &ret->offset, ret->path) >= 4;
}

/* Visit all mappings: first to find the file, then for its copies and the stack. */
static int read_maps(struct target *target, bool has_file)
{
	char path[64];
	AUTO_FCLOSE FILE *maps = NULL;
	struct map map;

	snprintf(path, sizeof(path), "/proc/%d/maps", target->process.pid);
	maps = fopen(path, "r");
	if (!maps)
		return -errno;
	target->mapped.code_ranges = target->ranges;
	while (next_map(maps, &map)) {
		size_t *count = &target->mapped.code_range_count;

		if (!has_file && *map.path == '/' && map.flags[2] == 'x' && !*target->path &&
		    engine_v8.is_runtime(path_file(map.path)))
			open_file(target, &map);
		if (has_file && map.flags[2] == 'x' && !strcmp(map.path, target->path) &&
		    *count < RUNTIME_CODE_RANGES_MAX)
			target->ranges[(*count)++] =
				(struct runtime_code_range){map.start, map.end, map.offset};
		if (!strcmp(map.path, "[stack]"))
			target->stack[1] = map.end;
	}
	return *target->path ? 0 : -ENOENT;
}

static int stop(struct target *target)
{
	struct user_regs_struct registers;
	int status;

	if (ptrace(PTRACE_INTERRUPT, target->process.pid, 0, 0) ||
	    waitpid(target->process.pid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, target->process.pid, 0, &registers))
		return -errno;
	target->stack[0] = registers.rsp;
	return 0;
}

static int make_recipe(struct target *target)
{
	struct frame_reader *reader = &target->reader;
	int err;

	reader->reader = &v8_reader;
	reader->memory = memory_image_of(&target->process);
	err = v8_reader.recipe(&target->facts, &target->mapped, &reader->memory, &reader->recipe,
			       &reader->layout, &reader->version);
	fprintf(stderr, "Node.js %u: %s, %u ranges\n", reader->version.part[0], strerror(-err),
		reader->recipe.native.range_count);
	return err;
}

static int save(struct target *target, const char *text, const char *path)
{
	struct memory_image *image = &target->process.image;
	int err = memory_image_add(image, IMAGE_FACTS, target->mapped.bias, &target->facts,
				   sizeof(target->facts));

	err = err ?: memory_image_add(image, IMAGE_THREAD, 0, target->stack, sizeof(target->stack));
	err = err
		      ?: memory_image_add(image, IMAGE_RANGES, 0, target->ranges,
					  target->mapped.code_range_count *
						  sizeof(*target->ranges));
	err = err ?: memory_image_add(image, IMAGE_FRAMES, 0, text, strlen(text));
	return err ?: memory_image_save(image, path);
}

static int show(struct target *target, const char *image)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	v8_stack_write(&target->reader, target->stack[0], target->stack[1], out);
	fclose(out);
	fputs(text, stdout);
	fprintf(stderr, "%lu reads, %lu bytes\n", target->process.image.reads,
		target->process.image.read_bytes);
	return image ? save(target, text, image) : 0;
}

int main(int argc, char **argv)
{
	static struct target target;
	const char *image = NULL;
	int option, err;

	while ((option = getopt(argc, argv, "o:")) > 0)
		image = option == 'o' ? optarg : image;
	if (argc - optind != 1)
		return 2;
	target.process.pid = atoi(argv[optind]);
	if (ptrace(PTRACE_SEIZE, target.process.pid, 0, 0)) {
		perror("v8_image");
		return 2;
	}
	err = stop(&target);
	err = err ?: read_maps(&target, false);
	err = err ?: read_maps(&target, true);
	err = err ?: make_recipe(&target);
	err = err ?: show(&target, image);
	ptrace(PTRACE_DETACH, target.process.pid, 0, 0);
	if (err)
		fprintf(stderr, "v8_image: %s\n", strerror(-err));
	memory_image_deinit(&target.process.image);
	return err ? 1 : 0;
}

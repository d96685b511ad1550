/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runtime_image [-o IMAGE] [-n SAMPLES [-c]] READER TID: stops a thread, finds its runtime frames
 * as a profiler would, and prints "function file:line" for each, newest first. With -o it writes
 * what was read, and the frames, to a memory image. With -n it does so that many times, at random
 * moments, and prints a line for each: where the thread was (loop, jit or native); how the frame in
 * the register and the newest one in memory are related (same, behind: in memory is the caller,
 * ahead: in memory is a callee, other); and "function:line;..." from the oldest on. With -c as well
 * it is "function file:first line@object@check;...": a check must be of one function only.
 */
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"
#include "runtimes/perl/perl_reader.h"
#include "runtimes/php/php_reader.h"
#include "runtimes/ruby/ruby_reader.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"
#include "tests/runtimes/php/symbol_file.h"

#define FRAMES_MAX 2048
#define RANGES_MAX 8
#define PAUSE_NS   2000000

/* The symbols that readers look for, for images. */
static const char *const symbol_names[] = {
	"execute_ex",	     "executor_globals", "executor_globals_offset",
	"zend_ce_generator", "get_zend_version", "tsrm_get_ls_cache_tcb_offset",
	"php_version_id",    "zend_vm_kind",
};

static const struct {
	const char *name;
	const struct runtime_reader *reader;
	bool finds_by_code; /* symbols alone say too little of its file: an image has the facts */
} readers[] = {
	{"php", &php_reader, false}, {"ruby", &ruby_reader, true}, {"perl", &perl_reader, true}};

struct target {
	struct imaged_process process;
	const struct runtime_reader *reader;
	int file;
	struct blob blob;
	struct elf_file elf;
	struct runtime_facts facts;
	struct runtime_range ranges[RANGES_MAX];
	struct runtime_process mapped;
	bool has_file;
	struct runtime_thread thread;
	bool with_checks, finds_by_code;
};

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	ssize_t bytes = pread(*(int *)context, buf, size_bytes, (off_t)offset);

	return bytes == (ssize_t)size_bytes ? 0 : -EIO;
}

/* Open the file of a mapping if it is the runtime's, at the mapping's offset 0. */
static int open_file(struct target *target, const char *path, uint64_t start)
{
	char real[PATH_MAX];
	struct stat status;
	uint64_t address;
	int err;

	snprintf(real, sizeof(real), "/proc/%d/root%s", target->process.pid, path);
	target->file = open(real, O_RDONLY | O_CLOEXEC);
	if (target->file < 0 || fstat(target->file, &status))
		return -errno;
	target->blob = (struct blob){
		.size_bytes = status.st_size, .read = read_file, .context = &target->file};
	err = elf_file_init(&target->elf, &target->blob);
	if (err)
		return err;
	/* A program can have its runtime in a library. */
	if (!elf_file_address(&target->elf, 0, &address) ||
	    target->reader->facts(&target->elf, &target->facts)) {
		elf_file_deinit(&target->elf);
		close(target->file);
		return -ENOENT;
	}
	target->has_file = true;
	target->mapped.bias = start - address;
	return 0;
}

static int read_maps(struct target *target)
{
	char path[64], line[PATH_MAX + 128];
	AUTO_FCLOSE FILE *maps = NULL;

	snprintf(path, sizeof(path), "/proc/%d/maps", target->process.pid);
	maps = fopen(path, "r");
	if (!maps)
		return -errno;
	target->mapped.shared_code = target->ranges;
	while (fgets(line, sizeof(line), maps)) {
		char name[PATH_MAX] = "", flags[8];
		uint64_t start, end, offset, inode;
		struct runtime_range *range = &target->ranges[target->mapped.shared_code_count];

		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %4095[^\n]", &start, &end, flags, &offset,
			   &inode, name) < 5)
			continue;
		if (flags[2] == 'x' && flags[3] == 's' && strstr(name, " (deleted)") &&
		    target->mapped.shared_code_count < RANGES_MAX) {
			*range = (struct runtime_range){.start = start, .end = end};
			target->mapped.shared_code_count++;
		}
		if (*name == '/' && !offset && !target->has_file &&
		    target->reader->engine->is_runtime(path_file(name)))
			open_file(target, name, start);
	}
	return target->has_file ? 0 : -ENOENT;
}

static int stop(struct target *target)
{
	struct user_regs_struct r;
	int status;

	if (ptrace(PTRACE_INTERRUPT, target->process.pid, 0, 0) ||
	    waitpid(target->process.pid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, target->process.pid, 0, &r))
		return -errno;
	target->thread = (struct runtime_thread){
		.ip = r.rip,
		.thread_pointer = r.fs_base,
		.registers = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9,
			      r.r10, r.r11, r.r12, r.r13, r.r14, r.r15},
	};
	target->mapped.thread_pointer = r.fs_base;
	return 0;
}

struct run {
	struct frame_reader reader;
	struct runtime_frame frames[FRAMES_MAX];
	size_t count;
};

static void print_short(const struct target *target, const struct run *run, size_t i)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct runtime_frame *frame = &run->frames[i];
	int err = frame_function(&run->reader, frame, &function);

	if (err)
		printf("?%s;", strerror(-err));
	else if (target->with_checks)
		printf("%s %s:%u@%lx@%lx;", function.name, function.file, function.first_line,
		       (unsigned long)frame->function, function.check);
	else
		printf("%s:%u;", function.name, runtime_function_line(&function, frame->position));
}

static const char *place_of(const struct runtime_recipe *recipe, uint64_t ip)
{
	for (uint32_t i = 0; i < recipe->loop_count; i++) {
		if (ip >= recipe->loops[i].start && ip < recipe->loops[i].end)
			return recipe->loops[i].flags & RUNTIME_LOOP_HAS_FRAME ? "jit" : "loop";
	}
	return "native";
}

static const char *relation_of(const struct target *target, const struct frame_reader *reader)
{
	const struct runtime_recipe *recipe = &reader->recipe;
	uint64_t in_register = target->thread.registers[recipe->frame_register];
	uint64_t newest = (uint64_t)recipe->base, caller;

	if (recipe->base_kind == RUNTIME_BASE_THREAD_POINTER)
		newest += target->thread.thread_pointer;
	for (uint32_t i = 0; i < recipe->step_count; i++) {
		if (process_memory_word(&reader->memory, newest + (uint64_t)recipe->step[i],
					&newest))
			return "other";
	}
	if (newest == in_register)
		return "same";
	if (!process_memory_word(&reader->memory, in_register + (uint64_t)recipe->previous_at,
				 &caller) &&
	    caller == newest)
		return "behind";
	if (!process_memory_word(&reader->memory, newest + (uint64_t)recipe->previous_at,
				 &caller) &&
	    caller == in_register)
		return "ahead";
	return "other";
}

static int find_frames(const struct target *target, struct run *run)
{
	return runtime_frames_walk(&run->reader.memory, &run->reader.recipe, &target->thread,
				   FRAMES_MAX, run->frames, &run->count);
}

/* Returns false when the process has ended. */
static bool print_sample(struct target *target, struct run *run)
{
	struct timespec pause = {.tv_nsec = random() % PAUSE_NS};
	int err = find_frames(target, run);

	printf("%s %s %d ", place_of(&run->reader.recipe, target->thread.ip),
	       relation_of(target, &run->reader), err);
	for (size_t i = run->count; i-- > 0;)
		print_short(target, run, i);
	printf("\n");
	memory_image_deinit(&target->process.image);
	ptrace(PTRACE_CONT, target->process.pid, 0, 0);
	nanosleep(&pause, NULL);
	return !stop(target);
}

static int save_file(struct target *target)
{
	struct runtime_symbol symbols[ARRAY_SIZE(symbol_names)] = {0};
	struct memory_image *image = &target->process.image;
	struct symbol_file file;
	int err;

	if (target->finds_by_code)
		return memory_image_add(image, IMAGE_FACTS, target->mapped.bias, &target->facts,
					sizeof(target->facts));
	for (size_t i = 0; i < ARRAY_SIZE(symbol_names); i++)
		symbols[i].name = symbol_names[i];
	err = runtime_symbols_find(&target->elf, symbols, ARRAY_SIZE(symbols));
	err = err ?: symbol_file_make(symbols, ARRAY_SIZE(symbols), &file);
	return err
		       ?: memory_image_add(image, IMAGE_FILE, target->mapped.bias, file.bytes.data,
					   file.bytes.size);
}

static int save(struct target *target, const char *text, const char *path)
{
	struct memory_image *image = &target->process.image;
	int err = save_file(target);

	err = err
		      ?: memory_image_add(image, IMAGE_THREAD, 0, &target->thread,
					  sizeof(target->thread));
	err = err
		      ?: memory_image_add(image, IMAGE_RANGES, 0, target->ranges,
					  target->mapped.shared_code_count *
						  sizeof(*target->ranges));
	err = err ?: memory_image_add(image, IMAGE_FRAMES, 0, text, strlen(text));
	return err ?: memory_image_save(image, path);
}

static int make_recipe(struct target *target, struct run *run)
{
	struct frame_reader *reader = &run->reader;
	char version[ENGINE_VERSION_BYTES];
	int err;

	reader->reader = target->reader;
	reader->memory = memory_image_of(&target->process);
	err = target->reader->recipe(&target->facts, &target->mapped, &reader->memory,
				     &reader->recipe, &reader->layout, &reader->version);
	engine_version_text(&reader->version, version);
	fprintf(stderr, "%s %s: %s, %u loops, %lu reads, %lu bytes\n", target->reader->engine->name,
		version, strerror(-err), reader->recipe.loop_count, target->process.image.reads,
		target->process.image.read_bytes);
	return err;
}

static int show(struct target *target, struct run *run, const char *image)
{
	AUTO_FREE char *text = frames_text(&run->reader, &target->thread, &run->count);

	if (!text)
		return -ENOMEM;
	fputs(text, stdout);
	return image ? save(target, text, image) : 0;
}

int main(int argc, char **argv)
{
	static struct run run;
	struct target target = {.file = -1};
	const char *image = NULL;
	int option, samples = 0, err;

	while ((option = getopt(argc, argv, "o:n:c")) > 0) {
		target.with_checks |= option == 'c';
		image = option == 'o' ? optarg : image;
		samples = option == 'n' ? atoi(optarg) : samples;
	}
	if (argc - optind != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (strcmp(readers[i].name, argv[optind]) != 0)
			continue;
		target.reader = readers[i].reader;
		target.finds_by_code = readers[i].finds_by_code;
	}
	target.process.pid = atoi(argv[optind + 1]);
	if (!target.reader || ptrace(PTRACE_SEIZE, target.process.pid, 0, 0)) {
		perror("runtime_image");
		return 2;
	}
	err = stop(&target);
	err = err ?: read_maps(&target);
	err = err ?: make_recipe(&target, &run);
	for (int i = 0; i < samples && !err && print_sample(&target, &run); i++)
		;
	if (!samples)
		err = err ?: show(&target, &run, image);
	ptrace(PTRACE_DETACH, target.process.pid, 0, 0);
	if (err)
		fprintf(stderr, "runtime_image: %s\n", strerror(-err));
	memory_image_deinit(&target.process.image);
	return err ? 1 : 0;
}

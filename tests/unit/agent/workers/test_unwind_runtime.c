/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind worker's recipe and functions of a real Python, which this test starts. */
#include "agent/workers/unwind_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workers/unwind_worker.h"
#include "base/scope.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/runtime_frames.h"
#include "tests/unit/agent/own_program.h"
#include "tests/unit/cases.h"

#define PYTHON	    "/usr/bin/python3"
#define FOR_EVER_NS 600000000000ull
#define FRAMES_MAX  16

/* It has three frames when it has written a byte. */
static const char program[] = "import os, sys, time\n"
			      "class Shop:\n"
			      "    def total(self):\n"
			      "        os.write(1, b'!')\n"
			      "        sys.stdin.read()\n"
			      "def outer():\n"
			      "    Shop().total()\n"
			      "outer()\n";

struct made {
	pid_t pid;
	int ready[2], end[2];
	struct module module;
	char path[PATH_MAX];
	uint64_t start; /* where its file offset 0 is mapped */
	struct unwind_files *files;
	struct unwind_worker *worker;
	struct unwind_service service;
	int blocks_with; /* reads of memory fail with it */
	uint32_t reads;
	/* The last answer. */
	int error;
	bool is_taken;
	struct runtime_known known;
	struct runtime_function function;
};

static int read_memory(void *context, uint32_t pid, struct owner_key owner, uint64_t address,
		       void *buf, size_t size_bytes, size_t *ret_bytes)
{
	struct iovec to = {buf, size_bytes}, from = {(void *)address, size_bytes};
	struct made *made = context;
	ssize_t got;

	made->reads++;
	if (made->blocks_with)
		return made->blocks_with;
	got = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
	if (got <= 0)
		return got ? -errno : -EFAULT;
	*ret_bytes = (size_t)got;
	return 0;
}

static void start_python(struct made *made)
{
	char byte;

	assert_int_equal(pipe2(made->ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(made->end, O_CLOEXEC), 0);
	made->pid = fork();
	if (!made->pid) {
		dup2(made->end[0], 0);
		dup2(made->ready[1], 1);
		execl(PYTHON, "python3", "-c", program, NULL);
		_exit(1);
	}
	assert_int_equal(read(made->ready[0], &byte, 1), 1);
}

/* Where the program is mapped, and its path. */
static void find_program(struct made *made)
{
	AUTO_FCLOSE FILE *maps = NULL;
	char name[64], line[PATH_MAX + 128];
	ssize_t bytes;

	snprintf(name, sizeof(name), "/proc/%d/exe", made->pid);
	bytes = readlink(name, made->path, sizeof(made->path) - 1);
	assert_true(bytes > 0);
	made->module = (struct module){.number = 1, .path = made->path};
	snprintf(name, sizeof(name), "/proc/%d/maps", made->pid);
	maps = fopen(name, "re");
	assert_non_null(maps);
	do
		assert_non_null(fgets(line, sizeof(line), maps));
	while (!strstr(line, made->path));
	assert_int_equal(sscanf(line, "%lx", &made->start), 1);
}

static int setup(void **state)
{
	struct made *made = calloc(1, sizeof(*made));
	struct file_source files = {.open_module = own_program_open};
	struct memory_source memory = {.read = read_memory, .context = made};
	struct unwind_maker maker;

	*state = made;
	start_python(made);
	find_program(made);
	return unwind_files_create(&files, &made->files, &maker)
		       ?: unwind_worker_create(&maker, &memory, &made->worker, &made->service);
}

static int teardown(void **state)
{
	struct made *made = *state;

	unwind_worker_destroy(made->worker);
	unwind_files_destroy(made->files);
	runtime_function_deinit(&made->function);
	kill(made->pid, SIGKILL);
	waitpid(made->pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(made->ready[i]);
		close(made->end[i]);
	}
	free(made);
	return 0;
}

static int take(void *context, const struct unwind_answer *answer)
{
	struct made *made = context;

	made->is_taken = true;
	made->error = answer->error;
	if (answer->known)
		made->known = *answer->known;
	runtime_function_deinit(&made->function);
	if (answer->function) {
		made->function = *answer->function;
		/* The answer keeps its own. */
		made->function.name = strdup(answer->function->name);
		made->function.file = strdup(answer->function->file);
		made->function.lines.data = NULL;
		made->function.lines.size = made->function.lines.capacity = 0;
		vec_for_each (line, &answer->function->lines)
			assert_int_equal(vec_push(&made->function.lines, *line), 0);
	}
	return 0;
}

static int ask(struct made *made, const struct unwind_request *request)
{
	void *service = made->service.context;

	made->is_taken = false;
	assert_int_equal(made->service.request(service, request), 0);
	while (!made->is_taken)
		assert_int_equal(made->service.collect(service, FOR_EVER_NS, take, made), 0);
	return made->error;
}

static int ask_recipe_of(struct made *made, const struct module *module,
			 const struct engine *engine)
{
	const struct unwind_request request = {
		.kind = UNWIND_RUNTIME_RECIPE,
		.pid = (uint32_t)made->pid,
		.recipe = {.module = module, .engine = engine, .address = made->start},
	};

	return ask(made, &request);
}

static int ask_recipe(struct made *made, const struct engine *engine)
{
	return ask_recipe_of(made, &made->module, engine);
}

static int ask_function(struct made *made, uint64_t object)
{
	const struct unwind_request request = {
		.kind = UNWIND_RUNTIME_FUNCTION,
		.pid = (uint32_t)made->pid,
		.function = {.known = &made->known, .object = object},
	};

	return ask(made, &request);
}

static int read_here(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct made *made = context;
	size_t got = 0;
	int err = read_memory(made, (uint32_t)made->pid, (struct owner_key){0}, address, buf,
			      size_bytes, &got);

	return err ?: got < size_bytes ? -EFAULT : 0;
}

static uint64_t thread_pointer(pid_t pid)
{
	struct user_regs_struct registers;

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &registers), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, 0, 0), 0);
	return registers.fs_base;
}

CASE_WITH(functions_of_a_real_python, setup, teardown)
{
	static const struct {
		const char *name;
		uint32_t line;
	} wanted[] = {{"Shop.total", 5}, {"outer", 7}, {"<module>", 8}};
	struct made *made = *state;
	struct runtime_thread thread = {.thread_pointer = thread_pointer(made->pid)};
	struct process_memory memory = {.read = read_here, .context = made};
	struct runtime_frame frames[FRAMES_MAX];
	size_t count, found = 0;

	assert_int_equal(ask_recipe(made, &engine_cpython), 0);
	assert_ptr_equal(made->known.reader, &cpython_reader);
	assert_int_equal(made->known.version.part[0], 3);
	assert_int_equal(runtime_frames_walk(&memory, &made->known.recipe, &thread, FRAMES_MAX,
					     frames, &count),
			 0);
	for (size_t i = 0; i < count; i++) {
		if (!frames[i].function)
			continue;
		assert_true(found < ARRAY_SIZE(wanted));
		made->reads = 0;
		assert_int_equal(ask_function(made, frames[i].function), 0);
		assert_true(made->reads < 16);
		assert_string_equal(made->function.name, wanted[found].name);
		assert_string_equal(made->function.file, "<string>");
		assert_int_equal(runtime_function_line(&made->function, frames[i].position),
				 wanted[found].line);
		assert_true(made->function.check == (frames[i].check & ~1ull));
		found++;
	}
	assert_int_equal(found, ARRAY_SIZE(wanted));
	/* What is no code object. */
	assert_int_equal(ask_function(made, frames[0].function + 8), -EBADMSG);
	assert_int_equal(ask_function(made, 8), -EFAULT);
}

CASE_WITH(memory_that_blocks, setup, teardown)
{
	struct made *made = *state;

	made->blocks_with = -ETIMEDOUT;
	assert_int_equal(ask_recipe(made, &engine_cpython), -ETIMEDOUT);
	assert_int_equal(made->reads, 1);
	/* Nothing was given up. */
	made->blocks_with = 0;
	assert_int_equal(ask_recipe(made, &engine_cpython), 0);
	made->blocks_with = -ETIMEDOUT;
	assert_int_equal(ask_function(made, 0x10000), -ETIMEDOUT);
	/* There is no such process. That its file lacks symbols would be something else. */
	made->blocks_with = -ENOENT;
	assert_int_equal(ask_recipe(made, &engine_cpython), -ESRCH);
	assert_int_equal(ask_function(made, 0x10000), -ESRCH);
}

CASE_WITH(a_process_that_has_ended, setup, teardown)
{
	struct made *made = *state;

	assert_int_equal(ask_recipe(made, &engine_cpython), 0);
	kill(made->pid, SIGKILL);
	waitpid(made->pid, NULL, 0);
	assert_int_equal(ask_recipe(made, &engine_cpython), -ESRCH);
	assert_int_equal(ask_function(made, 0x10000), -ESRCH);
	/* teardown() must not end another process. */
	made->pid = fork();
	if (!made->pid)
		_exit(0);
}

CASE_WITH(files_of_no_runtime, setup, teardown)
{
	static struct module others[] = {{.number = 2, .path = "/bin/true"},
					 {.number = 3, .path = "/proc/self/status"}};
	struct made *made = *state;

	/* No reader; then a file that is no CPython. */
	assert_int_equal(ask_recipe(made, &engine_luajit), -EOPNOTSUPP);
	assert_int_equal(ask_recipe_of(made, &others[0], &engine_cpython), -ENOENT);
	assert_int_not_equal(ask_recipe_of(made, &others[1], &engine_cpython), 0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/functions_check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/file_store.h"
#include "agent/kernel/proc/process_scan.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/readers/rows_reader.h"
#include "agent/roles/child.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/privileges.h"
#include "agent/workers/unwind_runtime.h"
#include "base/scope.h"
#include "unwind/runtimes/runtime_recipes.h"

#define ANSWER_MS 2000 /* limit of a reader's CPU time */
#define TRIES	  5    /* the structures of a running program can change while they are read */

struct checked {
	int32_t err;
	uint64_t number;
};

DEFINE_CLEANUP(struct string_pool *, string_pool_destroy);

/* --- the child --------------------------------------------------------------------------- */

/* What stays from one process to the next: files that many of them have are read once. */
struct checker {
	struct file_store *files;
	struct rows_reader *rows;
	struct unwind_maker maker;
	struct memory_source memory;
	struct module_table modules;
	struct runtime_recipes recipes; /* only for its programs */
	_Atomic uint64_t failures;
};

/* A process that is being checked. */
struct look {
	struct process_table table;
	struct owner_key owner;
	uint32_t pid;
};

static int create(const struct broker *broker, struct checker *ret)
{
	struct reader_options reading = {
		.broker = broker, .answer_ms = ANSWER_MS, .failures = &ret->failures};
	struct file_store_options options = {.live = true, .broker = broker};
	int err = file_store_create(&options, &ret->files);

	if (err)
		return err;
	file_store_runtime_sources(ret->files, &reading.files, &ret->memory);
	return rows_reader_create(&reading, &ret->rows, &ret->maker);
}

static bool is_wanted(void *look_, uint32_t pid)
{
	return pid == ((const struct look *)look_)->pid;
}

static int list_one(void *look_, process_pids *ret)
{
	return vec_push(ret, ((const struct look *)look_)->pid);
}

static int take(void *look_, const struct jitbpf_record *record)
{
	struct look *look = look_;

	if (record->type == JITBPF_COMM)
		return process_table_comm(&look->table, (const struct jitbpf_comm *)record);
	if (record->type == JITBPF_MAPPING)
		return process_table_map(&look->table, (const struct jitbpf_mapping *)record);
	return 0;
}

/* Find the runtime of a process: by the names of its files, or by what its program exports. */
static int find_runtime(struct checker *checker, const struct look *look,
			const struct process *process, struct readable_runtime *ret)
{
	struct program_runtimes *programs = &checker->recipes.programs;
	struct unwind_answer answer = {
		.request = {.kind = UNWIND_PROGRAM, .pid = look->pid, .owner = look->owner}};

	if (runtime_recipes_runtime(&checker->recipes, process, ret))
		return 0;
	answer.request.program.module = module_table_get(&checker->modules, ret->module);
	if (!answer.request.program.module || !program_runtimes_may_ask(programs, ret->module))
		return -ENOENT;
	if (program_runtimes_asked(programs, ret->module))
		return -ENOMEM;
	answer.error = unwind_runtime_program(&checker->maker, &answer);
	program_runtimes_take(programs, ret->module, answer.engine, answer.error);
	return runtime_recipes_runtime(&checker->recipes, process, ret) ? 0 : -ENOENT;
}

static const struct mapping *mapping_of(const struct process *process, uint32_t module)
{
	struct space_entry entry;

	for (uint64_t address = 0;
	     process->mappings && space_map_next(process->mappings, address, &entry);
	     address = entry.end) {
		const struct mapping *mapping = (const struct mapping *)entry.value;

		if (mapping->module == module)
			return mapping;
	}
	return NULL;
}

static uint64_t number_of(const struct engine *engine, const struct unwind_answer *answer)
{
	struct engine_file runtime = {.engine = engine};

	if (answer->known)
		runtime.version = answer->known->version;
	return engine_runtime_with_status(engine_runtime_number(&runtime),
					  runtime_status_of(answer->error));
}

/* A busy machine gets a second chance to answer; a process that never does must not take more. */
static bool may_change(int err, int tries)
{
	return err == -ETIMEDOUT ? tries < 2 : (err == -EBADMSG || err == -EAGAIN) && tries < TRIES;
}

static uint64_t check_runtime(struct checker *checker, const struct look *look,
			      const struct readable_runtime *runtime, const struct mapping *mapping)
{
	const struct unwind_request request = {
		.kind = UNWIND_RUNTIME_RECIPE,
		.pid = look->pid,
		.owner = look->owner,
		.recipe = {.module = module_table_get(&checker->modules, runtime->module),
			   .engine = runtime->engine,
			   .address = mapping->address,
			   .file_offset = mapping->file_offset},
	};
	uint64_t number;

	for (int tries = 1;; tries++) {
		struct unwind_answer answer = {.request = request};

		answer.error = unwind_runtime_recipe(&checker->memory, &checker->maker, &answer);
		number = number_of(runtime->engine, &answer);
		unwind_runtime_release(&answer);
		if (!may_change(answer.error, tries))
			return number;
		poll(NULL, 0, tries);
	}
}

static int check_process(struct checker *checker, struct look *look, uint64_t *ret)
{
	uint64_t cut = 0, now_ns = clock_now_ns();
	const struct process_scan scan = {
		.files = checker->files,
		.came_ns = now_ns,
		.wanted = is_wanted,
		.list = list_one,
		.wanted_context = look,
		.take = take,
		.take_context = look,
		.ret_cut = &cut,
	};
	const struct mapping *mapping;
	const struct process *process;
	struct readable_runtime runtime;
	int err;

	file_store_begin_turn(checker->files);
	err = process_scan(&scan);
	if (err)
		return err;
	process = process_table_find(&look->table, look->pid, 0, clock_now_ns());
	if (!process)
		return -ESRCH;
	err = find_runtime(checker, look, process, &runtime);
	mapping = err ? NULL : mapping_of(process, runtime.module);
	if (mapping)
		*ret = check_runtime(checker, look, &runtime, mapping);
	return err == -ENOENT ? 0 : err;
}

static struct checked check(struct checker *checker, uint32_t pid)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	CLEANUP(string_pool_destroyp) struct string_pool *strings = NULL;
	struct look look = {.pid = pid, .owner = {.uid = OWNER_UNKNOWN_UID}};
	struct checked checked = {.err = string_pool_create(&strings)};

	if (checked.err)
		return checked;
	(void)process_user(&text, pid, &look.owner.uid);
	process_table_init(&look.table, strings, &checker->modules, &code_budget_default, NULL);
	checked.err = check_process(checker, &look, &checked.number);
	process_table_deinit(&look.table);
	return checked;
}

static _Noreturn void serve(int socket, const struct broker *broker)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct checker checker = {0};
	struct process_stat stat;
	bool is_hidden = process_stat_read(&text, 1, &stat);
	struct checked checked;
	uint32_t pid;
	int none, err;

	err = role_enter(ROLE_RECORDER, is_hidden ? PRIVILEGE(CAP_SYS_PTRACE) : 0);
	err = err ?: create(broker, &checker);
	while (!err && fd_message_receive(socket, &pid, sizeof(pid), &none) == sizeof(pid)) {
		checked = check(&checker, pid);
		err = fd_message_send(socket, &checked, sizeof(checked), -1);
	}
	_exit(err ? 1 : 0);
}

/* --- the caller's side -------------------------------------------------------------------- */

struct functions_check functions_check_of(const struct broker *broker)
{
	return (struct functions_check){
		.broker = broker,
		.socket = -1,
		.left_ns = FUNCTIONS_CHECKS_MS * 1000000ull,
	};
}

static int start(struct functions_check *check)
{
	int sockets[2], err = fd_message_pair(sockets);

	if (err)
		return err;
	check->pid = fork();
	if (!check->pid)
		serve(sockets[1], check->broker);
	close(sockets[1]);
	if (check->pid < 0) {
		close(sockets[0]);
		return -errno;
	}
	check->socket = sockets[0];
	return 0;
}

void functions_check_end(struct functions_check *check)
{
	if (check->socket < 0)
		return;
	close(TAKE_FD(check->socket));
	kill(check->pid, SIGKILL); /* it keeps nothing */
	child_wait_for_end(check->pid, FUNCTIONS_CHECK_MS);
}

static int ask(struct functions_check *check, uint32_t pid, struct checked *ret)
{
	struct pollfd readable = {.fd = check->socket, .events = POLLIN};
	uint64_t left_ms = check->left_ns / 1000000;
	int none, ready, err = fd_message_send(check->socket, &pid, sizeof(pid), -1);

	if (err)
		return err;
	do
		ready = poll(&readable, 1,
			     left_ms < FUNCTIONS_CHECK_MS ? (int)left_ms : FUNCTIONS_CHECK_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -ETIMEDOUT;
	return fd_message_receive(check->socket, ret, sizeof(*ret), &none) == sizeof(*ret) ? 0
											   : -EPIPE;
}

int functions_check_process(struct functions_check *check, uint32_t pid, uint64_t *ret)
{
	uint64_t began_ns = clock_now_ns(), took_ns;
	struct checked checked;
	int err;

	if (!check->left_ns)
		return -ETIMEDOUT;
	err = check->socket < 0 ? start(check) : 0;
	if (err)
		return err;
	err = ask(check, pid, &checked);
	if (err)
		functions_check_end(check);
	took_ns = clock_now_ns() - began_ns;
	check->left_ns = took_ns < check->left_ns ? check->left_ns - took_ns : 0;
	if (!err)
		*ret = checked.number;
	return err ?: checked.err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies side-band records to the processes of a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "state/process/process_table_state.h"

/*
 * Returns true if the mapping has a file that may hold symbols, or is a page of the kernel with
 * a name ("[uprobes]"). Shared memory, which engines put their code into, has an inode and a
 * path as well, but is no such file; except with a build ID, as of a program run from a memfd.
 */
static bool has_file(const struct jitbpf_mapping *record)
{
	static const char *const kernel_pages[] = {"[vdso", "[vsyscall", "[uprobes"};
	static const char *const memory[] = {"/dev/zero", "/SYSV",
					     "/memfd:", "anon_inode:", "//anon"};

	if (record->build_id_bytes)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_pages); i++) {
		if (begins_with(record->path, kernel_pages[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		if (begins_with(record->path, memory[i]))
			return false;
	}
	return record->inode;
}

static void mapping_free(struct space_value *value)
{
	struct mapping *mapping = (struct mapping *)value;

	shared_code_put(mapping->shared);
	if (mapping->modules)
		module_table_unmap(mapping->modules, mapping->module);
	code_account_release(mapping->account, sizeof(*mapping));
	code_account_put(mapping->account);
	free(mapping);
}

/*
 * Returns true if the process could not write the shared object of a mapping. An engine may remove
 * the write access while the code runs (mprotect). Then the earlier mapping was writable.
 */
static bool is_read_only(const struct process *process, const struct jitbpf_mapping *record,
			 const struct shared_code *shared)
{
	const struct mapping *before;
	struct space_entry entry;

	if (!shared || !(record->h.flags & JITBPF_MAPPING_READ_ONLY))
		return false;
	if (!space_map_find(process->mappings, record->address, record->h.time_ns, &entry))
		return true;
	before = (const struct mapping *)entry.value;
	return before->shared != shared || before->read_only;
}

/* Returns the mapping that a record describes again (JITBPF_MAPPING_SAME), or NULL. */
static const struct mapping *same_mapping(const struct process *process,
					  const struct jitbpf_mapping *record)
{
	struct space_entry entry;

	if (record->h.flags & JITBPF_MAPPING_SAME &&
	    space_map_find(process->mappings, record->address, record->h.time_ns, &entry))
		return (const struct mapping *)entry.value;
	return NULL;
}

static int charge_once(struct process *process)
{
	if (!process->mappings_lost)
		return code_account_charge(process->account, sizeof(struct mapping));
	code_account_skip_charge(process->account);
	return -EDQUOT;
}

/*
 * Charge a mapping to the owner of the process. If there is no room, mappings that have ended are
 * dropped first. If that is not enough, the process loses all of its mappings: without the new one,
 * look-ups would find an older mapping in its place. Then the addresses of the process are unknown
 * until the next exec. Returns 0, -EDQUOT or -ENOMEM.
 */
static int charge_mapping(struct process_table *table, struct process *process, uint64_t time_ns)
{
	int err = charge_once(process);

	if (err && space_map_has_history(process->mappings)) {
		space_map_forget(process->mappings, time_ns);
		err = charge_once(process);
	}
	if (!err)
		return 0;
	table->modules->over_budget++;
	if (process->mappings_lost)
		return -EDQUOT;
	process->mappings_lost = true;
	process->account->owner->refused++;
	return space_map_clear(process->mappings, time_ns) ?: -EDQUOT;
}

static int add_mapping(struct process_table *table, struct process *process,
		       const struct jitbpf_mapping *record, const struct module *module)
{
	const struct mapping *same = same_mapping(process, record);
	uint32_t number = module ? module->number : MAPPING_ANON;
	struct mapping *mapping = malloc(sizeof(*mapping));
	struct shared_code *shared;
	int err;

	err = mapping ? shared_code_table_get(&table->shared, record, &shared) : -ENOMEM;
	if (err) {
		code_account_release(process->account, sizeof(*mapping));
		free(mapping);
		return err;
	}
	*mapping = (struct mapping){
		.value = {.refs = 1, .free = mapping_free},
		.address = record->address,
		.file_offset = record->file_offset,
		.module = number,
		.engine = same ? same->engine : number,
		.modules = module ? table->modules : NULL,
		.shared = shared,
		.account = code_account_get(process->account),
		.read_only = is_read_only(process, record, shared),
		.since_ns = same ? same->since_ns : record->h.time_ns,
	};
	if (module) {
		module_table_map(table->modules, module->number);
		process_runtimes_map(&process->runtimes, &module->file, module->number);
		process->switches_stacks |= module->file.switches_stacks;
	}
	err = space_map_insert(process->mappings, record->address,
			       record->address + record->size_bytes, record->h.time_ns,
			       &mapping->value);
	if (record->h.time_ns > process->mapped_ns)
		process->mapped_ns = record->h.time_ns;
	space_value_put(&mapping->value); /* on failure, this also releases the charge */
	return err;
}

int process_table_map(struct process_table *table, const struct jitbpf_mapping *record)
{
	const struct module *module = NULL;
	struct process *process;
	int err =
		process_table_at(table, record->pid, record->start_ns, record->h.time_ns, &process);

	if (!err && has_file(record))
		err = module_table_add(table->modules, record, process_owner_key(&process->owner),
				       &module);
	if (err || !process->mappings)
		return err;
	err = charge_mapping(table, process, record->h.time_ns);
	return err == -EDQUOT ? 0 : err ?: add_mapping(table, process, record, module);
}

/* Paths differ between sources: "(deleted)" is appended, mount namespaces change. */
static bool is_same_file(const struct module *module, const struct jitbpf_mapping *record)
{
	if (!record->inode)
		return !module->inode && !strcmp(module->path, record->path);
	return module->inode == record->inode && module->dev_major == record->dev_major &&
	       module->dev_minor == record->dev_minor;
}

/* Returns true if a mapping, which covers an address, is equal to the mapping of a record there. */
static bool is_same_mapping(const struct process_table *table, const struct mapping *mapping,
			    const struct jitbpf_mapping *record, uint64_t address)
{
	const struct module *module = NULL;

	if (mapping->module != MAPPING_ANON)
		module = module_table_get(table->modules, mapping->module);
	if (!module || !has_file(record))
		return !module && !has_file(record);
	return is_same_file(module, record) &&
	       address - mapping->address + mapping->file_offset ==
		       address - record->address + record->file_offset;
}

enum known_mapping process_table_known(const struct process_table *table,
				       const struct jitbpf_mapping *record)
{
	const struct process *process =
		process_table_find(table, record->pid, record->start_ns, record->h.time_ns);
	uint64_t address = record->address, end = record->address + record->size_bytes;
	bool same = true, any = false;
	struct space_entry entry;

	if (!process || !process->mappings)
		return KNOWN_NOTHING;
	while (address < end) {
		if (!space_map_find(process->mappings, address, record->h.time_ns, &entry)) {
			same = false;
			if (!space_map_next(process->mappings, address, &entry))
				break;
			address = entry.start > address ? entry.start : entry.end;
			continue;
		}
		any = true;
		same = same &&
		       is_same_mapping(table, (const struct mapping *)entry.value, record, address);
		address = entry.end;
	}
	if (!any)
		return KNOWN_NOTHING;
	return same ? KNOWN_SAME : KNOWN_OTHER;
}

/* An exec ends all mappings and code of the process. */
static int begin_program(struct process_table *table, struct process *process, uint64_t time_ns)
{
	int err;

	process->program_ns = time_ns;
	process->mappings_lost = false;
	process->earlier_runtimes = process->runtimes;
	process->runtimes = (struct process_runtimes){0};
	process->switches_stacks = false;
	process_drop_reported(process);
	thread_names_end_all(&process->threads, time_ns);
	if (!process->mappings)
		return process->exit_ns == UINT64_MAX ? process_make_maps(table, process, NULL) : 0;
	err = space_map_clear(process->mappings, time_ns);
	if (!err)
		err = code_map_clear(process->code, time_ns);
	if (err)
		return err;
	return 0;
}

/* A record about a thread, which changes at most the name of the thread. */
static void thread_changed(struct process_table *table, const struct jitbpf_record *record,
			   uint32_t pid, uint32_t tid, const char *comm)
{
	struct process *process = process_table_find(table, pid, 0, record->time_ns);

	if (!process)
		return;
	if (comm)
		thread_names_comm(&process->threads, tid, comm, record->time_ns);
	else
		thread_names_end(&process->threads, tid, record->time_ns);
}

/* Keep the name, program and cgroup that a process has until time_ns. */
static int note_past(struct process *process, uint64_t time_ns)
{
	return process_past_add(&process->past, (struct process_was){
							.until_ns = time_ns,
							.program_ns = process->program_ns,
							.cgroup = process->owner.cgroup,
							.comm = process->comm,
						});
}

int process_table_comm(struct process_table *table, const struct jitbpf_comm *record)
{
	bool exec = record->h.flags & JITBPF_COMM_EXEC;
	struct process *process;
	uint32_t comm;
	int err;

	if (!exec)
		thread_changed(table, &record->h, record->pid, record->tid, record->comm);
	if (record->tid != record->pid && !exec)
		return 0;
	err = string_pool_add(table->strings, record->comm, sizeof(record->comm), &comm);
	if (!err)
		err = process_table_at(table, record->pid, record->start_ns, record->h.time_ns,
				       &process);
	if (!err)
		err = note_past(process, record->h.time_ns);
	if (!err && exec)
		err = begin_program(table, process, record->h.time_ns);
	if (err)
		return err;
	process->comm = comm;
	return 0;
}

/*
 * Add the mappings and code of the parent to a child that was known before its FORK came, except
 * where the child has its own records. Code that a gap of the child may have ended stays unknown.
 */
static int inherit(struct process *child, const struct process *parent)
{
	struct space_map *mappings;
	struct code_map *code;
	struct space_entry any;
	int err;

	if (!parent->mappings || !child->mappings)
		return 0;
	if (!space_map_next(child->mappings, 0, &any)) {
		err = space_map_clone(parent->mappings, &mappings);
		if (err)
			return err;
		space_map_destroy(child->mappings);
		child->mappings = mappings;
		child->runtimes = parent->runtimes;
		child->switches_stacks = parent->switches_stacks;
	}
	if (code_map_is_untouched(child->code)) {
		err = code_map_clone(parent->code, &code);
		if (err)
			return err;
		code_map_destroy(child->code);
		child->code = code;
	}
	return 0;
}

int process_table_fork(struct process_table *table, const struct jitbpf_task *record)
{
	struct process *parent, *child = process_table_latest(table, record->pid);
	int err;

	if (record->pid == record->parent_pid) {
		thread_changed(table, &record->h, record->pid, record->tid, NULL);
		return 0;
	}
	err = process_table_at(table, record->parent_pid, 0, record->h.time_ns, &parent);
	if (err)
		return err;
	/* A record of the child came before its FORK. The pid was not reused. */
	if (child && child->exit_ns == UINT64_MAX && child->from_ns > record->h.time_ns) {
		child->from_ns = record->h.time_ns;
		return inherit(child, parent);
	}
	return process_table_make(table, record->pid, 0, record->h.time_ns, parent, &child);
}

int process_table_exit(struct process_table *table, const struct jitbpf_task *record)
{
	struct process *process;

	if (record->tid != record->pid)
		return 0;
	process = process_table_find(table, record->pid, 0, record->h.time_ns);
	if (process)
		process_end(process, record->h.time_ns);
	return 0;
}

int process_table_inner_pid(struct process_table *table, const struct jitbpf_inner_pid *record)
{
	struct process *process;
	int err =
		process_table_at(table, record->pid, record->start_ns, record->h.time_ns, &process);

	if (!err)
		process->inner_pid = record->inner_pid;
	return err;
}

int process_table_runtime(struct process_table *table, const struct jitbpf_runtime *record)
{
	struct process *process;
	int err =
		process_table_at(table, record->pid, record->start_ns, record->h.time_ns, &process);

	/* What is reported late is of the program before the last exec. */
	if (!err && record->h.time_ns >= process->program_ns)
		process_runtimes_report(&process->runtimes, record);
	return err;
}

int process_table_owner(struct process_table *table, const struct jitbpf_owner *record)
{
	struct process_owner owner;
	struct process *process;
	int err =
		process_table_at(table, record->pid, record->start_ns, record->h.time_ns, &process);

	if (err)
		return err;
	owner = process_owner_of(record);
	if (process->owner.uid != JITBPF_UNKNOWN_USER && process->owner.cgroup != owner.cgroup)
		err = note_past(process, record->h.time_ns);
	if (err)
		return err;
	err = code_account_set_owner(process->account, &table->memory, process_owner_key(&owner));
	if (!err)
		process->owner = owner;
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes over time, with their names, mappings and JIT code. A process is identified by its
 * pid and the start time of its leader, so a reused pid is another process. Process numbers are
 * stable and never reused.
 *
 * Records come roughly in order of time. A record that is older than the latest process of its pid
 * is applied to the previous process of that pid, if the table still has it. Single-threaded.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_TABLE_H
#define JITBPF_STATE_PROCESS_PROCESS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/string_pool.h"
#include "base/vec.h"
#include "state/code/code_map.h"
#include "state/process/module_table.h"
#include "state/process/process_owners.h"
#include "state/process/process_past.h"
#include "state/process/process_runtimes.h"
#include "state/process/shared_code.h"
#include "state/process/thread_names.h"
#include "state/space/space_map.h"
#include "uapi/record.h"

/* A mapping: the values of process.mappings. */
struct mapping {
	struct space_value value;
	uint64_t address;     /* start when it was mapped; later mappings may cut it */
	uint64_t file_offset; /* of that address */
	uint32_t module;      /* number, or MAPPING_ANON */
	uint32_t engine;      /* the number that it had at first: a file can be identified later */
	struct module_table *modules; /* where the mapping is counted; NULL: MAPPING_ANON */
	struct shared_code *shared;   /* a reference; NULL: private memory */
	struct code_account *account; /* the account that is charged; a reference */
	bool read_only;		      /* shared, and mapped by a process that could not write it */
	uint64_t since_ns; /* when it was mapped, as far as is known; its file may be known later */
};

#define MAPPING_ANON UINT32_MAX

/* Shared objects that a process may report code in; further code goes to its own map. */
#define PROCESS_REPORTED_MAX 8

struct process {
	uint32_t number; /* never reused */
	uint32_t slot;	 /* in the table; reused when the process is freed */
	uint32_t pid;
	uint32_t inner_pid;	    /* in its own pid namespace; 0: the same, or not known */
	uint64_t start_ns;	    /* of the leader, CLOCK_BOOTTIME; 0: not known yet */
	uint64_t from_ns;	    /* time of the process's first record */
	uint64_t exit_ns;	    /* UINT64_MAX: alive */
	uint32_t comm;		    /* string number of the present name */
	struct process_owner owner; /* until it is reported: that of the parent */
	struct process *previous;   /* the process that had the pid before, or NULL */
	/*
	 * Both are NULL after the process was retired. If the owner had no memory for them, they
	 * are also NULL, until the next exec.
	 */
	struct space_map *mappings;
	struct code_map *code;
	struct code_account *account; /* of its events about code */
	uint64_t mapped_ns;	      /* time of its last mapping */
	/* Those of its program, and of the program before the last exec. */
	struct process_runtimes runtimes, earlier_runtimes;
	bool switches_stacks; /* its program has mapped a library that does (struct engine) */
	bool mappings_lost;   /* its owner had no memory for its mappings since its last exec */
	bool charged, maps_charged;  /* to the account: PROCESS_BYTES, PROCESS_MAPS_BYTES */
	uint64_t program_ns;	     /* time of its last exec; 0: before the recording */
	struct process_past past;    /* earlier comm, program_ns and cgroup */
	struct thread_names threads; /* of its program, without those of its parent */
	/* Objects in which its program has reported code; with a reference each. */
	struct shared_code *reported[PROCESS_REPORTED_MAX];
	uint32_t reported_count;
};

/* Return comm, program_ns and cgroup at a time, as far as history is kept. */
static inline uint32_t process_comm_at(const struct process *process, uint64_t time_ns)
{
	const struct process_was *was = process_past_at(&process->past, time_ns);

	return was ? was->comm : process->comm;
}

static inline uint64_t process_program_at(const struct process *process, uint64_t time_ns)
{
	const struct process_was *was = process_past_at(&process->past, time_ns);

	return was ? was->program_ns : process->program_ns;
}

static inline uint64_t process_cgroup_at(const struct process *process, uint64_t time_ns)
{
	const struct process_was *was = process_past_at(&process->past, time_ns);

	return was ? was->cgroup : process->owner.cgroup;
}

/* Returns the runtimes of the program that the process ran at time_ns, or of the one before. */
static inline const struct process_runtimes *process_runtimes_at(const struct process *process,
								 uint64_t time_ns)
{
	return time_ns < process->program_ns ? &process->earlier_runtimes : &process->runtimes;
}

/* A process is retired this long after its exit. Until then, late records are applied to it. */
#define PROCESS_GRACE_NS 2000000000ull

/*
 * A retired process is freed this long after its exit. Until then, look-ups find it. Processes of
 * an owner without memory are freed when they are retired.
 */
#define PROCESS_KEEP_NS 20000000000ull

/* The memory of a process without the contents of its maps: see code_account_charge(). */
#define PROCESS_BYTES	   1024
#define PROCESS_MAPS_BYTES 1600

struct process_table {
	VEC(struct process *) processes; /* by slot; NULL: the slot is free */
	VEC(uint32_t) free_slots;
	VEC(struct process *) active;  /* not retired */
	VEC(struct process *) retired; /* in order of their retirement */
	VEC(struct process *) leaving; /* freed by the next process_table_forget() */
	uint32_t next_number;
	struct index_map index;	      /* of the latest process of each pid, by pid */
	struct string_pool *strings;  /* borrowed */
	struct module_table *modules; /* borrowed */
	struct shared_code_table shared;
	struct code_budget budget;
	struct owner_budget memory; /* of code and mappings, by the owner of the process */
	struct charge_log charges;  /* of the present record, to `memory` */
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	const struct code_watch *watch;		  /* of code of new processes; borrowed, or NULL */
	uint64_t next_region;			  /* next region number of all code maps */
};

/*
 * strings, modules and line_rules (or NULL) outlive the table. The table must not be moved in
 * memory until process_table_deinit().
 */
void process_table_init(struct process_table *table, struct string_pool *strings,
			struct module_table *modules, const struct code_budget *budget,
			const struct code_line_rules *line_rules);
void process_table_deinit(struct process_table *table);

/*
 * Limit the memory of code and mappings, which owners share. Without this call, only the budget of
 * each process applies.
 */
static inline void process_table_set_memory(struct process_table *table, uint64_t bytes)
{
	table->memory.limit = bytes;
}

/*
 * Find or add the process that had pid at time_ns and, if start_ns is not 0, started at
 * start_ns. A known process without a start time gets start_ns. Returns 0 and sets *ret (owned
 * by the table), or -ENOMEM.
 */
int process_table_at(struct process_table *table, uint32_t pid, uint64_t start_ns, uint64_t time_ns,
		     struct process **ret);

/*
 * Find a process as process_table_at() does, but change nothing. Returns NULL if it is not known.
 * Owned by the table.
 */
struct process *process_table_find(const struct process_table *table, uint32_t pid,
				   uint64_t start_ns, uint64_t time_ns);

/*
 * Apply one side-band record that record_check() has accepted (decode/record/record_check.h):
 * - FORK: the child inherits the mappings and code that the parent has at that time. If the pid has
 *   a process that has not exited, the EXIT of that process was lost, and it ends.
 * - COMM sets the name. With the EXEC flag, it also ends all mappings, code and names of threads.
 * - EXIT ends the process.
 * FORK and COMM of threads other than the leader change the names of threads only; their EXIT is
 * ignored. Return 0 or -ENOMEM.
 */
int process_table_map(struct process_table *table, const struct jitbpf_mapping *record);
int process_table_comm(struct process_table *table, const struct jitbpf_comm *record);
int process_table_fork(struct process_table *table, const struct jitbpf_task *record);
int process_table_exit(struct process_table *table, const struct jitbpf_task *record);
int process_table_inner_pid(struct process_table *table, const struct jitbpf_inner_pid *record);
int process_table_owner(struct process_table *table, const struct jitbpf_owner *record);
int process_table_runtime(struct process_table *table, const struct jitbpf_runtime *record);

/* The mapping of a process at the address range and time of a MAPPING record. */
enum known_mapping {
	KNOWN_NOTHING, /* no mapping, or the process is not known */
	KNOWN_SAME,    /* the same mapping, in the whole range */
	KNOWN_OTHER,
};

enum known_mapping process_table_known(const struct process_table *table,
				       const struct jitbpf_mapping *record);

/*
 * Move the names of all processes to another pool, and use its numbers from then on. The old pool
 * may be destroyed. Returns 0, or -ENOMEM: then only strings were added to the new pool.
 */
int process_table_move_names(struct process_table *table, struct string_pool *strings);

/*
 * Free the processes in `leaving`. Drop history older than time_ns of all others. Retire those
 * that exited PROCESS_GRACE_NS before time_ns, and move those that exited PROCESS_KEEP_NS before
 * it to `leaving`. Holders of a pointer to a process drop it while the process is in `leaving`.
 */
void process_table_forget(struct process_table *table, uint64_t time_ns);

#endif

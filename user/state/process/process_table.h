/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes over time. A process is its pid and its leader's start time; a pid
 * that is used again is another process. Numbers are stable, never reused.
 * Fed in order of time, by and large: a record that is older than the latest
 * process of its pid goes to the one before, where that is known.
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
#include "state/process/process_past.h"
#include "state/process/shared_code.h"
#include "state/space/space_map.h"
#include "uapi/record.h"

/* Value of a process's mappings. */
struct mapping {
	struct space_value value;
	uint64_t address;	    /* where it began when it was mapped */
	uint64_t file_offset;	    /* of that address */
	uint32_t module;	    /* number, or MAPPING_ANON */
	struct shared_code *shared; /* NULL: the memory is the process's own; held */
};

#define MAPPING_ANON UINT32_MAX

/* Objects shared with others in which a process may report code; more is its own. */
#define PROCESS_REPORTED_MAX 8

struct process {
	uint32_t number; /* never reused */
	uint32_t slot;	 /* in the table; reused once the process is freed */
	uint32_t pid;
	uint32_t inner_pid;	  /* as it sees itself; 0: as pid, as far as we know */
	uint64_t start_ns;	  /* leader's, CLOCK_BOOTTIME; 0 while not known */
	uint64_t from_ns;	  /* when we first knew of it */
	uint64_t exit_ns;	  /* UINT64_MAX: lives */
	uint32_t comm;		  /* number in the pool: the name now */
	struct process *previous; /* the one that had the pid before, or NULL */
	/* NULL, both, once the process has been retired; its numbers and counts stay. */
	struct space_map *mappings;
	struct code_map *code;
	struct code_account *account; /* of what it reports about code */
	uint64_t mapped_ns;	      /* when it last mapped something */
	uint64_t program_ns;	      /* when it began its program (exec); 0: before we came */
	struct process_past past;     /* of comm and program_ns */
	struct shared_code *reported[PROCESS_REPORTED_MAX]; /* its program has; held */
	uint32_t reported_count;
};

/* The same at a time, as far as history is kept. */
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

/* A process still takes records that long after its exit; then it is retired. */
#define PROCESS_GRACE_NS 2000000000ull

/* A retired process can be found, and has its name, that long after its exit; then it is freed. */
#define PROCESS_KEEP_NS 20000000000ull

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
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	uint64_t next_region;
};

/*
 * strings, modules and line_rules (or NULL) outlive the table, which stays where it is
 * until it is deinitialized.
 */
void process_table_init(struct process_table *table, struct string_pool *strings,
			struct module_table *modules, const struct code_budget *budget,
			const struct code_line_rules *line_rules);
void process_table_deinit(struct process_table *table);

/*
 * The process that had pid at time_ns and, where start_ns is not 0, started
 * then; made where it is not known. One whose start is not known learns it here.
 * Returns 0 and sets *ret (owned by the table), or -ENOMEM.
 */
int process_table_at(struct process_table *table, uint32_t pid, uint64_t start_ns, uint64_t time_ns,
		     struct process **ret);

/* The same without making or learning anything: NULL where it is not known. */
struct process *process_table_find(const struct process_table *table, uint32_t pid,
				   uint64_t start_ns, uint64_t time_ns);

/*
 * Apply one side-band record (already checked: decode/record/record_check.h). A FORK
 * gives the child what the parent has mapped and loaded by then; a COMM with the
 * EXEC flag ends all of that; an EXIT ends a process. Records of
 * other threads' FORK, COMM and EXIT say nothing of the process. A FORK for a pid
 * whose process has not exited ends that one: its EXIT was lost.
 * Return 0 or -ENOMEM.
 */
int process_table_map(struct process_table *table, const struct jitbpf_mapping *record);
int process_table_comm(struct process_table *table, const struct jitbpf_comm *record);
int process_table_fork(struct process_table *table, const struct jitbpf_task *record);
int process_table_exit(struct process_table *table, const struct jitbpf_task *record);
int process_table_inner_pid(struct process_table *table, const struct jitbpf_inner_pid *record);

/*
 * Move the names of all processes to another pool, whose numbers they then have; the old pool may
 * be destroyed. Returns 0, or -ENOMEM with nothing changed but strings added to the pool.
 */
int process_table_move_names(struct process_table *table, struct string_pool *strings);

/*
 * Free the processes in `leaving`. Drop the history older than time_ns of all others; retire those
 * that exited PROCESS_GRACE_NS before it, and put those that exited PROCESS_KEEP_NS before it into
 * `leaving`. Whoever holds a pointer to a process drops it while the process is in there.
 */
void process_table_forget(struct process_table *table, uint64_t time_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes stacks that the kernel could not walk to their end, from the copy of the stack that
 * came with the sample. It also publishes the missing rows and mappings to the kernel
 * (unwind/unwind_tables.h), so that the next walk needs no copy. Rows are made on demand by
 * struct unwind_service; a stack waits until its rows are made.
 *
 * The rule for a frame depends on the code at its address at the sample's time. A file's code has
 * call frame information. JIT code is analysed, if it was copied at its load or read while the
 * region was in force. Any other code is walked by frame pointer.
 *
 * Single-threaded.
 */
#ifndef JITBPF_UNWIND_UNWINDER_H
#define JITBPF_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind_tables.h"
#include "unwind/unwind_service.h"
#include "state/process/process_table.h"
#include "uapi/record.h"

struct unwinder; /* see unwinder.c */

struct unwinder_counts {
	uint64_t finished;		   /* stacks */
	uint64_t file_pages, code_regions; /* of which rows were made */
	uint64_t code_unread;		   /* regions whose code could not be read in time */
	uint64_t evicted;		   /* pages that made room for others */
	uint64_t mappings_left_out;	   /* of processes that have too many */
};

/*
 * What they point to outlives the unwinder, but for the processes: those that it was told of
 * stay until the last call but unwinder_destroy(). modules is where owners' numbers are from.
 */
int unwinder_create(const struct unwind_service *service, const struct unwind_tables *tables,
		    const struct module_table *modules, struct unwinder **ret);
void unwinder_destroy(struct unwinder *unwinder); /* NULL is allowed */

/* A stack: as struct jitbpf_sample has its user part. */
struct finished_stack {
	uint64_t ips[JITBPF_FRAMES_MAX];
	uint32_t count;
	enum jitbpf_stack_end end;
	bool guessed; /* JITBPF_SAMPLE_FRAME_POINTERS */
};

/*
 * Go on with the walk of a sample that has a copy of its stack. What the kernel
 * lacked is published, if the process is still there. Returns 0 with *ret set, to all of
 * the user stack; 1 where rows are wanted that have been asked for: try again after
 * unwinder_collect(), or with last true, which takes what is there; -EINVAL
 * (no copy), or -ENOMEM. *ret is undefined unless it returns 0.
 */
int unwinder_finish(struct unwinder *unwinder, const struct process *process,
		    const struct jitbpf_sample *sample, bool last, struct finished_stack *ret);

/*
 * Take in the rows that have been made, waiting for those asked for at most wait_ns. known_ns:
 * all that happened before it has been applied to the processes; rows of JIT code count once
 * that is later than its code was read. Returns how many can be used that could not
 * before, or negative errno.
 */
int unwinder_collect(struct unwinder *unwinder, uint64_t wait_ns, uint64_t known_ns);

/*
 * A process has something else mapped, or another program, or has ended: what was published of
 * its mappings is made anew at unwinder_publish(), or withdrawn.
 */
void unwinder_process_changed(struct unwinder *unwinder, const struct process *process);

/*
 * JIT code of a process came or went in [address, address + size_bytes), which may be all there
 * is: its rows are withdrawn. After the change has been applied. What other processes see of it in
 * memory that they share is withdrawn at unwinder_publish().
 */
void unwinder_code_changed(struct unwinder *unwinder, const struct process *process,
			   uint64_t address, uint64_t size_bytes);

/*
 * A piece of JIT code as it stood at its load, which has been applied. What is kept of them is
 * bounded.
 */
void unwinder_code_copied(struct unwinder *unwinder, const struct process *process,
			  const struct jitbpf_code *code);

/* At the end of a round: publish what has changed. known_ns as above. Returns 0 or -ENOMEM. */
int unwinder_publish(struct unwinder *unwinder, uint64_t known_ns);

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes stacks that the kernel could not walk to their end, from the copy of the stack that
 * came with the sample. It also publishes the missing rows and mappings to the kernel
 * (unwind/tables/unwind_tables.h), so that the next walk needs no copy. Rows are made on demand by
 * struct unwind_service; a stack waits until its rows are made.
 *
 * The rule for a frame depends on the code at its address at the sample's time. A file's code has
 * call frame information. JIT code is analysed, if it was copied at its load or read while the
 * region was in force. Any other code is unwound by frame pointer.
 *
 * Single-threaded.
 */
#ifndef JITBPF_UNWIND_UNWINDER_H
#define JITBPF_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/code/code_checks.h"
#include "unwind/code/found_code.h"
#include "unwind/tables/unwind_tables.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_service.h"
#include "state/process/process_table.h"
#include "uapi/record.h"

struct unwinder; /* see unwinder.c */

struct unwinder_counts {
	uint64_t finished;		   /* stacks completed */
	uint64_t file_pages, code_regions; /* pages and regions for which rows were made */
	uint64_t code_unread;		   /* regions whose code could not be read in time */
	uint64_t evicted;		   /* pages evicted to make room for others */
	uint64_t mappings_left_out;	   /* mappings beyond the limit of a process */
	uint64_t functions_unknown;	   /* runtime frames whose function is not known */
};

/*
 * Create an unwinder. All arguments are borrowed and must outlive it; module
 * numbers are the owners of published mappings. Processes passed to any
 * function must stay valid until the last call before unwinder_destroy().
 * Returns 0 or -ENOMEM.
 */
int unwinder_create(const struct unwind_service *service, const struct unwind_tables *tables,
		    const struct module_table *modules, struct unwinder **ret);
void unwinder_destroy(struct unwinder *unwinder); /* NULL is allowed */

/* A complete user stack, in the format of struct jitbpf_sample. */
struct finished_stack {
	uint64_t words[JITBPF_USER_WORDS_MAX];
	/* By frame, for those beyond the frames of the sample: rbp. */
	uint64_t frame_pointers[JITBPF_USER_FRAMES_MAX];
	uint32_t count;
	enum jitbpf_stack_end end;
	bool guessed; /* some caller was found by frame pointer: JITBPF_SAMPLE_FRAME_POINTERS */
	/* cut at a frame in JIT code that may have been replaced: JITBPF_SAMPLE_CODE_REPLACED */
	bool replaced;
	bool untold; /* the same, in a region that goes on: JITBPF_SAMPLE_CODE_UNTOLD */
};

#define UNWIND_KEYS 2

/* What a stack waits for, and where its walk goes on. Zero-initialized is the beginning. */
struct unwind_wait {
	/*
	 * See unwinder_take_woken(). Two at most: whether functions can return to a frame, and the
	 * rows of a later frame. 0: none, or code that may be reported late.
	 */
	uint64_t keys[UNWIND_KEYS];
	uint32_t count;	     /* user frames up to where the walk stopped; 0: it begins anew */
	uint32_t changes;    /* of the process, by then */
	bool finished;	     /* the walk was complete before */
	uint64_t ip, sp, bp; /* of the last of these frames, as in bpf/unwind.h */
	uint32_t is_caller, guessed, narrow;
	int32_t rbp;
};

/*
 * Complete the stack of a sample that has a stack copy. Missing tables are
 * scheduled to be published for the process. Returns 0 with *ret set to the
 * whole user stack; 1 if rows are pending, or the code of the last frame in *ret
 * may be reported late; -EINVAL (no copy), or -ENOMEM. After 1, call again when
 * one of wait->keys was woken, or with last set, which uses the rows that exist. If
 * wait->count is not 0, *ret then has that many frames, as they were.
 * The walk goes on behind them, unless code or mappings of the process have
 * changed. *ret is undefined after an error.
 */
int unwinder_finish(struct unwinder *unwinder, const struct process *process,
		    const struct jitbpf_sample *sample, bool last, struct unwind_wait *wait,
		    struct finished_stack *ret);

/*
 * Take the key of something that has come or ended. Returns false if there is none. All stacks that
 * wait for it can go on. After *ret_all, all stacks can.
 */
bool unwinder_take_woken(struct unwinder *unwinder, uint64_t *ret, bool *ret_all);

/*
 * Take the rows that are ready, and wait up to wait_ns if none are. All events
 * before known_ns must have been applied to the processes: rows of JIT code
 * that was read before known_ns become valid. Returns the number of pages and
 * regions that became available, or a negative errno.
 */
int unwinder_collect(struct unwinder *unwinder, uint64_t wait_ns, uint64_t known_ns);

/*
 * Report that a process has changed its mappings, executed a program or exited.
 * Its published mappings are renewed or unpublished by unwinder_publish().
 */
void unwinder_process_changed(struct unwinder *unwinder, const struct process *process);

/* Drop all pointers to processes that are about to be freed; all of them have been retired. */
void unwinder_forget_processes(struct unwinder *unwinder, struct process *const *processes,
			       size_t count);

/*
 * Report that JIT code of a process was loaded or unloaded in [address, address
 * + size_bytes). Call it after the change has been applied. The rows there are
 * unpublished at once; for other processes that share the memory, by
 * unwinder_publish().
 */
void unwinder_code_changed(struct unwinder *unwinder, const struct process *process,
			   uint64_t address, uint64_t size_bytes);

/*
 * Report a piece of JIT code as of its load. Call it after the load has been
 * applied. Copies have a bounded total size.
 */
void unwinder_code_copied(struct unwinder *unwinder, const struct process *process,
			  const struct jitbpf_code *code);

/*
 * Compare the bytes of code that came with a sample, if it has any, with the code that was reported
 * there, before unwinder_check(). Returns 0 or -ENOMEM.
 */
int unwinder_saw(struct unwinder *unwinder, const struct process *process,
		 const struct jitbpf_sample *sample);

/* Returns true if code of a process is or was in doubt: its stacks need unwinder_check(). */
bool unwinder_doubts(const struct unwinder *unwinder, const struct process *process);

/*
 * Check that the JIT code of a complete stack, sampled at time_ns, was in memory
 * (unwind/code/code_checks.h). Returns 0 with the stack cut after the first frame whose code is not
 * vouched for, or 1 if checks are pending. An innermost frame whose code has ended does not cut the
 * stack. After 1, call again when *ret_key was woken, or with last set: then code without a result
 * counts as not vouched for.
 */
int unwinder_check(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   bool last, struct finished_stack *stack, uint64_t *ret_key);

/*
 * Find the first user frame of a finished sample that may be in code that was reported later
 * (unwind/code/code_successors.h), or that was found later (unwind/code/found_code.h). Returns the
 * number of frames up to and including that frame; 0 if there is none. seen: the bytes of code that
 * came with the sample, or NULL. Call it when all events up to CODE_SUCCESSOR_NS after the sample
 * have been applied.
 */
uint32_t unwinder_frames_untold(struct unwinder *unwinder, const struct process *process,
				const struct jitbpf_sample *sample,
				const struct jitbpf_code_bytes *seen);

/*
 * Report that memory of a process was mapped or became executable; the event has been applied.
 * Returns 0 or -ENOMEM.
 */
int unwinder_mapped(struct unwinder *unwinder, const struct process *process, uint64_t address,
		    uint64_t size_bytes, uint64_t time_ns);

/*
 * Report an event about code of a process before it is applied. event NULL: an event that may end
 * any code of the process, such as an exec.
 */
void unwinder_code_changes(struct unwinder *unwinder, const struct process *process,
			   const struct jitbpf_code_event *event, uint64_t time_ns);

/*
 * Take the oldest verdict about a region whose code was replaced or could not be checked. The
 * caller ends that region before it locates samples whose check ended after the verdict. Returns
 * false if there is none.
 */
bool unwinder_take_verdict(struct unwinder *unwinder, struct code_verdict *ret);

/* The source has ended: there is nothing but the answers to wait for. */
void unwinder_end(struct unwinder *unwinder);

/* Returns true if code was found in the memory of a process that can be replaced. */
bool unwinder_finds_code(const struct unwinder *unwinder, const struct process *process);

/*
 * Take the oldest code that was found in memory, and that no publisher has reported. The caller
 * takes the verdicts, then reports it, and ends ret->code. Returns false if there is none.
 */
bool unwinder_take_found(struct unwinder *unwinder, struct found_news *ret);

/*
 * Publish all changes at the end of a round. known_ns is as for
 * unwinder_collect(). Returns 0 or -ENOMEM.
 */
int unwinder_publish(struct unwinder *unwinder, uint64_t known_ns);

/*
 * From now on, keep the JIT code that is read, for unwinder_code_at(): up to JITBPF_KEPT_CODE_MAX
 * bytes of a region, and UNWINDER_KEPT_BYTES_MAX in all, which owners share. Without this call,
 * only CODE_COPIES_COPY_MAX bytes of a region are kept of code that is read.
 */
#define UNWINDER_KEPT_BYTES_MAX (16u << 20)
void unwinder_keep_code(struct unwinder *unwinder);

/* A region of JIT code, and the beginning of its code. Borrowed until the next change. */
struct known_code {
	uint64_t identity;	      /* code_region_identity() */
	uint64_t address, size_bytes; /* of the region, as the process sees it */
	const uint8_t *bytes;
	uint32_t bytes_known;
};

/*
 * Find the JIT code at an address of a process at time_ns. Returns false if there is none, or if
 * its code is not known for certain: it was neither copied at its load nor read while in force.
 */
bool unwinder_code_at(struct unwinder *unwinder, const struct process *process, uint64_t address,
		      uint64_t time_ns, struct known_code *ret);

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder);

#endif

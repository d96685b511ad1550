/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the structures of a runtime in the memory of a process: where its frames are, and what
 * their functions are called. One file per runtime fills a struct runtime_reader. Pure code:
 * thread-safe, no I/O but through the callbacks. All that is read is hostile.
 */
#ifndef JITBPF_RUNTIMES_RUNTIME_READER_H
#define JITBPF_RUNTIMES_RUNTIME_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/elf/elf_file.h"
#include "engines/engines.h"
#include "runtimes/process_memory.h"
#include "runtimes/runtime_code.h"
#include "uapi/record.h"
#include "uapi/runtime_recipe.h"

#define RUNTIME_NAME_MAX  1024	     /* bytes of a function's name, UTF-8; more are cut off */
#define RUNTIME_FILE_MAX  4096	     /* bytes of a path */
#define RUNTIME_LINES_MAX (1u << 14) /* of a function; further ones are left out */

#define RUNTIME_FACTS_WORDS 32

/* What the file of a runtime says, equal for all processes that map it: the reader's own. */
struct runtime_facts {
	uint64_t words[RUNTIME_FACTS_WORDS];
};

/*
 * Memory of a process where a runtime can have code beside its file, as it was mapped first. Either
 * a piece of anonymous memory that was reserved for code, with executable pages; file_offset is
 * RUNTIME_CODE_ANON. Or one more executable mapping of the runtime's file, which begins at that
 * offset of it.
 */
#define RUNTIME_CODE_ANON UINT64_MAX

struct runtime_code_range {
	uint64_t start, end, file_offset;
};

#define RUNTIME_CODE_RANGES_MAX 16 /* further ones are left out */

/* A process that runs a runtime. */
struct runtime_process {
	uint64_t bias;		 /* address of the runtime's file in memory - address in the file */
	uint64_t thread_pointer; /* of a thread that runs the runtime's code; 0: not known */
	/* With needs_shared_code: executable memory that the process shares, of no named file. */
	const struct runtime_range *shared_code; /* borrowed */
	size_t shared_code_count;
	/* With needs_code_ranges: by address, without overlaps. */
	const struct runtime_code_range *code_ranges; /* borrowed */
	size_t code_range_count;
};

/* From `position` on, up to the next one, the function is at `line` (0: not known). */
struct runtime_line {
	uint32_t position, line;
};

struct runtime_function {
	char *name; /* as users of the language write it, such as Class.method */
	char *file; /* "": none, as for functions of the runtime itself */
	uint32_t first_line;
	VEC(struct runtime_line) lines; /* ascending by position */
	/*
	 * Address that positions of frames are relative to. 0: the words are offsets already, as
	 * numbers of 32 bits with a sign, or, without `lines`, lines. See runtime_function_line().
	 */
	uint64_t code;
	uint64_t check; /* of the words that were read; the lowest bit is 0 */
	/*
	 * With has_copies: functions of which this one makes copies, with the checks that the
	 * copies will have. These have no `copied` of their own.
	 */
	VEC(struct runtime_function) copied;
};

#define RUNTIME_LAYOUT_WORDS 20

/* What function() has to know of a process beside its recipe, such as offsets: the reader's own. */
struct runtime_layout {
	uint64_t words[RUNTIME_LAYOUT_WORDS];
};

struct runtime_reader {
	const struct engine *engine;
	/* A function that each file with the runtime exports, and no other file has. */
	const char *symbol;
	/* recipe() is called again with what the process has mapped, after it has succeeded. */
	bool needs_shared_code, needs_code_ranges;
	/*
	 * A function can have copies, as each closure of PHP has one. They have the same check,
	 * which has the address of its code and identifies it, whatever the object. A copy can live
	 * for microseconds, so it is known from the function that makes it (`copied`), if that was
	 * read before.
	 */
	bool has_copies;
	/* Returns true if recipe() knows the structures of a version. */
	bool (*knows)(const struct engine_version *version);
	/*
	 * Read the file of the runtime. Returns 0; -ENOENT if the file has no symbols that show the
	 * way to the runtime's structures; or another negative errno.
	 */
	int (*facts)(const struct elf_file *elf, struct runtime_facts *ret);
	/*
	 * Make the recipe of a process, after a check of its live structures. Facts may come from a
	 * process that has parsed a hostile file. *ret_version is what is known of the version,
	 * also after an error. Returns 0; -ENODATA if the runtime has not started yet (if *ret
	 * has loops or ranges then, it is the recipe that is expected); -ENOTSUP if its version is
	 * not known; -EBADMSG if its structures are not those of its version; -ENOENT, as facts();
	 * or the error that ended the reading of memory (-ESRCH: there is no such process any
	 * more). runtime_status_of() says what they mean.
	 */
	int (*recipe)(const struct runtime_facts *facts, const struct runtime_process *process,
		      const struct process_memory *memory, struct runtime_recipe *ret,
		      struct runtime_layout *ret_layout, struct engine_version *ret_version);
	/*
	 * Change what recipe() has made for one process to what it is expected to make for another
	 * one of the same file, which has the file `by` bytes higher in memory. NULL: not known.
	 */
	void (*move)(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by);
	/*
	 * Read the function object at an address. The words of the recipe's check must tell apart
	 * functions that are at one address in forked children, since these share a recipe, and a
	 * function is known by recipe, address and check: a hash of the name, as CPython and PHP
	 * keep one, not only sizes or addresses. Returns 0 with *ret, which
	 * runtime_function_deinit() ends; -EBADMSG if it is no valid object; -EAGAIN if it
	 * has changed meanwhile; -EFAULT; or another negative errno. `owner` is that of a frame.
	 */
	int (*function)(const struct process_memory *memory, const struct runtime_recipe *recipe,
			const struct runtime_layout *layout, uint64_t object, uint64_t owner,
			struct runtime_function *ret);
	/*
	 * Find the code of the runtime at an address that no publisher has reported. NULL: the
	 * reader cannot. The identity must have been in force when the rest was read: read it again
	 * at the end, after process_memory_refresh(). Returns 0 with *ret, which
	 * runtime_code_deinit() ends; -ENOENT (no code is there); -EAGAIN (it has changed
	 * meanwhile); -EBADMSG (its structures are not valid); -EFAULT; or another negative errno.
	 * *ret is unchanged on failure.
	 */
	int (*code_at)(const struct process_memory *memory, const struct runtime_recipe *recipe,
		       const struct runtime_layout *layout, uint64_t address,
		       struct runtime_code *ret);
};

/* What an error of facts() or recipe() means; 0: JITBPF_RUNTIME_SHOWN. */
enum jitbpf_runtime_status runtime_status_of(int err);

/* Returns the line of a position, as a frame has it; 0: not known. */
uint32_t runtime_function_line(const struct runtime_function *function, uint64_t position);

void runtime_function_deinit(struct runtime_function *function);

#endif

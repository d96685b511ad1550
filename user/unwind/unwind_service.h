/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An asynchronous source of unwind rows. `record` runs it on worker threads
 * (agent/workers/unwind_workers.h), since reading files can be slow.
 */
#ifndef JITBPF_UNWIND_UNWIND_SERVICE_H
#define JITBPF_UNWIND_UNWIND_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"
#include "runtimes/engine_host.h"
#include "runtimes/runtime_reader.h"

/* The worker answers requests of equal cost in the order of their kinds. */
enum unwind_request_kind {
	UNWIND_CODE_ROWS,	 /* rows of the code of a region */
	UNWIND_CODE_CHECK,	 /* whether memory still holds the code of a region */
	UNWIND_RETURN_SITE,	 /* whether functions can return to an address */
	UNWIND_RUNTIME_CODE,	 /* code of a runtime that nobody has reported */
	UNWIND_RUNTIME_FUNCTION, /* name and lines of a function of a runtime */
	UNWIND_RUNTIME_RECIPE,	 /* where the frames of a runtime are */
	UNWIND_PAGE_ROWS,	 /* rows of a page of a file */
	UNWIND_PROGRAM,		 /* which runtime a program has */
};

struct unwind_page_request {
	const struct module *module;
	uint32_t page;
	bool slow; /* make also the rows that take long, which are UNWIND_NOT_MADE otherwise */
};

struct unwind_code_request {
	uint64_t region;	      /* code_region_identity() of the region */
	uint64_t address, size_bytes; /* as seen by the process */
	/*
	 * A copy of its code, which may have only the beginning. It stays valid until the answer is
	 * taken or the service is destroyed. NULL: for rows, the code is read from the process's
	 * memory; a check only reads it.
	 */
	const uint8_t *copy;
	uint32_t copy_bytes;
	union {
		struct engine_host host; /* for rows: if the code is not called */
		struct {
			uint32_t number;   /* chosen by the requester */
			bool objects_move; /* see struct code_publisher */
			const uint8_t *is; /* compare these copy_bytes; NULL: the memory */
			/*
			 * Not NULL: compare only these words, in memory. They stay valid as the
			 * copy does.
			 */
			const struct runtime_identity *identity;
		} check;
	};
};

struct unwind_return_request {
	const struct module *module; /* NULL: memory of the process */
	uint64_t to;		     /* an offset in the file, or an address */
	uint32_t owner;		     /* chosen by the requester */
};

struct unwind_program_request {
	const struct module *module; /* the program */
};

/* For a process that runs a runtime that has a reader (runtimes/runtime_reader.h). */
struct unwind_recipe_request {
	const struct module *module; /* the runtime's program or library, as the process has it */
	const struct engine *engine;
	/* Where the process has mapped its code: [address, ...) is the file from file_offset on. */
	uint64_t address, file_offset;
	uint64_t thread_pointer; /* of a thread that runs the runtime's code; 0: not known */
	uint64_t ticket;	 /* chosen by the requester */
};

/* What recipe() of a reader has found. Shared by all requests and samples of that process. */
struct runtime_known {
	const struct runtime_reader *reader;
	struct runtime_recipe recipe;
	struct runtime_layout layout;
	struct engine_version version;
};

struct unwind_function_request {
	const struct runtime_known *known; /* stays valid until the answer is taken */
	uint64_t object;		   /* address of the function's object */
	uint64_t function_owner;	   /* the same of its owner; 0: it has none */
	uint64_t check;			   /* as a sample has it, without its lowest bit */
	uint32_t uid;			   /* of the process at the request */
};

/* For an address in memory of no file, without known code. */
struct unwind_find_request {
	const struct runtime_known *known; /* its reader has code_at; valid as above */
	uint64_t address;
	uint32_t number; /* chosen by the requester */
};

/* The service holds the module of a request until the answer is taken. */
struct unwind_request {
	enum unwind_request_kind kind;
	uint32_t pid;
	struct owner_key owner;	    /* of the process; charged for the request and its answer */
	struct budget_owner *payer; /* of the request itself; set by unwind_ask() */
	union {
		struct unwind_page_request page;
		struct unwind_code_request code; /* for rows, or a check */
		struct unwind_return_request return_site;
		struct unwind_recipe_request recipe;
		struct unwind_function_request function;
		struct unwind_program_request program;
		struct unwind_find_request find;
	};
};

struct unwind_answer {
	struct unwind_request request;
	/* 0, or a negative errno: there are no rows; -ETIMEDOUT: a later request may get some */
	int error;
	/*
	 * For code that was read from memory: a time after the read or, for a check, a time before
	 * the read. 0 if a copy was used.
	 */
	uint64_t read_ns;
	bool differs;	 /* of a check: the memory holds other code than the copy */
	bool can_return; /* of a return site: functions can return there */
	uint8_t *bytes;	 /* bytes read from memory: the beginning of the region, or NULL */
	size_t bytes_read;
	struct unwind_rows rows; /* offsets are relative to the page or region */
	/*
	 * Of a recipe: error as of runtime_reader.recipe(), or -EOPNOTSUPP if no reader knows the
	 * engine. After an error, `version` alone is valid, as far as it is known; after -ENODATA,
	 * all of it is if the recipe has loops. The requester sets recipe.stack_top. NULL: other
	 * kinds.
	 */
	const struct runtime_known *known;
	/*
	 * Of a function: error as of runtime_reader.function(). NULL: other kinds, or an error. Its
	 * check may differ from that of the request: then it is another function.
	 */
	const struct runtime_function *function;
	/*
	 * Of code: error as of runtime_reader.code_at(). It is valid (runtime_code_is_valid()), and
	 * was there from found_ns to read_ns. NULL: other kinds, or an error. The taker may move it
	 * out, and leaves it zeroed.
	 */
	struct runtime_code *code;
	uint64_t found_ns;
	/* Of a program: error as of runtime_reader_of_file(). NULL: it has no runtime. */
	const struct engine *engine;
};

/* Receives an answer, which is borrowed. Returns 0 or a negative errno. */
typedef int (*unwind_taker_fn)(void *context, const struct unwind_answer *answer);

struct unwind_service {
	/* Request rows that are not requested already. Returns 0 or -ENOMEM. */
	int (*request)(void *context, const struct unwind_request *request);
	/*
	 * Deliver the answers since the last call. If none are ready but some
	 * are pending, wait up to wait_ns. Returns 0, or the first error of the
	 * service or of take().
	 */
	int (*collect)(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context);
	void *context;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the processes with JIT code, and how they publish it, or with a runtime whose functions are
 * read, for `list`. It only reads /proc and journals, and attaches nothing. Processes that cannot
 * be inspected are in a list of their own.
 */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_LIST_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/publisher/jitdump_file.h"
#include "agent/roles/broker.h"
#include "base/string_pool.h"
#include "base/vec.h"
#include "state/process/process_runtimes.h"

enum engine_publishes {
	ENGINE_JOURNAL,	      /* the shim, with a journal: earlier code is known as well */
	ENGINE_UNREADABLE,    /* the shim, but its journal cannot be read */
	ENGINE_OTHER_VERSION, /* a shim of another version than this program */
	ENGINE_SHIM,	      /* the shim, without a journal or without events so far */
	/* The same four for the agent for Java. */
	ENGINE_AGENT_JOURNAL,
	ENGINE_AGENT_UNREADABLE,
	ENGINE_AGENT_OTHER_VERSION,
	ENGINE_AGENT,
	ENGINE_JITDUMP,	  /* a mapped jitdump file */
	ENGINE_PERF_MAP,  /* /tmp/perf-PID.map */
	ENGINE_NOTHING,	  /* executable memory, but no publisher */
	ENGINE_FUNCTIONS, /* a runtime whose functions need no publisher, and no JIT code */
	ENGINE_PUBLISHES_COUNT
};

struct engine_row {
	uint32_t pid;
	uint32_t inner_pid; /* in its own pid namespace */
	uint32_t comm;	    /* string number */
	/*
	 * That its program runs, without modules. One with a reader (runtimes/runtime_reader.h) has
	 * a status, unless it could not be checked in time.
	 */
	struct process_runtimes runtimes;
	uint32_t
		engine; /* string number of its name, or of the file that calls the shim; 0: none */
	enum engine_publishes publishes;
	bool counted;		 /* methods and bytes of live code are known */
	uint64_t methods, bytes; /* of live code; with ENGINE_NOTHING, bytes of executable memory */
};

/* A process that could not be inspected. */
struct engine_hidden {
	uint32_t pid;
	int err; /* negative errno; -EACCES or -EPERM: the user may not inspect it */
};

/*
 * Finds out whether functions of the runtime of a process can be shown: *ret_number is its runtime
 * with a status (engine_runtime_number()), or 0. Returns 0 or a negative errno: that is not known.
 */
struct engine_checker {
	int (*check)(void *context, uint32_t pid, uint64_t *ret_number);
	void *context;
};

struct engine_list {
	VEC(struct engine_row) rows; /* by pid */
	struct engine_checker checker;
	struct string_pool *strings;
	struct jitdump_reader reader;
	VEC(struct engine_hidden) hidden; /* in the order of their inspection */
};

/* Less executable memory without a file than this is not listed: it holds trampolines only. */
#define ENGINE_GENERATED_BYTES_MIN (64u << 10)

/* broker is borrowed, checker is copied. Returns 0 or a negative errno. */
int engine_list_init(const struct broker *broker, const struct engine_checker *checker,
		     struct engine_list *ret);
void engine_list_deinit(struct engine_list *list);

/*
 * Add a process, if it has JIT code, or a runtime whose functions a recording reads. Ended
 * processes are ignored. Returns 0 or -ENOMEM.
 */
int engine_list_add(struct engine_list *list, uint32_t pid);

/* Add all processes. Returns 0, -ENOMEM, or the negative errno of opening /proc. */
int engine_list_add_all(struct engine_list *list);

#endif

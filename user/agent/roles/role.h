/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The roles of jitbpf's processes, and what each may do. The broker (broker.h)
 * starts a process of a role on request; the process drops all other privileges
 * before it handles its first message.
 */
#ifndef JITBPF_AGENT_ROLES_ROLE_H
#define JITBPF_AGENT_ROLES_ROLE_H

#include <stdbool.h>
#include <stdint.h>

enum role {
	ROLE_OPENER, /* opens and reads files and memory of others; parses nothing */
	/* opens and reads files that only their user may open, as that user; parses nothing */
	ROLE_USER_OPENER,
	ROLE_FETCHER,	/* asks debuginfod servers, as the invoking user */
	ROLE_ATTACHER,	/* registers probes and opens perf events */
	ROLE_SIGNALLER, /* signals the command, which may be another user's */
	ROLE_LOADER,	/* loads the agent for Java into a JVM, as its user */
	ROLE_READER,	/* parses input of other users: ELF, DWARF, names */
	ROLE_SERVER,	/* serves the live page on 127.0.0.1 */
	ROLE_VIEWER,	/* draws the screen of `jitbpf top`; not started by the broker */
	ROLE_RECORDER,	/* jitbpf itself after set-up; not started by the broker */
	ROLE_COUNT,
};

/* Serves requests from a socket until its other end is closed. */
typedef void (*role_fn)(int socket);

/* The system calls of a role. */
enum role_calls {
	ROLE_CALLS_COMMON, /* all except calls that start programs or change the machine */
	/* The other sets are small, and have no call that maps code: */
	ROLE_CALLS_OPENER,
	ROLE_CALLS_USER_OPENER,
	ROLE_CALLS_SOURCES, /* reads files; not a role of the broker's */
	ROLE_CALLS_ATTACHER,
	ROLE_CALLS_SIGNALLER,
	ROLE_CALLS_LOADER,   /* may also write files and connect */
	ROLE_CALLS_READER,   /* memory, the socket, and reading from descriptors */
	ROLE_CALLS_SERVER,   /* memory, and sockets that it has or accepts */
	ROLE_CALLS_VIEWER,   /* memory, sockets and a terminal that it has */
	ROLE_CALLS_RECORDER, /* as ROLE_CALLS_COMMON, with bpf() */
};

struct role_rules {
	const char *name;      /* of the process; at most 15 bytes */
	uint32_t id;	       /* of its user and group (identity.h); 0: it keeps its own */
	uint64_t capabilities; /* 1 << CAP_...: kept as far as jitbpf has them */
	uint32_t live_max;     /* limit of live processes, including those that hang */
	uint32_t life_max_s;   /* the broker kills an older process; 0: none */
	enum role_calls calls;
	bool of_user;	      /* has the IDs of a user, which are in the request for it */
	bool outlives;	      /* ends by itself when its socket is closed, maybe after jitbpf */
	bool forbids_files;   /* by Landlock, too */
	bool replaceable;     /* if memory runs out, the kernel ends it before the recorder */
	const char *readable; /* the only folder that Landlock allows to read; NULL: any */
	uint64_t memory_max;  /* limit of the address space in bytes; 0: none */
};

const struct role_rules *role_rules(enum role role);

/* Returns the capabilities of all roles together. */
uint64_t role_capabilities(void);

/*
 * Give up everything that a role does not need: our user ID, capabilities other than its own
 * and those in `more`, the right to gain new ones, being debugged, and system
 * calls. The process must have one thread, and must not go on after an error.
 * Returns 0 or a negative errno.
 */
int role_enter(enum role role, uint64_t more);

#endif

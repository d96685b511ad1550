/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks whether this machine and this user can record. `jitbpf doctor` shows all checks; `record`
 * refuses to start with the text of the first check that finds something missing.
 *
 * A check changes nothing and needs no privilege. A fact that only a privileged user can find out
 * is reported as hidden.
 */
#ifndef JITBPF_AGENT_MACHINE_MACHINE_CHECK_H
#define JITBPF_AGENT_MACHINE_MACHINE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum machine_state {
	MACHINE_FINE,
	MACHINE_LIMITED, /* a recording works, with the restriction that the words describe */
	MACHINE_MISSING, /* nothing can be recorded */
	MACHINE_HIDDEN,	 /* not known without privileges */
};

struct machine_finding {
	enum machine_state state;
	char what[320];	  /* what was found */
	char advice[320]; /* what to do about it; empty: nothing */
};

struct machine_check {
	const char *key;   /* in JSON */
	const char *title; /* for people */
	/* *ret is zero-initialized: fine, without words. */
	void (*look)(struct machine_finding *ret);
};

/* The checks that can find something missing, and the others. Each array ends with a NULL key. */
extern const struct machine_check machine_needs[];
extern const struct machine_check machine_offers[];

/* Set the members of a finding; formats as of printf(). */
__attribute__((format(printf, 3, 4))) void machine_found(struct machine_finding *ret,
							 enum machine_state state, const char *what,
							 ...);
__attribute__((format(printf, 2, 3))) void machine_advise(struct machine_finding *ret,
							  const char *advice, ...);

/*
 * Returns true if a requirement is not met, and writes one line to `words` that says what is
 * missing and what to do about it.
 */
bool machine_lacks(char *words, size_t words_bytes);

/* For checks: read the first line of a file, without its end. Returns false if it cannot be read.
 */
bool machine_read_line(const char *path, char *ret, size_t ret_bytes);

/* For checks: inodes of the initial namespaces (linux/proc_ns.h). */
#define MACHINE_INITIAL_USER 0xeffffffdu
#define MACHINE_INITIAL_PID  0xeffffffcu

/* For checks: returns true if our namespace of that kind has that inode. */
bool machine_namespace_is(const char *kind, unsigned inode);

/* libbpf's log is shown only if JITBPF_DEBUG is set: callers report errors in their own words. */
void machine_silence_libbpf(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the agent for Java into a running JVM, by HotSpot's attach mechanism: a file
 * .attach_pidN and SIGQUIT make the JVM listen at a socket, which takes the command "load". (jcmd
 * of a JDK does the same.) This is the service of a process (agent/roles/role.h), with its
 * messages.
 *
 * The process loads the agent into one JVM. It opens what it needs of /proc, then becomes the
 * JVM's user without any capability, and then opens files in the JVM's root. So it can do there no
 * more than the JVM itself could.
 *
 * SIGQUIT ends a process that does not catch it, and has other meanings for other programs. So it
 * is sent once, and only to a process that maps libjvm.so, catches the signal, and has the threads
 * by which HotSpot waits for it.
 */
#ifndef JITBPF_AGENT_JVM_JVM_LOAD_H
#define JITBPF_AGENT_JVM_JVM_LOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Until the JVM listens, after SIGQUIT, which takes less than 50 ms on an idle machine. A JVM that
 * handles the signal later prints a dump of its threads.
 */
#define JVM_LISTEN_NS 10000000000ull
/* Limit for the answers to the first commands, which are quick. */
#define JVM_ASK_NS 5000000000ull
/* Limit of the loading. With 5,000 compiled methods, it takes 0.1 s of CPU time of the JVM. */
#define JVM_LOAD_NS 30000000000ull

enum jvm_load_result {
	JVM_LOADED,
	JVM_HAS_AGENT,	  /* an agent of jitbpf is loaded already */
	JVM_IS_STARTING,  /* try again: the VM is not initialized, or does not handle SIGQUIT yet */
	JVM_IS_STOPPED,	  /* try again: by SIGSTOP, a debugger or its cgroup */
	JVM_IS_ANOTHER,	  /* OpenJ9, which has another mechanism */
	JVM_IS_CLOSED,	  /* -XX:+DisableAttachMechanism */
	JVM_IS_NOT_KNOWN, /* it has too many mappings to be identified */
	JVM_IS_SILENT,	  /* it did not answer in time */
	JVM_IS_FOREIGN,	  /* its socket or its file belongs to someone else */
	JVM_ANSWER_INVALID, /* its answer cannot be parsed */
	JVM_HAS_NO_PLACE,   /* no folder takes a copy of the agent: see err */
	JVM_HAS_TWO_USERS,  /* its real and effective IDs differ */
	JVM_LACKS_EVENTS,   /* it does not report its compiled methods */
	/* It writes an archive of classes, which fails, or prints a warning, if it has an agent. */
	JVM_ARCHIVES,
	JVM_REFUSED,	      /* such as with -XX:-EnableDynamicAgentLoading: see words */
	JVM_IS_BEYOND_LIMIT,  /* too many JVMs wait or are known: JVM_WAITING_MAX, JVM_ALL_MAX */
	JVM_AGENT_IS_MISSING, /* libjitbpf-jvmti.so is not installed: jvm_loads_create() */
	JVM_NOT_ANSWERED,     /* no answer before jitbpf ended */
	JVM_ENDED,
	JVM_LOAD_FAILED, /* see err */
};

struct jvm_load_request {
	uint32_t pid, unused;
	uint64_t start_ticks; /* of that process: struct process_stat */
	char path[PATH_MAX];  /* of the installed agent; its descriptor is sent with the request */
};

struct jvm_load_reply {
	uint32_t result; /* enum jvm_load_result */
	int32_t err;
	uint32_t release;	/* of Java; 0: not known */
	uint32_t has_all_lines; /* it runs with DebugNonSafepoints */
	uint32_t copied, unused;
	uint64_t load_ns; /* that the JVM needed for the command */
	char words[160];
};

/* Serve one request from a socket. */
void jvm_load_run(int socket);

#endif

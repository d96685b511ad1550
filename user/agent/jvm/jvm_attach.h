/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a JVM listen for commands, by HotSpot's attach mechanism: a file .attach_pidN and SIGQUIT.
 * The caller acts as the JVM's user.
 */
#ifndef JITBPF_AGENT_JVM_JVM_ATTACH_H
#define JITBPF_AGENT_JVM_JVM_ATTACH_H

#include "agent/jvm/jvm_load.h"
#include "agent/jvm/jvm_socket.h"
#include "agent/jvm/jvm_status.h"

/* While it waits, a step looks so often. */
#define JVM_LOOK_MS 5

/* A JVM, with what was opened of its /proc/PID. */
struct jvm_attachable {
	int pidfd, status_fd;
	int cwd_fd, tmp_fd; /* its working directory, and its /tmp */
	struct jvm_status status;
	uint32_t root_uid; /* in the JVM's user namespace */
	bool hears;	   /* the process has the thread with which HotSpot waits for SIGQUIT */
	struct jvm_socket socket;
	int err; /* of the result JVM_LOAD_FAILED */
};

/* Returns the result for an error of a step. Steps return JVM_LOADED if the next one follows. */
enum jvm_load_result jvm_attach_fail(struct jvm_attachable *jvm, int err);

/* Read /proc/PID/status by a descriptor, which cannot refer to a later process with that pid. */
enum jvm_load_result jvm_attach_read_status(struct jvm_attachable *jvm);

/* Make the JVM listen, unless it does. The file is removed afterwards. */
enum jvm_load_result jvm_attach(struct jvm_attachable *jvm);

#endif

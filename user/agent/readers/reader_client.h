/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorder's end of a reader process, which parses files of other users and has no privilege
 * (agent/roles/role.h). The process is started with the first request. If it dies, or exceeds its
 * limit (reader_limit.h), it is ended, and another process gets the request; after READER_STRIKES
 * processes, the request fails. Requests about a module that ended so many processes fail at once.
 *
 * One thread uses a client, and serves the reader's calls for files during a request.
 */
#ifndef JITBPF_AGENT_READERS_READER_CLIENT_H
#define JITBPF_AGENT_READERS_READER_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "agent/readers/reader_channel.h"
#include "agent/readers/reader_message.h"
#include "agent/roles/broker.h"
#include "state/process/file_source.h"

#define READER_STRIKES 2

struct reader_client; /* see reader_client.c */

struct reader_options {
	const struct broker *broker; /* borrowed */
	struct file_source files;    /* used during requests */
	uint32_t answer_ms;	     /* limit of the CPU time of one answer */
	bool no_demangle;
	uint64_t symbols_bytes;	    /* limit of a reader's memory for symbols; 0: the default */
	_Atomic uint64_t *failures; /* borrowed; counts the processes of all clients that failed */
};

struct reader_request {
	enum reader_message kind, answer;
	const void *bytes;
	size_t size_bytes;
	const struct module *module; /* that the reader may open; may be NULL */
};

/* Returns the description of a module in a request, which the path follows. */
struct reader_module reader_module_of(const struct module *module);

/* options are copied. Starts no process yet. Returns 0 or -ENOMEM. */
int reader_client_create(const struct reader_options *options, struct reader_client **ret);
void reader_client_destroy(struct reader_client *client); /* NULL is allowed */

/*
 * Start the process, so that the first request does not wait for that. If it fails, a later request
 * tries again.
 */
void reader_client_begin(struct reader_client *client);

/*
 * Send a request and wait for its answer. *ret is borrowed until the next request. Returns 0, or
 * -EIO: the readers failed, or the module was given up.
 */
int reader_client_ask(struct reader_client *client, const struct reader_request *request,
		      const message_bytes **ret);

/* The last answer cannot be decoded: treat it as a failure of the reader. Returns -EIO. */
int reader_client_refuse(struct reader_client *client, const struct module *module);

/* Returns the number of processes of this client that failed. */
uint64_t reader_client_failures(const struct reader_client *client);

#endif

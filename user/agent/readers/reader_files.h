/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In a reader process: the files of the recorder, by calls over the socket. */
#ifndef JITBPF_AGENT_READERS_READER_FILES_H
#define JITBPF_AGENT_READERS_READER_FILES_H

#include "agent/readers/reader_channel.h"
#include "base/index_map.h"
#include "state/process/file_source.h"

/* Zero-initialized except for the socket. */
struct reader_files {
	int socket;
	message_bytes in;
	VEC(struct module *) modules;
	struct index_map index; /* of modules, by number */
};

/* A file source over the socket. The process exits if the socket fails. */
void reader_files_source(struct reader_files *files, struct file_source *ret);

/* Returns the module of a request, which is kept until reader_files_forget(), or NULL. */
const struct module *reader_files_module(struct reader_files *files, const void *module,
					 const char *path);
/* Returns NULL if there is no such module. */
const struct module *reader_files_find(const struct reader_files *files, uint32_t number);
void reader_files_forget(struct reader_files *files, uint32_t number);

#endif

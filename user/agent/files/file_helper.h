/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that touch files for us. Whoever looks at a file of a dead NFS server,
 * or of a FUSE file system that does not answer, may hang for ever, and beyond the
 * reach of SIGKILL: our own process could not even end then, were it only one of
 * its threads. A helper process that hangs is left behind.
 *
 * A helper holds nothing between two requests: any other can answer the next. What
 * it hands back is a descriptor that only stands for a file (O_PATH): to keep or to
 * close one is harmless, and to read it a helper is asked. A file that can keep nobody
 * waiting (file_direct.h) is handed back open for reading.
 */
#ifndef JITBPF_AGENT_FILES_FILE_HELPER_H
#define JITBPF_AGENT_FILES_FILE_HELPER_H

#include <stdint.h>
#include <sys/types.h>

#include "uapi/record.h"

#define FILE_PATH_MAX	 4096
#define FILE_PIECE_MAX	 (64u << 10) /* what one READ may ask for */
#define FILE_HELPERS_MAX 32	     /* in all; those that hang count */

enum file_request_kind {
	/* Look for a file, and hand back its descriptor, with its build ID and size. */
	FILE_FIND_MAPPED, /* behind a mapping of process pid */
	FILE_FIND_PATH,	  /* at path: of process pid's root, or of ours where that is 0 */
	FILE_FIND_SERVED, /* the debug info of a build ID, from a debuginfod server */
	/* Read a piece of the file whose descriptor is sent along. */
	FILE_READ,
	/* Read memory of process pid, which may be a file's, or a process may answer for it. */
	FILE_READ_MEMORY,
};

/* Fields that a kind does not name are 0. */
struct file_request {
	uint32_t kind; /* enum file_request_kind */
	uint32_t pid;
	uint64_t inode;	     /* FIND: it must have that one; 0: whichever. FIND_MAPPED: not 0 */
	uint64_t address;    /* FIND_MAPPED, READ_MEMORY */
	uint64_t size_bytes; /* FIND_MAPPED: of the mapping; READs: up to FILE_PIECE_MAX */
	uint64_t offset;     /* READ */
	uint8_t build_id[JITBPF_BUILD_ID_MAX]; /* FIND_SERVED */
	uint32_t build_id_bytes;
	char path[FILE_PATH_MAX]; /* FIND_MAPPED, FIND_PATH; sent only up to its NUL */
};

struct file_reply {
	int32_t err;	 /* 0 or negative errno */
	uint32_t direct; /* FIND: 1: the descriptor is open for reading; 0: O_PATH */
	uint32_t build_id_bytes;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint64_t size_bytes;	       /* FIND: of the file; READs: of what follows */
	uint8_t bytes[FILE_PIECE_MAX]; /* sent only as far as it is filled */
};

struct file_helpers {
	int socket; /* to the process that starts them; -1: none */
	pid_t pid;
};

/* Fork that process: while we have one thread, and little open. Returns 0 or negative errno. */
int file_helpers_start(struct file_helpers *ret);

/*
 * A new helper: a socket on which it answers requests one by one, until that is
 * closed. Any thread may ask. Returns the descriptor or negative errno.
 */
int file_helpers_connect(const struct file_helpers *helpers);

/* End them all, except for those that cannot be ended. */
void file_helpers_stop(struct file_helpers *helpers);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to the helper processes that access files for us: openers and, for
 * debuginfod servers, fetchers (agent/roles/role.h). Access to a file on a dead
 * NFS server or on a hanging FUSE file system can block for ever, immune to
 * SIGKILL. If a thread of ours blocked like that, our process could not even
 * exit. A helper that hangs is abandoned.
 *
 * A helper has no state between requests, so any helper of the role can serve
 * any request. For a file, a helper returns an O_PATH descriptor, which is safe
 * to keep and to close; reading needs another request. A file that cannot block
 * (file_direct.h) is returned open for reading.
 *
 * file_service.c answers a request. The recorder sends it by a function of reading/file_reader.h;
 * file_reader_ask.c has, for each kind, its name in messages and whether a late answer can be used.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_HELPER_H
#define JITBPF_AGENT_FILES_HELPER_FILE_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

#define FILE_PATH_MAX  4096
#define FILE_PIECE_MAX (64u << 10) /* size limit of one read request */

#define FILE_COMPARED_MAX (1u << 20) /* size limit of FILE_COMPARE_MEMORY; takes 1 ms */

enum file_request_kind {
	/* Open the mapping of process pid, with O_PATH. The file itself is not accessed. */
	FILE_OPEN_MAPPING,
	/*
	 * Find a file; the reply has its descriptor, build ID and size. The two requests for the
	 * file of a mapping carry the descriptor of OPEN_MAPPING, if there is one.
	 */
	FILE_FIND_MAPPED,  /* the file of a mapping of process pid */
	FILE_FIND_GROWING, /* the same, and it may still be empty */
	FILE_FIND_PATH,	  /* the file at path, in the root of process pid, or in ours if pid is 0 */
	FILE_FIND_SERVED, /* debug info by build ID, from a debuginfod server; fetchers only */
	/* Read a piece of the file whose descriptor is sent with the request. */
	FILE_READ,
	/* The same for a file that grows: up to its end, so the piece may be shorter, or empty. */
	FILE_READ_GROWING,
	/* Read memory of process pid, which can block on a mapped file or on userfaultfd. */
	FILE_READ_MEMORY,
	/* Compare memory of process pid with a piece of the file whose descriptor is sent. */
	FILE_COMPARE_MEMORY,
	/* Open a memfd that process pid maps, for reading (process_files.h). */
	FILE_OPEN_MEMFD,
	/* Read the link of a descriptor of process pid. */
	FILE_READ_LINK,
	/* Read /proc/PID/maps, which can block on the lock of the memory map (process_maps.h). */
	FILE_READ_MAPS,
	/* Read /proc/PID/cgroup, which can block on the lock of all cgroups. */
	FILE_READ_CGROUP,
	/* Read the name of the container whose ID is the path (container_names.h). */
	FILE_READ_CONTAINER,
	/* The same, from the home of the user whose ID is the address. */
	FILE_READ_USER_CONTAINER,
	/* Read which packages own the files whose paths, by lines, are the path (package_files.h).
	 */
	FILE_READ_PACKAGES,
};

/*
 * As whom a file is accessed. A file system can refuse a file to all but one user, whatever
 * capabilities others have: FUSE without allow_other does, and NFS can.
 */
struct file_actor {
	uint32_t is_user; /* 1: a user with these IDs, by a helper of that user; 0: an opener */
	uint32_t uid, gid;
};

/* Fields that a request kind does not use are 0. */
struct file_request {
	uint32_t kind; /* enum file_request_kind */
	uint32_t pid;
	uint32_t dev_major, dev_minor; /* FIND: required device, with inode */
	uint64_t inode;		       /* FIND: required inode, 0 for any; of a mapping: not 0 */
	uint64_t generation;	       /* FIND: required generation of the inode, 0 for any */
	uint64_t address;	       /* OPENs, READ_MEMORY, COMPARE; READ_LINK: the descriptor */
	uint64_t size_bytes;	       /* OPENs; READs: at most FILE_PIECE_MAX; COMPARE */
	uint64_t offset;	       /* READ, READ_GROWING, COMPARE */
	uint8_t build_id[JITBPF_BUILD_ID_MAX]; /* FIND_SERVED */
	uint32_t build_id_bytes;
	struct file_actor actor;  /* FIND, READ, READ_GROWING */
	char path[FILE_PATH_MAX]; /* FIND, OPEN_MEMFD; sent up to its NUL */
};

/* Flags of a found file. */
#define FILE_IS_FUSE	  1u /* a user's process can make up the file, and who owns it */
#define FILE_ROOT_FOREIGN 2u /* found at a path that another user namespace than ours chose */
#define FILE_MISREPORTED  4u /* the device of the mapping was wrong: reply.dev_* is right */
#define FILE_IS_LASTING	  8u /* file_is_lasting() */

struct file_reply {
	int32_t err;	 /* 0 or a negative errno */
	uint32_t direct; /* FIND: 1 if the descriptor is open for reading, 0 if it is O_PATH */
	uint32_t build_id_bytes;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t owner;		       /* FIND: user id */
	uint32_t flags;		       /* FIND: FILE_* */
	struct file_actor needed;      /* FIND_MAPPED, FIND_GROWING, with -EPERM: who may open it */
	uint32_t dev_major, dev_minor; /* FIND: of mappings of the file, if an inode was required */
	uint64_t version;	       /* FIND: file_identity_version() */
	uint64_t pinned_bytes;	       /* FIND: file_pinned_bytes() */
	/* READ_GROWING: size of the file now; COMPARE: see file_compare_memory() */
	uint64_t file_bytes;
	uint64_t size_bytes;	       /* FIND: of the file; READs: of the data in bytes */
	uint8_t bytes[FILE_PIECE_MAX]; /* sent as far as it is filled */
};

#endif

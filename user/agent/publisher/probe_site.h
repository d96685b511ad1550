/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The site of the shim's probe. It has three places to attach to (agent/publisher/probe_trial.h):
 * +0 works on every kernel; on newer kernels, +1 and +6 are several times cheaper.
 */
#ifndef JITBPF_AGENT_PUBLISHER_PROBE_SITE_H
#define JITBPF_AGENT_PUBLISHER_PROBE_SITE_H

#include <stdint.h>

#define PROBE_SITE_BYTES 17

struct blob;

/* Identity of a file as its mappings show it; stat() differs from it on some file systems. */
struct mapped_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode; /* 0: not known */
};

struct probe_site {
	char path[4096]; /* of the shim */
	uint64_t offset; /* of the site in the file */
	uint64_t semaphore_offset;
	uint32_t place;		 /* 0, 1 or 6: offset from the site; set by the trial */
	struct mapped_file file; /* set by the trial */
};

/*
 * Read the site of the shim at path or, if path is NULL, of the one beside this program or in the
 * library folder of its installation (../lib/TRIPLET/jitbpf). Returns 0,
 * -ENOENT (no such file), -ENOEXEC (the file has no such probe), or another negative errno.
 */
int probe_site_find(const char *path, struct probe_site *ret);

/*
 * Read the site of the agent for Java that lies beside the shim. Returns as probe_site_find().
 */
int probe_site_find_jvm_agent(const struct probe_site *shim, struct probe_site *ret);

/*
 * Read the site of a file that may be a copy of the shim. The file is not trusted, so the code at
 * the site is compared with the shim's. The caller sets path, place and file. Returns as above, or
 * the blob's error; on failure *ret is unchanged.
 */
int probe_site_read(const struct blob *blob, struct probe_site *ret);

#endif

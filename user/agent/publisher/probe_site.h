/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where to attach to the shim's probe. The site offers three places: +0, which
 * every kernel can use, and +1 and +6, which newer ones make several times
 * cheaper. Which of them works here is found out, not assumed: an attach can
 * succeed and never fire, on some kernels the newer places are slower, and on some
 * (6.18) they kill a forked child that comes to a site which its parent has run.
 */
#ifndef JITBPF_AGENT_PUBLISHER_PROBE_SITE_H
#define JITBPF_AGENT_PUBLISHER_PROBE_SITE_H

#include <stdbool.h>
#include <stdint.h>

struct blob;
struct bpf_link;
struct bpf_program;

/* A file, as mappings of it show it: on some file systems stat() says something else. */
struct mapped_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode; /* 0: not known */
};

struct probe_site {
	char path[4096]; /* of the shim */
	uint64_t offset; /* of the site in the file */
	uint64_t semaphore_offset;
	uint32_t place;		 /* chosen: 0, 1 or 6 bytes into the site */
	struct mapped_file file; /* likewise found by probe_site_choose() */
};

/*
 * The shim to use: path, or if that is NULL the one installed beside this
 * program. Returns 0, -ENOENT (there is none), -ENOEXEC (no such probe in it),
 * or negative errno.
 */
int probe_site_find(const char *path, struct probe_site *ret);

/*
 * The site in a file that may be a copy of the shim: nobody vouches for it, so that
 * its code is compared with what it has to be. Path, place and file are left
 * to the caller. Returns as above, or the blob's error; on failure *ret is unchanged.
 */
int probe_site_read(const struct blob *blob, struct probe_site *ret);

/*
 * Choose the place by attaching self_test, which counts in *hits, to this very
 * process and running the site, here and in a child. Returns 0 with site->place
 * set, or -ENOTSUP where none fires. Leaves links in keep, to be destroyed at the
 * end: detaching takes the kernel longer than all the rest.
 */
int probe_site_choose(struct probe_site *site, struct bpf_program *self_test,
		      volatile const uint64_t *hits, struct bpf_link *keep[3]);

/*
 * Attach program, which gets cookie with each hit, to the site in every process.
 * Returns 0 or negative errno.
 */
int probe_site_attach(const struct probe_site *site, struct bpf_program *program, uint64_t cookie,
		      struct bpf_link **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The site of the shim's probe, and the choice of the place to attach to. A site has three places:
 * +0 works on every kernel; on newer kernels, +1 and +6 are several times cheaper.
 *
 * The place is chosen by trial, not by kernel version. An attach can succeed without ever firing.
 * On some kernels the places +1 and +6 are slower; on Linux 6.18, a forked child that runs a site
 * there crashes if its parent has run it before.
 */
#ifndef JITBPF_AGENT_PUBLISHER_PROBE_SITE_H
#define JITBPF_AGENT_PUBLISHER_PROBE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/lock_holders.h"
#include "agent/kernel/uprobe.h"

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
	uint32_t place;		 /* 0, 1 or 6: offset from the site; set by probe_site_choose() */
	struct mapped_file file; /* set by probe_site_choose() */
};

/*
 * Read the site of the shim at path or, if path is NULL, of the one beside this program. Returns 0,
 * -ENOENT (no such file), -ENOEXEC (the file has no such probe), or another negative errno.
 */
int probe_site_find(const char *path, struct probe_site *ret);

/*
 * Read the site of a file that may be a copy of the shim. The file is not trusted, so the code at
 * the site is compared with the shim's. The caller sets path, place and file. Returns as above, or
 * the blob's error; on failure *ret is unchanged.
 */
int probe_site_read(const struct blob *blob, struct probe_site *ret);

/* What the trial of the places uses. Borrowed. */
struct probe_trial {
	int program_fd;		       /* a program that counts in *hits */
	volatile const uint64_t *hits; /* of the sites in this process */
	struct lock_gate *gate;	       /* of the registration */
};

/*
 * Choose the place: attach the program to a copy of the site in this process, and run it here and
 * in a child. If the gate is closed, place 0 is chosen without a trial: it works on each kernel.
 * Returns 0 with site->place and site->file set, or -ENOTSUP if no place works. The caller sets
 * keep to UPROBE_NONE, and owns the probes there: removing them needs the gate, and takes long.
 */
int probe_site_choose(struct probe_site *site, const struct probe_trial *trial,
		      struct uprobe keep[3]);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuse_shim USER FUSE_DEVICE SHIM STALL_MS [overlay]: maps a copy of SHIM from a FUSE file system
 * of USER, prints a line, and drops the pages of the copy from the cache again and again. The
 * server answers all READs but those of jitbpf-attach, which wait for STALL_MS: the registration of
 * a uprobe reads the page of the probe.
 *
 * It is started by root, and mounts as fusermount does for each user; then it has USER's rights.
 * Others may use the file system (user_allow_other in fuse.conf). With "overlay" they may not, but
 * the copy is mapped through an overlay, which USER mounts in a namespace of their own.
 */
#include "tests/attack/programs/fuse_server.h"
#include "tests/attack/programs/shim_file.h"

#define NAME "libjitbpf.so"

static const char *mount_overlay(void)
{
	if (mount("none", "/mnt", "tmpfs", 0, NULL) || mkdir("/mnt/up", 0755) ||
	    mkdir("/mnt/work", 0755) || mkdir("/mnt/all", 0755) ||
	    mount("overlay", "/mnt/all", "overlay", 0,
		  "lowerdir=/tmp,upperdir=/mnt/up,workdir=/mnt/work,userxattr"))
		err(1, "overlay");
	return "/mnt/all/" NAME;
}

int main(int argc, char **argv)
{
	const char *path = "/tmp/" NAME;
	bool overlay = argc > 5;
	size_t size_bytes;
	unsigned user;
	void *bytes;
	int fd;

	if (argc < 5)
		errx(2, "usage: fuse_shim USER FUSE_DEVICE SHIM STALL_MS [overlay]");
	alarm(30); /* whatever happens: it stalls others */
	user = (unsigned)atoi(argv[1]);
	bytes = read_whole(argv[3], &size_bytes);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		err(1, "unshare");
	fd = fuse_mount(argv[2], user, overlay ? "" : ",allow_other");
	if (setgid(user) || setuid(user))
		err(1, "becoming user %u", user);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuse_start(fd, bytes, size_bytes);
	fuse_control->stall_ms = atol(argv[4]);
	if (overlay) {
		enter_namespaces();
		path = mount_overlay();
	}
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	map_segments(fd, bytes);
	strcpy(fuse_control->stall_name, "jitbpf-attach");
	puts("ready");
	fflush(stdout);
	for (;;) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		sleep_ms(1);
	}
}

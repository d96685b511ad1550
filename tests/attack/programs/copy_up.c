// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * copy_up USER FUSE_DEVICE SHIM STALL_MS: maps copies of SHIM through an overlay of USER, whose
 * lower layer is in memory and whose upper layer is a FUSE file system of theirs. When another
 * process has opened a copy, it is written to, which copies it to the upper layer: what was
 * examined is no longer the real file below the overlay. The server answers all READs but those of
 * jitbpf-attach, which wait for STALL_MS. Prints a line when the first copy is about to be mapped.
 *
 * It is started by root, and mounts as fusermount does for each user; then it has USER's rights.
 */
#include "tests/attack/programs/fuse_writable.h"
#include "tests/attack/programs/shim_file.h"

#include <sys/inotify.h>

#define COPIES	40
#define OPEN_MS 150 /* wait for another process to open a copy */

static void make_overlay(const void *bytes, size_t size_bytes)
{
	char path[64];

	if (mount("none", "/mnt", "tmpfs", 0, NULL) || mkdir("/mnt/low", 0755) ||
	    mkdir("/mnt/all", 0755))
		err(1, "/mnt");
	for (int i = 0; i < COPIES; i++) {
		int fd;

		snprintf(path, sizeof(path), "/mnt/low/libjitbpf-%d.so", i);
		fd = open(path, O_WRONLY | O_CREAT, 0755);
		if (fd < 0 || write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
			err(1, "%s", path);
		close(fd);
	}
	if (mount("overlay", "/mnt/all", "overlay", 0,
		  "lowerdir=/mnt/low,upperdir=/tmp/up,workdir=/tmp/work,userxattr"))
		err(1, "overlay");
}

/* Wait until another process opens the file in the lower layer. */
static void wait_for_open(int changes, int copy, const void *bytes)
{
	struct pollfd opened = {.fd = changes, .events = POLLIN};
	char path[64], events[4096];
	int fd;

	snprintf(path, sizeof(path), "/mnt/all/libjitbpf-%d.so", copy);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	snprintf(path, sizeof(path), "/mnt/low/libjitbpf-%d.so", copy);
	inotify_add_watch(changes, path, IN_OPEN | IN_ONESHOT);
	map_segments(fd, bytes);
	close(fd);
	poll(&opened, 1, OPEN_MS);
	while (poll(&opened, 1, 0) > 0 && read(changes, events, sizeof(events)) > 0)
		;
}

/* Copy the file up, and map the copy. Returns a descriptor of it. */
static int copy_up(int copy, const void *bytes)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/mnt/all/libjitbpf-%d.so", copy);
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(1, "copying up");
	map_segments(fd, bytes);
	return fd;
}

static void drop_pages(const int *copied, int count)
{
	for (int i = 0; i < count; i++)
		posix_fadvise(copied[i], 0, 0, POSIX_FADV_DONTNEED);
}

int main(int argc, char **argv)
{
	int changes, copied[COPIES], fd;
	size_t size_bytes;
	unsigned user;
	void *bytes;

	if (argc != 5)
		errx(2, "usage: copy_up USER FUSE_DEVICE SHIM STALL_MS");
	alarm(30); /* whatever happens: it stalls others */
	user = (unsigned)atoi(argv[1]);
	bytes = read_whole(argv[3], &size_bytes);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		err(1, "unshare");
	fd = fuse_mount(argv[2], user, "");
	if (setgid(user) || setuid(user))
		err(1, "becoming user %u", user);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	writable_start(fd);
	fuse_control->stall_ms = atol(argv[4]);
	strcpy(fuse_control->stall_name, "jitbpf-attach");
	enter_namespaces();
	make_overlay(bytes, size_bytes);
	changes = inotify_init1(IN_CLOEXEC);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < COPIES; i++) {
		wait_for_open(changes, i, bytes);
		copied[i] = copy_up(i, bytes);
		for (int turn = 0; turn < 20; turn++) {
			drop_pages(copied, i + 1);
			sleep_ms(1);
		}
	}
	for (;;) {
		drop_pages(copied, COPIES);
		sleep_ms(1);
	}
}

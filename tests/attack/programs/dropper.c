// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dropper: fills files in memory, maps or runs each, and drops it. The memory is free as soon as
 * nobody else has the file open. Prints a line when it has begun, and goes on until it is ended.
 *
 * usage: dropper memfd|deleted|unmounted|run|grown MEGABYTES
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/attack/programs/namespaces.h"

#define PAUSE_NS 20000000

static void fill(int fd, size_t megabytes)
{
	int self = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	if (self < 0 || fstat(self, &st) || sendfile(fd, self, NULL, (size_t)st.st_size) < 0 ||
	    fallocate(fd, 0, 0, (off_t)(megabytes << 20)))
		err(1, "filling");
	close(self);
}

static void map(int fd)
{
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		err(1, "mapping");
}

/* A tmpfs of our own, with the memory in another file than the one that is mapped. */
static void mount_memory(size_t megabytes)
{
	int fd;

	enter_namespaces();
	if (mount("none", "/dev/shm", "tmpfs", 0, NULL))
		err(1, "mounting");
	fd = open("/dev/shm/other", O_RDWR | O_CREAT, 0755);
	fill(fd, megabytes);
	close(fd);
}

/* In a process of its own, so that its mappings and mounts end. */
static void drop_one(const char *kind, size_t megabytes)
{
	struct timespec pause_ = {.tv_nsec = PAUSE_NS};
	char path[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/dev/shm/attacker-%d", getpid());
	if (!strcmp(kind, "unmounted")) {
		mount_memory(megabytes);
		megabytes = 1;
	}
	if (!strcmp(kind, "deleted") || !strcmp(kind, "unmounted"))
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0755);
	else
		fd = memfd_create(kind, 0);
	if (fd < 0)
		err(1, "creating");
	fill(fd, strcmp(kind, "grown") ? megabytes : 1);
	if (!strcmp(kind, "run")) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		execl(path, "attacker", "spin", NULL);
		err(1, "running");
	}
	map(fd);
	nanosleep(&pause_, NULL); /* jitbpf looks at it */
	if (!strcmp(kind, "grown")) {
		struct timespec later = {.tv_nsec = 150000000};

		nanosleep(&later, NULL);
		fill(fd, megabytes);
	}
	if (!strcmp(kind, "deleted"))
		unlink(path);
	_exit(0);
}

static void spin(void)
{
	while (clock() < CLOCKS_PER_SEC / 50)
		;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		spin();
		return 0;
	}
	for (unsigned number = 0;; number++) {
		pid_t child = fork();
		int status;

		if (!child)
			drop_one(argv[1], (size_t)atoi(argv[2]));
		if (waitpid(child, &status, 0) != child || status)
			errx(1, "a child has failed");
		if (!number) {
			puts("begun");
			fflush(stdout);
		}
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hoarder: maps any number of files executable, each with a path of its own, on a tmpfs in its own
 * mount namespace. Prints a line when all are mapped, and waits.
 *
 * usage: hoarder FILES
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/attack/programs/namespaces.h"

#define MAPPED_MAX 60000 /* of one process; the kernel allows 65,530 */

static void mount_memory(void)
{
	enter_namespaces();
	if (mount("none", "/mnt", "tmpfs", 0, NULL))
		err(1, "mounting");
}

static void map_one(unsigned number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/mnt/attacker-%u", number);
	fd = open(path, O_RDWR | O_CREAT, 0755);
	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned files = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	mount_memory();
	alarm(120);
	for (unsigned i = 0; i < files; i++) {
		map_one(i);
		/* The parent keeps what it has mapped, and waits. */
		if (i % MAPPED_MAX == MAPPED_MAX - 1 && fork()) {
			pause();
			return 0;
		}
	}
	puts("mapped");
	fflush(stdout);
	pause();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * impostor: maps the file MAPPED executable, and covers the path COVERED in its own mount namespace
 * by a copy of the file HOSTILE. The copy is on a tmpfs, whose inode numbers count up: it gets the
 * number of MAPPED. Without COVERED it only maps. Prints a line when all is done, and waits.
 *
 * usage: impostor MAPPED [HOSTILE COVERED]
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/attack/programs/namespaces.h"

#define NUMBERS_MAX 1000000 /* inode numbers that are tried */

static void become_root_of_namespace(void)
{
	enter_namespaces();
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/mnt", "tmpfs", 0, NULL) || chdir("/mnt"))
		err(1, "mount");
}

/* Create a file with an inode number. Returns false if it cannot be had. */
static bool create_numbered(const char *path, ino_t number)
{
	for (unsigned i = 0; i < NUMBERS_MAX; i++) {
		int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0755);
		struct stat st;

		if (fd < 0 || fstat(fd, &st))
			err(1, "%s", path);
		close(fd);
		if (st.st_ino == number)
			return true;
		if (st.st_ino > number || unlink(path))
			return false;
	}
	return false;
}

static void copy(int from, const char *path)
{
	int to = open(path, O_WRONLY);
	struct stat st;

	if (to < 0 || fstat(from, &st) || sendfile(to, from, NULL, (size_t)st.st_size) < 0)
		err(1, "copying");
	close(to);
}

int main(int argc, char **argv)
{
	int mapped = open(argv[1], O_RDONLY), hostile = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	struct stat st;

	if (mapped < 0 || fstat(mapped, &st) || (argc > 3 && hostile < 0))
		err(1, "opening");
	if (argc > 3) {
		become_root_of_namespace();
		if (!create_numbered("copy", st.st_ino) &&
		    close(open("copy", O_CREAT | O_WRONLY, 0755)))
			err(1, "copy");
		copy(hostile, "copy");
		if (mount("copy", argv[3], NULL, MS_BIND, NULL))
			err(1, "covering");
	}
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, mapped, 0) == MAP_FAILED)
		err(1, "mapping");
	puts("ready");
	fflush(stdout);
	alarm(60);
	pause();
	return 0;
}

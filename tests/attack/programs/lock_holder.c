// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lock_holder FUSE_DEVICE HOLD_MS [FILE|fork]: maps FILE executable, and prints a line. From
 * SIGUSR1 on, it holds the lock of its own memory map for HOLD_MS, again and again with 20 ms
 * between: it replaces a mapping by one of a FUSE file, and a page of this file is locked until its
 * server answers. Readers of its /proc/PID/maps and the registration of a uprobe in FILE wait for
 * the lock.
 *
 * With "fork", another thread forks meanwhile. It waits for the lock within the kernel's semaphore
 * of forks, which the registration of a uprobe in any file needs.
 */
#include "tests/attack/programs/fuse_server.h"

#include <pthread.h>

#define FILE_BYTES (1 << 20)

static void map_executable(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	if (mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		err(1, "mapping");
}

/* Read a page of the FUSE file in a child: it is locked until the server answers. */
static void lock_page(int fd, off_t offset)
{
	int before = fuse_control->unanswered;
	char byte;

	if (!fork())
		_exit(pread(fd, &byte, 1, offset) != 1);
	while (fuse_control->unanswered == before)
		sleep_ms(1);
}

static void answer_after(long ms)
{
	fuse_control->silent = true;
	if (fork())
		return;
	sleep_ms(ms);
	fuse_control->silent = false;
	_exit(0);
}

static void *fork_later(void *unused)
{
	(void)unused;
	sleep_ms(10);
	if (!fork())
		_exit(0);
	return NULL;
}

int main(int argc, char **argv)
{
	bool forks = argc > 3 && !strcmp(argv[3], "fork");
	pthread_t forking;
	int signal_, cached_fd, direct_fd;
	sigset_t begin;
	long hold_ms;
	char *place;

	if (argc < 3)
		errx(2, "usage: lock_holder FUSE_DEVICE HOLD_MS [FILE|fork]");
	hold_ms = atol(argv[2]);
	alarm(30); /* whatever happens: it stalls others */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);
	signal(SIGCHLD, SIG_IGN);
	if (argc > 3 && !forks)
		map_executable(argv[3]);
	enter_namespaces();
	fuse_start(fuse_mount(argv[1], 0, ""), calloc(1, FILE_BYTES), FILE_BYTES);
	fuse_control->direct = true;
	direct_fd = open(FUSE_FILE, O_RDONLY);
	fuse_control->direct = false;
	cached_fd = open(FUSE_FILE, O_RDONLY);
	place = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, direct_fd, 0);
	if (place == MAP_FAILED)
		err(1, "mapping");
	puts("ready");
	fflush(stdout);
	sigwait(&begin, &signal_);
	for (off_t offset = 0; offset < FILE_BYTES; offset += 1 << 16) {
		answer_after(hold_ms);
		lock_page(cached_fd, offset);
		if (forks)
			pthread_create(&forking, NULL, fork_later, NULL);
		mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, direct_fd, 0);
		if (forks)
			pthread_join(forking, NULL);
		sleep_ms(20);
	}
	pause();
}

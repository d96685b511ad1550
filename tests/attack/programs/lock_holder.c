// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lock_holder FUSE_DEVICE HOLD_MS [FILE [PID]|fork]: maps FILE executable, and prints a line. From
 * SIGUSR1 on, it holds the lock of its own memory map for HOLD_MS, again and again with 20 ms
 * between: it replaces a mapping by one of a FUSE file, and a page of this file is locked until its
 * server answers. Readers of its /proc/PID/maps and the registration of a uprobe in FILE wait for
 * the lock. With PID, it maps FILE at SIGUSR1, and takes the lock as soon as that process waits in
 * the kernel.
 *
 * With "fork", another thread forks meanwhile. It waits for the lock within the kernel's semaphore
 * of forks, which the registration of a uprobe in any file needs.
 */
#include "tests/attack/programs/fuse_server.h"

#include <pthread.h>

#define FILE_BYTES (1 << 20)

static void map_executable(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "opening");
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

/* Everybody can read the state of a process. Returns after a second in any case. */
static void await_wait(const char *pid)
{
	char path[64], text[512], *state;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	for (time_t end = time(NULL) + 1; time(NULL) <= end;) {
		int fd = open(path, O_RDONLY);
		ssize_t size = read(fd, text, sizeof(text) - 1);

		close(fd);
		text[size > 0 ? size : 0] = 0;
		state = strrchr(text, ')');
		if (!state || state[2] == 'D')
			return;
	}
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
	bool forks = argc > 3 && !strcmp(argv[3], "fork"), once = argc > 4;
	pthread_t forking;
	int signal_, cached_fd, direct_fd, mapped_fd;
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
	mapped_fd =
		argc > 3 && !forks ? open(argv[3], O_RDONLY) : -1; /* mounts may hide it later */
	if (argc > 3 && !forks && !once)
		map_executable(mapped_fd);
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
		if (once) {
			map_executable(mapped_fd);
			await_wait(argv[4]);
		}
		if (forks)
			pthread_create(&forking, NULL, fork_later, NULL);
		mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, direct_fd, 0);
		if (forks)
			pthread_join(forking, NULL);
		if (once)
			break;
		sleep_ms(20);
	}
	pause();
}

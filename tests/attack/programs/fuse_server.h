/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FUSE file system of an unprivileged user, in a user and mount namespace of its own: the file
 * /tmp/attacker.so, whose server leaves READ requests without an answer while `silent` is set.
 */
#ifndef JITBPF_TESTS_ATTACK_FUSE_SERVER_H
#define JITBPF_TESTS_ATTACK_FUSE_SERVER_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/attack/programs/namespaces.h"

#define FUSE_FILE "/tmp/attacker.so"

/* Shared by the server's process and the attacker's. */
struct fuse_control {
	atomic_bool silent; /* READs get no answer until it is cleared */
	atomic_bool direct; /* the next OPEN has FOPEN_DIRECT_IO */
	atomic_int unanswered;
	/* If set, READs of a process of that name get no answer for stall_ms. */
	char stall_name[16];
	long stall_ms;
};

static struct fuse_control *fuse_control;
static const char *fuse_bytes;
static size_t fuse_size;

static inline struct fuse_attr fuse_attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FUSE_ROOT_ID ? 0 : fuse_size,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static inline void fuse_reply(int fd, uint64_t unique, int error, const void *body, size_t bytes)
{
	static char out[sizeof(struct fuse_out_header) + (1 << 17)];
	struct fuse_out_header head = {(uint32_t)(sizeof(head) + bytes), -error, unique};

	memcpy(out, &head, sizeof(head));
	if (bytes)
		memcpy(out + sizeof(head), body, bytes);
	if (write(fd, out, head.len) < 0 && errno != ENOENT)
		err(1, "answering");
}

static inline void fuse_answer(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_read_in *read_in = body;

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_reply(fd, in->unique, 0,
			   &(struct fuse_init_out){.major = 7, .minor = 31, .max_write = 1 << 16},
			   sizeof(struct fuse_init_out));
		return;
	case FUSE_LOOKUP:
		fuse_reply(fd, in->unique, 0,
			   &(struct fuse_entry_out){.nodeid = 2, .attr = fuse_attributes(2)},
			   sizeof(struct fuse_entry_out));
		return;
	case FUSE_GETATTR:
		fuse_reply(fd, in->unique, 0,
			   &(struct fuse_attr_out){.attr = fuse_attributes(in->nodeid)},
			   sizeof(struct fuse_attr_out));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		fuse_reply(fd, in->unique, 0,
			   &(struct fuse_open_out){.open_flags = fuse_control->direct
									 ? FOPEN_DIRECT_IO
									 : FOPEN_KEEP_CACHE},
			   sizeof(struct fuse_open_out));
		return;
	case FUSE_STATFS: /* an overlay asks for it */
		fuse_reply(fd, in->unique, 0,
			   &(struct fuse_statfs_out){.st = {.bsize = 4096, .namelen = 255}},
			   sizeof(struct fuse_statfs_out));
		return;
	case FUSE_READ: {
		size_t left = read_in->offset < fuse_size ? fuse_size - read_in->offset : 0;

		fuse_reply(fd, in->unique, 0, fuse_bytes + read_in->offset,
			   left < read_in->size ? left : read_in->size);
		return;
	}
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		fuse_reply(fd, in->unique, 0, NULL, 0);
		return;
	default:
		fuse_reply(fd, in->unique, ENOSYS, NULL, 0);
	}
}

/* How requests are answered. */
static void (*fuse_answers)(int fd, const struct fuse_in_header *in,
			    const void *body) = fuse_answer;

static inline long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline bool fuse_stalls(uint32_t pid)
{
	char path[64], name[16] = "";
	ssize_t size;
	int fd;

	if (!fuse_control->stall_name[0])
		return false;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	size = read(fd, name, sizeof(name) - 1);
	close(fd);
	return size > 0 &&
	       !strncmp(name, fuse_control->stall_name, strlen(fuse_control->stall_name));
}

#define FUSE_WAITING_MAX 64

static inline _Noreturn void fuse_serve(int fd)
{
	static char waiting[FUSE_WAITING_MAX][256], in[1 << 18];
	struct pollfd request = {.fd = fd, .events = POLLIN};
	long silent_until_ms = 0;
	size_t count = 0;

	for (;;) {
		const struct fuse_in_header *head = (const void *)in;
		bool silent;

		if (!fuse_control->silent && now_ms() >= silent_until_ms) {
			while (count--)
				fuse_answers(fd, (const void *)waiting[count],
					     waiting[count] + sizeof(*head));
			count = 0;
		}
		if (poll(&request, 1, 1) <= 0)
			continue;
		if (read(fd, in, sizeof(in)) < 0) {
			if (errno == ENODEV)
				_exit(0);
			continue;
		}
		/* It may have been set since: the wait for the request is over. */
		silent = fuse_control->silent || now_ms() < silent_until_ms;
		if (head->opcode == FUSE_READ && !silent && fuse_stalls(head->pid)) {
			silent_until_ms = now_ms() + fuse_control->stall_ms;
			silent = true;
		}
		if (head->opcode == FUSE_READ && silent && count < FUSE_WAITING_MAX) {
			memcpy(waiting[count++], in, sizeof(waiting[0]));
			fuse_control->unanswered++;
		} else {
			fuse_answers(fd, head, in + sizeof(*head));
		}
	}
}

/* Mount the file system with one file, which has any name. Returns the server's descriptor. */
static inline int fuse_mount(const char *device, unsigned user, const char *more_options)
{
	int fd = open(device, O_RDWR);
	char options[128];

	if (fd < 0)
		err(1, "%s", device);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", fd,
		 user, user, more_options);
	if (mount("attacker", "/tmp", "fuse", MS_NOSUID | MS_NODEV, options))
		err(1, "mounting");
	return fd;
}

static inline void fuse_start(int fd, const void *bytes, size_t size_bytes)
{
	fuse_bytes = bytes;
	fuse_size = size_bytes;
	fuse_control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fuse_serve(fd);
	}
	close(fd);
}

static inline void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scope.h"

#define SEMAPHORE_SHIFT 32 /* format/ref_ctr_offset of the PMU */
#define PATH_BYTES	32

/*
 * The part of union bpf_attr for BPF_LINK_CREATE: headers before Linux 6.6 lack `path` and later
 * members.
 */
struct multi_attributes {
	uint32_t program_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphore_offsets, cookies;
	uint32_t count, multi_flags, pid, unused;
};

_Static_assert(sizeof(struct multi_attributes) == 64, "no padding");

static int link_multi(int program_fd, const char *path, const struct uprobe_target *target)
{
	struct multi_attributes attributes = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = UPROBE_MULTI_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&target->offset,
		.semaphore_offsets = (uintptr_t)&target->semaphore_offset,
		.cookies = (uintptr_t)&target->cookie,
		.count = 1,
		.pid = (uint32_t)target->pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes));

	return fd < 0 ? -errno : fd;
}

/* Load a program that returns 0, for a link of kind uprobe_multi or for a perf event (type 0). */
static int load_nothing(uint32_t attach_type)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);
	const struct bpf_insn return_0[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", return_0, ARRAY_SIZE(return_0),
			     &opts);
}

bool uprobe_multi_works(void)
{
	AUTO_CLOSE int program = load_nothing(UPROBE_MULTI_TYPE);
	AUTO_CLOSE int link = -1;

	if (program < 0)
		return false;
	/* A kernel that has them refuses a directory only after it knows the kind of link. */
	link = link_multi(program, "/", &(struct uprobe_target){.offset = 0});
	return link == -EBADF;
}

/* Returns the type of uprobe events, or a negative errno. */
static int event_type(void)
{
	AUTO_CLOSE int fd = open("/sys/bus/event_source/devices/uprobe/type", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	return atoi(text);
}

static int open_event(const struct uprobe_target *target, const char *path)
{
	int type = event_type(), fd;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config = target->semaphore_offset << SEMAPHORE_SHIFT,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = target->offset,
	};

	if (type < 0)
		return type;
	fd = (int)syscall(SYS_perf_event_open, &attr, target->pid ?: -1, target->pid ? -1 : 0, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int add_event(const struct uprobe_target *target, const char *path, struct uprobe *ret)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = target->cookie);
	AUTO_CLOSE int event = open_event(target, path);
	AUTO_CLOSE int link = -1;

	if (event < 0)
		return event;
	link = bpf_link_create(target->program_fd, event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return link;
	if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	*ret = (struct uprobe){TAKE_FD(event), TAKE_FD(link)};
	return 0;
}

/* The file is named by the link of its descriptor, which holds in any mount namespace. */
int uprobe_add(const struct uprobe_target *target, struct uprobe *ret)
{
	char path[PATH_BYTES];
	int link;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", target->file_fd);
	link = link_multi(target->program_fd, path, target);
	if (link == -EINVAL) /* the program was loaded for a perf event */
		return add_event(target, path, ret);
	if (link < 0)
		return link;
	*ret = (struct uprobe){-1, link};
	return 0;
}

int uprobe_add_nowhere(struct uprobe *ret)
{
	AUTO_CLOSE int program = load_nothing(uprobe_multi_works() ? UPROBE_MULTI_TYPE : 0);
	AUTO_CLOSE int file = memfd_create("jitbpf-nowhere", MFD_CLOEXEC);

	if (program < 0 || file < 0)
		return program < 0 ? program : -errno;
	return uprobe_add(&(struct uprobe_target){.file_fd = file, .program_fd = program}, ret);
}

void uprobe_close(struct uprobe *uprobe)
{
	scope_close(&uprobe->link);
	scope_close(&uprobe->event);
	*uprobe = UPROBE_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nsfs.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scope.h"

#define REFUSE SCMP_ACT_ERRNO(EPERM)

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release);

/* System calls that no role needs, and that an attacker who controls a process would try first. */
static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
#ifndef __SANITIZE_ADDRESS__ /* its search for leaks stops all threads by ptrace() */
	SCMP_SYS(ptrace),
#endif
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(fsopen),
	SCMP_SYS(chroot),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
};

/* Memory, the socket, time and the end of the process. */
static const int needed_by_all[] = {
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(poll),
	SCMP_SYS(close),
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(getrandom),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(sched_yield),
#ifdef __SANITIZE_ADDRESS__ /* it asks for the signal stack before the process ends */
	SCMP_SYS(sigaltstack),
#endif
};

/* For readers, which receive open files, and send a pidfd of themselves. */
static const int parsing[] = {
	SCMP_SYS(pread64),
	SCMP_SYS(pidfd_open),
};

static const int reading[] = {
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
};

static const int opening[] = {
	SCMP_SYS(openat2),	SCMP_SYS(statx),
	SCMP_SYS(statfs),	SCMP_SYS(fstatfs),
	SCMP_SYS(readlink),	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),	SCMP_SYS(process_vm_readv),
	SCMP_SYS(memfd_create), SCMP_SYS(name_to_handle_at),
};

/* For processes that have a user's ID: the one that reads source files, and openers. */
static const int finding[] = {SCMP_SYS(fstatfs), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
			      SCMP_SYS(statx)};

/* libbpf 1.4 reserves the descriptors of maps by files in memory. */
static const int attaching[] = {
	SCMP_SYS(perf_event_open), SCMP_SYS(bpf),  SCMP_SYS(ioctl),
	SCMP_SYS(memfd_create),	   SCMP_SYS(dup3),
};

static const int serving[] = {
	SCMP_SYS(accept4),    SCMP_SYS(recvfrom),    SCMP_SYS(sendto),	    SCMP_SYS(write),
	SCMP_SYS(writev),     SCMP_SYS(socketpair),  SCMP_SYS(shutdown),    SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt), SCMP_SYS(getsockname), SCMP_SYS(eventfd2),    SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),  SCMP_SYS(epoll_wait),  SCMP_SYS(epoll_pwait), SCMP_SYS(read),
};

static const int viewing[] = {
	SCMP_SYS(read),	    SCMP_SYS(write),	 SCMP_SYS(recvfrom),
	SCMP_SYS(fstat),    SCMP_SYS(ppoll),	 SCMP_SYS(select),
	SCMP_SYS(pselect6), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
};

/* Not TIOCSTI, which types into the terminal. */
static const unsigned long of_terminals[] = {TCGETS,	 TCSETS,    TCSETSW, TCSETSF,
					     TIOCGWINSZ, TIOCGPGRP, TCFLSH};

static const int of_descriptors[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,	   F_SETFD,
				     F_GETFL, F_SETFL,	       F_GET_SEALS};

static const int loading[] = {
	SCMP_SYS(openat),
	SCMP_SYS(openat2),
	SCMP_SYS(write),
	SCMP_SYS(unlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(fstatfs),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(socket),
	SCMP_SYS(connect),
	SCMP_SYS(sendto),
	SCMP_SYS(recvfrom),
	SCMP_SYS(getsockopt),
	SCMP_SYS(alarm),
	SCMP_SYS(setitimer),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	/* to become the JVM's user */
	SCMP_SYS(geteuid),
	SCMP_SYS(getegid),
	SCMP_SYS(setgroups),
	SCMP_SYS(setresgid),
	SCMP_SYS(setresuid),
	SCMP_SYS(capget),
	SCMP_SYS(capset),
	SCMP_SYS(prctl),
};

static int add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = seccomp_rule_add(filter, action, calls[i], 0);
	return err;
}

#define ADD(filter, action, calls) add_all(filter, action, calls, ARRAY_SIZE(calls))

/*
 * All code is loaded before a role begins. Memory is not shared, since a store in it writes a file;
 * but the attacher shares memory of BPF programs.
 */
static int add_memory(scmp_filter_ctx filter, enum role_calls calls)
{
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	const int shared = calls == ROLE_CALLS_ATTACHER ? 0 : MAP_SHARED;

	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, no_code,
				SCMP_A3(SCMP_CMP_MASKED_EQ, (scmp_datum_t)shared, 0))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
}

/* abort() and SIGIO (F_SETOWN) may signal the process itself, and no other one. F_SETSIG is
 * refused. */
static int add_signals(scmp_filter_ctx filter)
{
	const scmp_datum_t self = (scmp_datum_t)getpid();

	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_A0(SCMP_CMP_EQ, self))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2,
					   SCMP_A1(SCMP_CMP_EQ, F_SETOWN),
					   SCMP_A2(SCMP_CMP_EQ, self));
}

static int add_fcntl(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_descriptors) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)of_descriptors[i]));
	return err;
}

/*
 * Files are opened for reading only by openat(). The filter cannot see the flags of openat2(): the
 * user ID and missing capabilities keep it from writing (identity.h).
 */
static int add_open(scmp_filter_ctx filter)
{
	const unsigned writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));
}

/* The identity of a file, and the owner of a namespace. */
static int add_ioctl(scmp_filter_ctx filter)
{
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				   SCMP_A1(SCMP_CMP_EQ, FS_IOC_GETVERSION));

	return err
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
					   SCMP_A1(SCMP_CMP_EQ, NS_GET_USERNS));
}

static int add_terminal(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_terminals) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, of_terminals[i]));
	return err;
}

static bool listed_is_refused(enum role_calls calls)
{
	return calls == ROLE_CALLS_COMMON || calls == ROLE_CALLS_RECORDER;
}

int system_calls_limit(enum role_calls calls)
{
	CLEANUP(seccomp_releasep)
	scmp_filter_ctx filter = seccomp_init(listed_is_refused(calls) ? SCMP_ACT_ALLOW : REFUSE);
	int err;

	if (!filter)
		return -ENOMEM;
	if (listed_is_refused(calls)) {
		err = ADD(filter, REFUSE, refused);
		if (!err && calls == ROLE_CALLS_COMMON)
			err = seccomp_rule_add(filter, REFUSE, SCMP_SYS(bpf), 0);
	} else {
		err = add_memory(filter, calls)
			      ?: add_signals(filter) ?: ADD(filter, SCMP_ACT_ALLOW, needed_by_all);
		if (!err && calls != ROLE_CALLS_READER)
			err = add_fcntl(filter);
		if (!err && calls != ROLE_CALLS_READER && calls != ROLE_CALLS_SERVER &&
		    calls != ROLE_CALLS_VIEWER)
			err = ADD(filter, SCMP_ACT_ALLOW, reading);
	}
	if (!err && calls == ROLE_CALLS_OPENER)
		err = add_open(filter) ?: add_ioctl(filter) ?: ADD(filter, SCMP_ACT_ALLOW, opening);
	if (!err && calls == ROLE_CALLS_SOURCES)
		err = add_open(filter) ?: ADD(filter, SCMP_ACT_ALLOW, finding);
	if (!err && calls == ROLE_CALLS_USER_OPENER)
		err = add_open(filter) ?: add_ioctl(filter) ?: ADD(filter, SCMP_ACT_ALLOW, finding);
	if (!err && calls == ROLE_CALLS_ATTACHER)
		err = add_open(filter) ?: ADD(filter, SCMP_ACT_ALLOW, attaching);
	if (!err && calls == ROLE_CALLS_LOADER)
		err = ADD(filter, SCMP_ACT_ALLOW, loading);
	if (!err && calls == ROLE_CALLS_READER)
		err = ADD(filter, SCMP_ACT_ALLOW, parsing);
	if (!err && calls == ROLE_CALLS_SERVER)
		err = ADD(filter, SCMP_ACT_ALLOW, serving);
	if (!err && calls == ROLE_CALLS_VIEWER)
		err = add_terminal(filter) ?: ADD(filter, SCMP_ACT_ALLOW, viewing);
	if (!err && calls == ROLE_CALLS_SIGNALLER)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pidfd_send_signal), 0);
	return err ?: seccomp_load(filter);
}

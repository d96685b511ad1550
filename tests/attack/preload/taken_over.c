/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD that takes over each process of a jitbpf as soon as it has dropped its
 * privileges: instead of going on, it first tries to write files of others. Its results are lines
 * "PROCESS ATTEMPT ERRNO" in the file TAKEN_OVER_REPORT; ERRNO 0: the attempt succeeded.
 * TAKEN_OVER_FILES: files of others, separated by ':'. TAKEN_OVER_PID: a process of root.
 * TAKEN_OVER_NO_LANDLOCK: the kernel has no Landlock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REPORT_BYTES (1u << 20)
#define FILES_MAX    8

static struct {
	_Atomic size_t used;
	char text[];
} * report; /* shared by all processes; the first bytes of the file are a number */

static const char *files[FILES_MAX];
static pid_t victim;
static char name[16];
static int (*real_load)(const void *filter);

static long call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define CALL(number, a, b, c, d, e)                                                                \
	call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

static void say(const char *attempt, const char *path, long result)
{
	char line[512];
	int size = snprintf(line, sizeof(line), "%s %s:%s %ld\n", name, attempt, path,
			    result < 0 ? -result : 0);
	size_t at = atomic_fetch_add(&report->used, (size_t)size);

	if (at + (size_t)size < REPORT_BYTES - sizeof(*report))
		memcpy(report->text + at, line, (size_t)size);
}

static long open_by(const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags, .mode = flags & O_CREAT ? 0600 : 0};

	return CALL(SYS_openat2, AT_FDCWD, path, &how, sizeof(how), 0);
}

/* Returns the error of a store through a shared mapping, made by whatever descriptor there is. */
static long map_shared(const char *path)
{
	long fd = open_by(path, O_RDWR), at;

	if (fd < 0)
		fd = open_by(path, O_RDONLY);
	if (fd < 0)
		return fd;
	at = CALL(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	return at < 0 && at > -4096 ? at : 0;
}

static void try_file(const char *path)
{
	char beside[256];

	snprintf(beside, sizeof(beside), "%s.made", path);
	say("openat2", path, open_by(path, O_WRONLY));
	if (!strcmp(name, "jitbpf-outputs"))
		return; /* it may write files, which are for the others to try */
	say("openat", path, CALL(SYS_openat, AT_FDCWD, path, O_WRONLY, 0, 0));
	say("append", path, open_by(path, O_WRONLY | O_APPEND));
	say("map", path, map_shared(path));
	say("chmod", path, CALL(SYS_fchmodat, AT_FDCWD, path, 0644, 0, 0));
	say("chown", path, CALL(SYS_fchownat, AT_FDCWD, path, 0, 0, 0));
	say("make", path, open_by(beside, O_WRONLY | O_CREAT));
	say("link", path, CALL(SYS_linkat, AT_FDCWD, path, AT_FDCWD, beside, 0));
	say("symlink", path, CALL(SYS_symlinkat, path, AT_FDCWD, beside, 0, 0));
	say("rename", path, CALL(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, beside, 0));
	say("truncate", path, CALL(SYS_truncate, path, 0, 0, 0, 0));
	say("open_truncating", path, open_by(path, O_RDWR | O_TRUNC));
	say("unlink", path, CALL(SYS_unlinkat, AT_FDCWD, path, 0, 0, 0));
}

/* Signal 0 is checked as any other, and changes nothing. */
static void try_process(void)
{
	char memory[64];

	snprintf(memory, sizeof(memory), "/proc/%d/mem", victim);
	say("memory", "", open_by(memory, O_RDWR));
	say("kill", "", CALL(SYS_kill, victim, 0, 0, 0, 0));
	say("tgkill", "", CALL(SYS_tgkill, victim, victim, 0, 0, 0));
}

static void try_identity(void)
{
	say("setresuid", "", CALL(SYS_setresuid, 0, 0, 0, 0, 0));
	say("setresgid", "", CALL(SYS_setresgid, 0, 0, 0, 0, 0));
}

/* The filter of system calls is the last that a process of a role takes. */
int seccomp_load(const void *filter)
{
	int err;

	prctl(PR_GET_NAME, name);
	err = real_load(filter);
	if (!err && report) {
		try_identity();
		try_process();
		for (size_t i = 0; i < FILES_MAX && files[i]; i++)
			try_file(files[i]);
	}
	return err;
}

/* It is a function of the C library, by which jitbpf calls Landlock. */
long syscall(long number, ...)
{
	long a[6], result;
	va_list rest;

	va_start(rest, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	if (number >= SYS_landlock_create_ruleset && number <= SYS_landlock_restrict_self &&
	    getenv("TAKEN_OVER_NO_LANDLOCK"))
		result = -ENOSYS;
	else
		result = call(number, a[0], a[1], a[2], a[3], a[4]);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("TAKEN_OVER_REPORT"), *number = getenv("TAKEN_OVER_PID");
	char *all = getenv("TAKEN_OVER_FILES"), *rest = NULL;
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared;

	real_load = (int (*)(const void *))dlsym(RTLD_NEXT, "seccomp_load");
	if (fd < 0 || !number || !all)
		return;
	victim = atoi(number);
	all = strdup(all);
	for (size_t i = 0; i < FILES_MAX && all; i++)
		files[i] = strtok_r(i ? NULL : all, ":", &rest);
	shared = mmap(NULL, REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared != MAP_FAILED)
		report = shared;
}

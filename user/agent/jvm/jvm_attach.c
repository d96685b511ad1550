/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"

enum jvm_load_result jvm_attach_fail(struct jvm_attachable *jvm, int err)
{
	if (err == -ESRCH)
		return JVM_ENDED;
	jvm->err = err;
	return JVM_LOAD_FAILED;
}

enum jvm_load_result jvm_attach_read_status(struct jvm_attachable *jvm)
{
	char text[16384];
	ssize_t size = pread(jvm->status_fd, text, sizeof(text) - 1, 0);

	if (size < 0)
		return jvm_attach_fail(jvm, -errno);
	text[size] = 0;
	return jvm_status_parse(text, &jvm->status) ? jvm_attach_fail(jvm, -ESRCH) : JVM_LOADED;
}

/*
 * Check whether HotSpot accepts the file of put_file(): it must belong to its user or to the root
 * of its namespace. HotSpot also follows links; here they are refused, since their target may
 * change. Returns 0, -ENOENT if there is no file, or -EPERM.
 */
static int check_file(const struct jvm_attachable *jvm, int folder_fd, const char *name)
{
	struct stat st;

	/* The JVM may have access to its working directory only by its groups. */
	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT || (errno == EACCES && folder_fd == jvm->cwd_fd) ? -ENOENT
											: -EPERM;
	return S_ISREG(st.st_mode) && (st.st_uid == jvm->root_uid || st.st_uid == jvm->status.uid)
		       ? 0
		       : -EPERM;
}

/*
 * Create the file by which HotSpot knows that SIGQUIT is not a request for a dump of its threads.
 * HotSpot looks into its working directory first. Sets *ret_folder to the folder of a new file, or
 * to -1 if the user has such a file already.
 */
static enum jvm_load_result put_file(struct jvm_attachable *jvm, const char *name, int *ret_folder)
{
	const int folders[] = {jvm->tmp_fd, jvm->cwd_fd};
	int err = 0;

	*ret_folder = -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (check_file(jvm, folders[i], name) == -EPERM)
			return JVM_IS_FOREIGN;
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		AUTO_CLOSE int fd =
			openat(folders[i], name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd >= 0)
			*ret_folder = folders[i];
		if (fd >= 0)
			return JVM_LOADED;
		if (errno == EEXIST)
			return check_file(jvm, folders[i], name) ? JVM_IS_FOREIGN : JVM_LOADED;
		err = -errno;
	}
	return jvm_attach_fail(jvm, err);
}

/* Wait until the process listens. */
static enum jvm_load_result await_listener(struct jvm_attachable *jvm)
{
	uint64_t end_ns = clock_now_ns() + JVM_LISTEN_NS;

	while (clock_now_ns() < end_ns) {
		uint64_t soon_ns = clock_now_ns() + JVM_LOOK_MS * 1000000ull;
		int fd = jvm_socket_connect(&jvm->socket, soon_ns), err;

		if (fd >= 0) {
			close(fd);
			return JVM_LOADED;
		}
		if (fd == -EPERM)
			return JVM_IS_FOREIGN;
		err = jvm_socket_wait(&jvm->socket, jvm->pidfd, POLLIN, soon_ns);
		if (err != -ETIMEDOUT)
			return err ? jvm_attach_fail(jvm, err) : JVM_ENDED;
	}
	return JVM_IS_SILENT;
}

/*
 * Send SIGQUIT, and wait until the process listens. The wait continues if jitbpf ends: if the file
 * were removed earlier, the JVM would answer the signal with a dump of its threads.
 */
static enum jvm_load_result make_listen(struct jvm_attachable *jvm)
{
	enum jvm_load_result result = jvm_attach_read_status(jvm);
	int stop_fd = jvm->socket.stop_fd;

	if (result != JVM_LOADED)
		return result;
	if (!jvm->status.catches_quit)
		return JVM_IS_STARTING;
	if (jvm->status.stopped)
		return JVM_IS_STOPPED;
	if (syscall(SYS_pidfd_send_signal, jvm->pidfd, SIGQUIT, NULL, 0))
		return jvm_attach_fail(jvm, -errno);
	jvm->socket.stop_fd = -1;
	result = await_listener(jvm);
	jvm->socket.stop_fd = stop_fd;
	return result;
}

enum jvm_load_result jvm_attach(struct jvm_attachable *jvm)
{
	int fd = jvm_socket_connect(&jvm->socket, clock_now_ns() + JVM_LISTEN_NS), folder;
	enum jvm_load_result result;
	char name[32];

	if (fd >= 0) {
		close(fd); /* HotSpot ignores a connection without a request */
		return JVM_LOADED;
	}
	if (fd == -EPERM)
		return JVM_IS_FOREIGN;
	if (fd == -ETIMEDOUT)
		return JVM_IS_SILENT;
	if (fd != -ENOENT)
		return jvm_attach_fail(jvm, fd);
	if (!jvm->hears)
		return JVM_IS_STARTING;
	snprintf(name, sizeof(name), ".attach_pid%u", jvm->status.inner_pid);
	result = put_file(jvm, name, &folder);
	if (result != JVM_LOADED)
		return result;
	result = make_listen(jvm);
	if (folder >= 0)
		unlinkat(folder, name, 0);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_load.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/jvm/agent_place.h"
#include "agent/jvm/jvm_attach.h"
#include "agent/jvm/jvm_evidence.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"
#include "uapi/jvm_agent.h"

#define ALARM_S 75 /* this process ends after so long, even if it is blocked */

struct load {
	const struct jvm_load_request *request;
	struct jvm_load_reply *reply;
	int agent_fd, root_fd;
	struct jvm_attachable jvm;
	bool has_agent;	 /* the JVM maps the agent, which may have failed: it has no journal */
	uint64_t end_ns; /* when the loading must have ended */
};

static enum jvm_load_result read_root(struct load *load, int proc_fd)
{
	AUTO_CLOSE int fd = openat(proc_fd, "uid_map", O_RDONLY | O_CLOEXEC);
	char text[16384]; /* a page, and 340 lines at most */
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (size < 0)
		return jvm_attach_fail(&load->jvm, errno == ENOENT ? -ESRCH : -errno);
	text[size] = 0;
	load->jvm.root_uid = jvm_root_parse(text);
	return JVM_LOADED;
}

/* Open the files for which CAP_SYS_PTRACE is needed, and examine the process. */
static enum jvm_load_result examine(struct load *load)
{
	struct jvm_evidence evidence;
	AUTO_CLOSE int proc_fd = -1;
	enum jvm_load_result result;
	char path[32];
	int err;

	load->jvm.pidfd = (int)syscall(SYS_pidfd_open, load->request->pid, 0);
	if (load->jvm.pidfd < 0)
		return jvm_attach_fail(&load->jvm, -errno);
	snprintf(path, sizeof(path), "/proc/%u", load->request->pid);
	proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return JVM_ENDED;
	err = jvm_evidence_read(proc_fd, load->request->start_ticks, &evidence);
	if (err)
		return jvm_attach_fail(&load->jvm, err);
	load->jvm.status_fd = openat(proc_fd, "status", O_RDONLY | O_CLOEXEC);
	load->root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	load->jvm.cwd_fd = openat(proc_fd, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (load->jvm.status_fd < 0 || load->root_fd < 0 || load->jvm.cwd_fd < 0)
		return jvm_attach_fail(&load->jvm, -errno);
	load->jvm.hears = evidence.threads;
	result = jvm_attach_read_status(&load->jvm);
	if (result == JVM_LOADED)
		result = read_root(load, proc_fd);
	if (result != JVM_LOADED)
		return result;
	load->has_agent = evidence.agent;
	if (evidence.agent && evidence.journal)
		return JVM_HAS_AGENT;
	if (evidence.another)
		return JVM_IS_ANOTHER;
	if (!evidence.library)
		return evidence.cut ? JVM_IS_NOT_KNOWN : JVM_ENDED;
	if (evidence.closed)
		return JVM_IS_CLOSED;
	if (evidence.dumps)
		return JVM_ARCHIVES;
	return evidence.frozen ? JVM_IS_STOPPED : JVM_LOADED;
}

/*
 * Take the JVM's user and group, without supplementary groups: the files that are opened later
 * belong to that user, or are accessible to all. The user cannot debug this process.
 */
static int become(const struct jvm_status *status)
{
	if (geteuid() == status->uid && getegid() == status->gid)
		return privileges_keep(0, 0);
	if (setgroups(0, NULL) || setresgid(status->gid, status->gid, status->gid) ||
	    setresuid(status->uid, status->uid, status->uid))
		return -errno;
	return privileges_keep(0, 0);
}

static enum jvm_load_result enter(struct load *load)
{
	const struct jvm_status *status = &load->jvm.status;
	int err;

	if (!status->one_identity)
		return JVM_HAS_TWO_USERS;
	err = become(status);
	if (err)
		return jvm_attach_fail(&load->jvm, err);
	load->jvm.tmp_fd = agent_place_open_folder(load->root_fd, "tmp");
	if (load->jvm.tmp_fd < 0)
		return jvm_attach_fail(&load->jvm, load->jvm.tmp_fd);
	load->jvm.socket.folder_fd = load->jvm.tmp_fd;
	load->jvm.socket.pid = load->request->pid;
	load->jvm.socket.uid = status->uid;
	snprintf(load->jvm.socket.name, sizeof(load->jvm.socket.name), ".java_pid%u",
		 status->inner_pid);
	return JVM_LOADED;
}

static enum jvm_load_result attach(struct load *load)
{
	return jvm_attach(&load->jvm);
}

static enum jvm_load_result result_of_call(struct load *load, int err)
{
	if (err == -EPERM)
		return JVM_IS_FOREIGN;
	if (err == -ETIMEDOUT)
		return JVM_IS_SILENT;
	if (err == -EBADMSG)
		return JVM_ANSWER_INVALID;
	return err ? jvm_attach_fail(&load->jvm, err) : JVM_LOADED;
}

static int ask_flag(struct load *load, const char *name, uint64_t end_ns, bool *ret)
{
	const char *const flag[JVM_ARGUMENTS] = {name};
	char room[JVM_ANSWER_BYTES];
	struct jvm_answer answer;
	int err = jvm_socket_call(&load->jvm.socket, "printflag", flag, end_ns, room, &answer);

	if (!err)
		*ret = jvm_answer_is_set(&answer);
	return err;
}

/*
 * A JVM that is configured to write an archive of its classes exits with an error if it has an
 * agent then. The flags are read from the JVM, since its command line lacks options from files.
 */
static enum jvm_load_result check_archive(struct load *load)
{
	static const char *const flags[] = {"ArchiveClassesAtExit", "AutoCreateSharedArchive",
					    "RecordDynamicDumpInfo"};
	uint64_t end_ns = clock_now_ns() + JVM_ASK_NS;
	bool archives = false;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flags) && !err && !archives; i++)
		err = ask_flag(load, flags[i], end_ns, &archives);
	return archives ? JVM_ARCHIVES : result_of_call(load, err);
}

/* Read the facts about the JVM that messages contain. */
static enum jvm_load_result ask(struct load *load)
{
	const char *const version[JVM_ARGUMENTS] = {"VM.version"};
	uint64_t end_ns = clock_now_ns() + JVM_ASK_NS;
	bool has_all_lines = false;
	char room[JVM_ANSWER_BYTES];
	struct jvm_answer answer;
	int err = jvm_socket_call(&load->jvm.socket, "jcmd", version, end_ns, room, &answer);

	if (!err)
		load->reply->release = jvm_answer_release(&answer);
	err = err ?: ask_flag(load, "DebugNonSafepoints", end_ns, &has_all_lines);
	load->reply->has_all_lines = has_all_lines;
	return result_of_call(load, err);
}

static enum jvm_load_result load_once(struct load *load, const char *path)
{
	const char *const arguments[JVM_ARGUMENTS] = {path, "true"};
	uint64_t began_ns = clock_now_ns();
	char room[JVM_ANSWER_BYTES];
	struct jvm_answer answer;
	int32_t code = 0;
	int err =
		jvm_socket_call(&load->jvm.socket, "load", arguments, load->end_ns, room, &answer);

	if (err)
		return result_of_call(load, err);
	load->reply->load_ns = clock_now_ns() - began_ns;
	if (jvm_answer_return_code(&answer, &code) && !code)
		return JVM_LOADED;
	if (jvm_answer_is_early(&answer))
		return JVM_IS_STARTING;
	if (code == JITBPF_JVM_AGENT_IS_LOADED)
		return JVM_HAS_AGENT;
	if (code == JITBPF_JVM_AGENT_LACKS_EVENTS)
		return JVM_LACKS_EVENTS;
	jvm_answer_words(&answer, load->reply->words, sizeof(load->reply->words));
	return JVM_REFUSED;
}

static enum jvm_load_result load_from(struct load *load, const char *path)
{
	for (;;) {
		enum jvm_load_result result = load_once(load, path);
		int err;

		if (result != JVM_IS_STARTING)
			return result;
		err = jvm_socket_wait(&load->jvm.socket, load->jvm.pidfd, POLLIN,
				      clock_now_ns() + JVM_LOOK_MS * 1000000ull);
		if (err != -ETIMEDOUT)
			return err ? jvm_attach_fail(&load->jvm, err) : JVM_ENDED;
		if (clock_now_ns() > load->end_ns)
			return JVM_IS_SILENT;
	}
}

static enum jvm_load_result load_agent(struct load *load)
{
	struct agent_place place;
	enum jvm_load_result result;
	const struct agent_user user = {.uid = load->jvm.status.uid,
					.root_uid = load->jvm.root_uid};
	int err =
		agent_place_find(load->root_fd, load->agent_fd, load->request->path, &user, &place);

	load->jvm.err = err;
	if (err)
		return JVM_HAS_NO_PLACE;
	load->end_ns = clock_now_ns() + JVM_LOAD_NS;
	load->reply->copied = place.folder_fd >= 0;
	result = load_from(load, place.path);
	agent_place_remove(&place);
	return result;
}

static enum jvm_load_result run(struct load *load)
{
	enum jvm_load_result (*const steps[])(struct load *) = {examine,       enter, attach,
								check_archive, ask,   load_agent};
	enum jvm_load_result result = JVM_LOADED;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && result == JVM_LOADED; i++)
		result = steps[i](load);
	/* Without a journal (JITBPF_JOURNAL_MB=0), only the agent knows whether it has failed. */
	if (load->has_agent && result != JVM_LOADED && result != JVM_LACKS_EVENTS)
		return JVM_HAS_AGENT;
	return result;
}

void jvm_load_run(int socket)
{
	static struct jvm_load_request request;
	struct jvm_load_reply reply = {0};
	struct load load = {
		.request = &request,
		.reply = &reply,
		.root_fd = -1,
		.jvm = {.status_fd = -1, .cwd_fd = -1, .tmp_fd = -1, .socket.stop_fd = socket},
	};

	alarm(ALARM_S);
	if (fd_message_receive(socket, &request, sizeof(request), &load.agent_fd) !=
		    sizeof(request) ||
	    request.path[sizeof(request.path) - 1])
		return;
	reply.result = run(&load);
	reply.err = load.jvm.err;
	fd_message_send(socket, &reply, sizeof(reply), -1);
}

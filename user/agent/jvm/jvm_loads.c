/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_loads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/jvm/jvm_evidence.h"
#include "agent/jvm/jvm_status.h"
#include "agent/jvm/jvm_table.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"
#include "base/vec.h"

#define LOOKS_MAX    64 /* JVMs that are examined in a turn */
#define AGAIN_NS     50000000ull
#define AGAIN_MAX_NS 5000000000ull
#define REFUSED_NS   120000000000ull /* longer than the broker lets a loader live */
#define REPORTS_MAX  256
#define SLACK_NS     5000000000ull

struct jvm_loads {
	const struct broker *broker;
	const struct process_owners *owners;
	struct jvm_load_request request; /* with the agent's path */
	int agent_fd;			 /* -1: there is none */
	bool only_sampled;
	struct jvm_table table;
	VEC(struct jvm_report) reports;
	process_pids loaded;
	size_t next_look;
	bool skipped; /* a JVM was skipped; only the first one is reported */
	process_text text;
};

int jvm_loads_create(const struct broker *broker, const struct process_owners *owners,
		     const char *path, bool only_sampled, struct jvm_loads **ret)
{
	AUTO_CLOSE int fd = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct jvm_loads *loads;

	if (*path && fd < 0)
		return -errno;
	loads = calloc(1, sizeof(*loads));
	if (!loads)
		return -ENOMEM;
	loads->broker = broker;
	loads->owners = owners;
	loads->agent_fd = TAKE_FD(fd);
	loads->only_sampled = only_sampled;
	snprintf(loads->request.path, sizeof(loads->request.path), "%s", path);
	*ret = loads;
	return 0;
}

void jvm_loads_destroy(struct jvm_loads *loads)
{
	if (!loads)
		return;
	scope_close(&loads->agent_fd);
	jvm_table_deinit(&loads->table);
	vec_deinit(&loads->reports);
	vec_deinit(&loads->loaded);
	process_text_deinit(&loads->text);
	free(loads);
}

/*
 * The key of an owner: a user without cgroups, since a user can make any number of them; root with
 * its cgroup.
 */
static struct owner_key owner_of(const struct jvm_loads *loads, uint32_t pid)
{
	struct process_owner owner = process_owners_find(loads->owners, pid);
	struct owner_key key = process_owner_key(&owner);

	if (key.uid)
		key.cgroup = 0;
	return key;
}

static int read_stat(struct jvm_loads *loads, struct jvm *jvm)
{
	struct process_stat stat;

	if (process_stat_read(&loads->text, jvm->pid, &stat))
		return -ESRCH;
	jvm->start_ticks = stat.start_ticks;
	snprintf(jvm->comm, sizeof(jvm->comm), "%.*s", (int)stat.comm_bytes, stat.comm);
	return 0;
}

static int report(struct jvm_loads *loads, const struct jvm *jvm,
		  const struct jvm_load_reply *reply)
{
	uint64_t start_ns = process_ticks_ns(jvm->start_ticks), now_ns = clock_now_ns();
	struct jvm_report out = {
		.pid = jvm->pid,
		.age_ns = now_ns > start_ns ? now_ns - start_ns : 0,
		.reply = *reply,
	};

	memcpy(out.comm, jvm->comm, sizeof(out.comm));
	return loads->reports.size < REPORTS_MAX ? vec_push(&loads->reports, out) : 0;
}

/* Skip a JVM. Only the first one is reported. */
static int skip(struct jvm_loads *loads, struct jvm *jvm, enum jvm_load_result result)
{
	const struct jvm_load_reply reply = {.result = result};

	if (loads->skipped || read_stat(loads, jvm))
		return 0;
	loads->skipped = true;
	return report(loads, jvm, &reply);
}

int jvm_loads_see(struct jvm_loads *loads, uint32_t pid, const char *file, uint64_t time_ns)
{
	bool agent = jvm_is_agent(file);
	struct jvm *known =
		agent || jvm_is_library(file) ? jvm_table_find(&loads->table, pid) : NULL;
	struct jvm jvm = {
		.pid = pid,
		.seen_ns = time_ns,
		.settled = agent,
		.unsampled = loads->only_sampled,
		.socket = -1,
	};

	if (known) {
		/* While a loader runs, its answer settles the JVM. */
		known->settled |= agent && known->socket < 0;
		return 0;
	}
	if (!agent && !jvm_is_library(file))
		return 0;
	if (loads->agent_fd < 0 && !jvm.unsampled)
		return agent ? 0 : skip(loads, &jvm, JVM_AGENT_IS_MISSING);
	jvm.owner = owner_of(loads, pid);
	if (jvm_table_make_room(&loads->table, jvm.owner))
		return vec_push(&loads->table.jvms, jvm);
	return agent ? 0 : skip(loads, &jvm, JVM_IS_BEYOND_LIMIT);
}

int jvm_loads_sampled(struct jvm_loads *loads, uint32_t pid)
{
	struct jvm *jvm = loads->only_sampled && pid ? jvm_table_find(&loads->table, pid) : NULL;

	if (!jvm || !jvm->unsampled)
		return 0;
	jvm->unsampled = false;
	if (loads->agent_fd >= 0 || jvm->settled)
		return 0;
	jvm->settled = true;
	return skip(loads, jvm, JVM_AGENT_IS_MISSING);
}

void jvm_loads_forget(struct jvm_loads *loads, uint32_t pid, uint64_t time_ns)
{
	struct jvm *jvm = jvm_table_find(&loads->table, pid);

	if (!jvm || jvm->seen_ns > time_ns)
		return;
	jvm_settle(jvm);
	jvm->pid = 0;
	jvm_table_drop_ended(&loads->table);
}

/* Settle a JVM, and report the result unless the process has ended. */
static int end(struct jvm_loads *loads, struct jvm *jvm, const struct jvm_load_reply *reply)
{
	int err = 0;

	if (reply->result == JVM_LOADED && loads->loaded.size < REPORTS_MAX)
		err = vec_push(&loads->loaded, jvm->pid);
	jvm_settle(jvm);
	return err || reply->result == JVM_ENDED ? err : report(loads, jvm, reply);
}

/*
 * Returns true if no further attempt is made. A loader that ended without an answer (socket -1) was
 * refused by the broker, which limits their number.
 */
static bool gives_up(const struct jvm *jvm, enum jvm_load_result result, uint64_t now_ns)
{
	switch (result) {
	case JVM_IS_STARTING:
	case JVM_IS_STOPPED:
		return now_ns - jvm->begun_ns > JVM_GIVE_UP_NS;
	case JVM_LOAD_FAILED:
		return jvm->socket >= 0 || now_ns - jvm->begun_ns > REFUSED_NS;
	default:
		return true;
	}
}

static void try_later(struct jvm *jvm, uint64_t now_ns)
{
	jvm->again_ns = jvm->again_ns ? 2 * jvm->again_ns : AGAIN_NS;
	if (jvm->again_ns > AGAIN_MAX_NS)
		jvm->again_ns = AGAIN_MAX_NS;
	jvm->next_ns = now_ns + jvm->again_ns;
}

static int take_answer(struct jvm_loads *loads, struct jvm *jvm, uint64_t now_ns)
{
	struct pollfd waiting = {.fd = jvm->socket, .events = POLLIN};
	struct jvm_load_reply reply = {.result = JVM_IS_SILENT};
	int none;

	if (poll(&waiting, 1, 0) > 0) {
		ssize_t got = fd_message_receive(jvm->socket, &reply, sizeof(reply), &none);

		scope_close(&none);
		if (got <= 0)
			jvm_loader_closed(jvm);
		if (got != sizeof(reply))
			reply = (struct jvm_load_reply){.result = JVM_LOAD_FAILED, .err = -EPIPE};
	} else if (now_ns < jvm->end_ns) {
		return 0;
	}
	if (jvm->settled || jvm->answered)
		return 0;
	jvm->answered = true;
	reply.words[sizeof(reply.words) - 1] = 0;
	if (reply.result == JVM_IS_SILENT && jvm_table_silence(&loads->table, jvm->owner))
		return -ENOMEM;
	if (gives_up(jvm, reply.result, now_ns))
		return end(loads, jvm, &reply);
	jvm->stopped = reply.result == JVM_IS_STOPPED;
	try_later(jvm, now_ns);
	return 0;
}

static int begin(struct jvm_loads *loads, struct jvm *jvm, uint64_t now_ns)
{
	AUTO_CLOSE int socket = broker_connect(loads->broker, ROLE_LOADER);
	int err = socket < 0 ? socket : 0;

	if (!jvm->begun_ns)
		jvm->begun_ns = now_ns;
	loads->request.pid = jvm->pid;
	loads->request.start_ticks = jvm->start_ticks;
	err = err
		      ?: fd_message_send(socket, &loads->request, sizeof(loads->request),
					 loads->agent_fd);
	if (err == -EPIPE && !gives_up(jvm, JVM_LOAD_FAILED, now_ns)) {
		try_later(jvm, now_ns);
		return 0;
	}
	if (err)
		return end(loads, jvm,
			   &(struct jvm_load_reply){.result = JVM_LOAD_FAILED, .err = err});
	jvm->socket = TAKE_FD(socket);
	jvm->answered = false;
	jvm->end_ns = now_ns + JVM_LISTEN_NS + 2 * JVM_ASK_NS + JVM_LOAD_NS + SLACK_NS;
	return 0;
}

/* Read the state of a JVM. Returns 1 if it can take commands, 0 if not yet, or -ESRCH. */
static int look(struct jvm_loads *loads, struct jvm *jvm, uint64_t now_ns)
{
	struct jvm_status status;
	int err = read_stat(loads, jvm);

	if (err)
		return err;
	err = process_text_read(&loads->text, jvm->pid, "status") ?: vec_push(&loads->text, '\0');
	if (err || jvm_status_parse(loads->text.data, &status) || status.ended)
		return -ESRCH;
	jvm->owner = owner_of(loads, jvm->pid);
	/* With -Xrs, a JVM never catches SIGQUIT, but takes commands from its start. */
	return status.catches_quit || now_ns - jvm->first_ns > JVM_START_NS;
}

static int consider(struct jvm_loads *loads, struct jvm *jvm, uint64_t now_ns)
{
	int ready;

	if (jvm->settled || jvm->unsampled || jvm->socket >= 0 || now_ns < jvm->next_ns)
		return 0;
	if (!jvm->first_ns)
		jvm->first_ns = now_ns;
	ready = look(loads, jvm, now_ns);
	if (ready < 0) {
		jvm_settle(jvm);
		return 0;
	}
	if (!ready || !jvm_table_may_load(&loads->table, jvm->owner))
		return 0;
	return begin(loads, jvm, now_ns);
}

int jvm_loads_turn(struct jvm_loads *loads)
{
	size_t count, looks;
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	vec_for_each (jvm, &loads->table.jvms) {
		if (!err && jvm->socket >= 0)
			err = take_answer(loads, jvm, now_ns);
	}
	jvm_table_drop_ended(&loads->table);
	count = loads->table.jvms.size;
	looks = count < LOOKS_MAX ? count : LOOKS_MAX;
	for (size_t i = 0; i < looks && !err; i++) {
		loads->next_look = loads->next_look + 1 < count ? loads->next_look + 1 : 0;
		err = consider(loads, &loads->table.jvms.data[loads->next_look], now_ns);
	}
	return err;
}

int jvm_loads_end(struct jvm_loads *loads)
{
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	vec_for_each (jvm, &loads->table.jvms) {
		const struct jvm_load_reply reply = {.result = jvm->stopped ? JVM_IS_STOPPED
									    : JVM_NOT_ANSWERED};

		if (!err && !jvm->settled && !jvm->unsampled && look(loads, jvm, now_ns) >= 0)
			err = end(loads, jvm, &reply);
	}
	return err;
}

int jvm_loads_take_loaded(struct jvm_loads *loads, process_pids *ret)
{
	int err = 0;

	vec_for_each (pid, &loads->loaded)
		err = err ?: vec_push(ret, *pid);
	loads->loaded.size = 0;
	return err;
}

bool jvm_loads_are_pending(const struct jvm_loads *loads)
{
	vec_for_each (jvm, &loads->table.jvms) {
		if (!jvm->settled && !jvm->unsampled)
			return true;
	}
	return false;
}

bool jvm_loads_take(struct jvm_loads *loads, struct jvm_report *ret)
{
	if (!loads->reports.size)
		return false;
	*ret = loads->reports.data[0];
	loads->reports.size--;
	memmove(loads->reports.data, loads->reports.data + 1,
		loads->reports.size * sizeof(*loads->reports.data));
	return true;
}

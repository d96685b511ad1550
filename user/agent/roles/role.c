/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/role.h"

#include <errno.h>
#include <sys/capability.h>
#include <sys/resource.h>

#include "agent/roles/identity.h"
#include "agent/roles/landlock.h"
#include "agent/roles/privileges.h"
#include "agent/roles/system_calls.h"
#include "agent/roles/turns.h"

/* The recorder kills readers and the viewer, which have no call to signal it. */
enum { ID_RECORDER, ID_OPENER, ID_ATTACHER, ID_SIGNALLER, ID_SERVER };

static const struct role_rules rules[ROLE_COUNT] = {
	[ROLE_OPENER] =
		{
			.name = "jitbpf-files",
			.id = IDENTITY(ID_OPENER),
			.capabilities = PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_DAC_READ_SEARCH) |
					PRIVILEGE(CAP_CHECKPOINT_RESTORE),
			.live_max = 32,
			.calls = ROLE_CALLS_OPENER,
			.replaceable = true,
		},
	[ROLE_USER_OPENER] =
		{
			.name = "jitbpf-as-user",
			.of_user = true,
			.live_max = 32,
			.calls = ROLE_CALLS_USER_OPENER,
			.replaceable = true,
		},
	[ROLE_FETCHER] =
		{
			.name = "jitbpf-fetch",
			/* to become the invoking user, which it does first */
			.capabilities = PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID),
			.live_max = 2,
			.calls = ROLE_CALLS_COMMON,
			.replaceable = true,
		},
	[ROLE_ATTACHER] =
		{
			.name = "jitbpf-attach",
			.id = IDENTITY(ID_ATTACHER),
			/* uprobes need it on all kernels; CAP_PERFMON is not enough */
			.capabilities = PRIVILEGE(CAP_SYS_ADMIN),
			.live_max = 4,
			.calls = ROLE_CALLS_ATTACHER,
			.outlives = true,
		},
	[ROLE_SIGNALLER] =
		{
			.name = "jitbpf-signal",
			.id = IDENTITY(ID_SIGNALLER),
			.capabilities = PRIVILEGE(CAP_KILL),
			.live_max = 2,
			.calls = ROLE_CALLS_SIGNALLER,
		},
	[ROLE_LOADER] =
		{
			.name = "jitbpf-load",
			/* to open /proc of the JVM, and to become its user, which it does next */
			.capabilities = PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_DAC_READ_SEARCH) |
					PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID),
			.live_max = 8,
			.calls = ROLE_CALLS_LOADER,
			.outlives = true, /* it removes its files */
			.life_max_s = 80, /* the JVM's user may stop it */
		},
	[ROLE_READER] =
		{
			.name = "jitbpf-read",
			.id = IDENTITY(ID_RECORDER),
			.live_max = 8,
			.calls = ROLE_CALLS_READER,
			.replaceable = true,
			.forbids_files = true,
			.memory_max = 1ull << 30,
		},
	[ROLE_SERVER] =
		{
			.name = "jitbpf-serve",
			.id = IDENTITY(ID_SERVER),
			.live_max = 1,
			.calls = ROLE_CALLS_SERVER,
			.replaceable = true,
			.outlives = true, /* for seconds: browsers read the end of the run */
			.forbids_files = true,
			.memory_max = 256u << 20,
		},
	[ROLE_VIEWER] =
		{
			.name = "jitbpf-top",
			.id = IDENTITY(ID_RECORDER),
			.calls = ROLE_CALLS_VIEWER,
			.forbids_files = true,
			.memory_max = 1ull << 30,
		},
	[ROLE_RECORDER] =
		{
			.name = "jitbpf",
			.id = IDENTITY(ID_RECORDER),
			.calls = ROLE_CALLS_RECORDER,
			.readable = "/proc", /* which processes there are, and their names */
		},
};

const struct role_rules *role_rules(enum role role)
{
	return &rules[role];
}

uint64_t role_capabilities(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < ROLE_COUNT; i++)
		all |= rules[i].capabilities;
	return all;
}

/* Sanitizers reserve more address space than any limit. */
static int limit_memory(uint64_t max)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit limit = {.rlim_cur = max, .rlim_max = max};

	if (max && setrlimit(RLIMIT_AS, &limit))
		return -errno;
#endif
	return 0;
}

int role_enter(enum role role, uint64_t more)
{
	const struct role_rules *rule = &rules[role];
	uint64_t capabilities = rule->capabilities | more;
	int err = limit_memory(rule->memory_max);

	turns_shorten();
	if (!err && rule->id)
		err = identity_take(rule->id, rule->id);
	err = err ?: privileges_keep(capabilities, capabilities);
	if (!err && rule->forbids_files)
		err = landlock_forbid_all();
	else if (!err && rule->readable)
		err = landlock_read_only(rule->readable);
	return err ?: system_calls_limit(rule->calls);
}

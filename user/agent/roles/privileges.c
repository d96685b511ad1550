/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/privileges.h"

#include <errno.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/scope.h"

DEFINE_CLEANUP(cap_t, cap_free);

uint64_t privileges_held(void)
{
	CLEANUP(cap_freep) cap_t caps = cap_get_proc();
	cap_flag_value_t set;
	uint64_t held = 0;

	for (cap_value_t cap = 0; caps && cap < cap_max_bits(); cap++) {
		if (!cap_get_flag(caps, cap, CAP_PERMITTED, &set) && set == CAP_SET)
			held |= PRIVILEGE(cap);
	}
	return held;
}

/* Set the permitted and the effective set; the inheritable set becomes empty. */
static int set(uint64_t permitted, uint64_t effective)
{
	CLEANUP(cap_freep) cap_t caps = cap_init();
	int err = caps ? 0 : -ENOMEM;

	for (cap_value_t cap = 0; !err && cap < cap_max_bits(); cap++) {
		if (permitted & PRIVILEGE(cap))
			err = cap_set_flag(caps, CAP_PERMITTED, 1, &cap, CAP_SET);
		if (!err && effective & PRIVILEGE(cap))
			err = cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	}
	return err ?: cap_set_proc(caps) ? -errno : 0;
}

static int empty_bound(void)
{
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
		if (cap_get_bound(cap) > 0 && cap_drop_bound(cap))
			return -errno;
	}
	return 0;
}

int privileges_use(uint64_t use)
{
	uint64_t held = privileges_held();

	return set(held, held & use);
}

int privileges_keep(uint64_t keep, uint64_t use)
{
	uint64_t held = privileges_held();
	int err = set(held, held & PRIVILEGE(CAP_SETPCAP));

	/* Without CAP_SETPCAP, no_new_privs alone keeps an exec from gaining any. */
	if (!err && held & PRIVILEGE(CAP_SETPCAP))
		err = empty_bound();
	if (!err && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)))
		err = -errno;
	return err ?: set(held & keep, held & keep & use);
}

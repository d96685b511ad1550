/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user for whom jitbpf works: the one who called sudo, or else our own. Determined once, at the
 * start. The command runs as this user, and the outputs are opened as this user.
 *
 * sudo sets SUDO_UID, SUDO_GID and SUDO_USER, whatever the caller's environment has. But a service
 * or a script of root can get these variables from elsewhere. So they are accepted only if all of
 * these hold, and anything else is an error, since a wrong guess gives either root's rights to a
 * user's command, or root's recording to a user:
 * - All three are set, and both IDs are plain decimal numbers.
 * - The user database has that user with that ID, and the user is in that group.
 * - The user started this process: the login session is the user's (/proc/self/loginuid), or a
 *   process above this one has the user as its real user. A user who gets root to run jitbpf with
 *   variables that name somebody else is refused; with the user's own ID, nothing is gained.
 */
#ifndef JITBPF_AGENT_LAUNCH_INVOKING_USER_H
#define JITBPF_AGENT_LAUNCH_INVOKING_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct invoking_user {
	bool by_sudo; /* if false, all else but uid and gid is empty */
	uid_t uid;
	gid_t gid;
	char *name, *home;
	gid_t *groups; /* the group itself and all others of the user */
	int group_count;
};

/*
 * Returns 0; or a negative errno after writing one line to `words` that says what is wrong, and
 * what to do. Call invoking_user_deinit() after success.
 */
int invoking_user_find(struct invoking_user *ret, char *words, size_t words_bytes);
void invoking_user_deinit(struct invoking_user *user);

/*
 * Give this process the user's IDs and groups, and no capability; does nothing unless by_sudo.
 * Returns 0 or a negative errno, after which the process must exit.
 */
int invoking_user_become(const struct invoking_user *user);

#endif

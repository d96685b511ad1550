/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/invoking_user.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scope.h"

#define ANCESTORS_MAX 1000
#define ADVICE                                                                                     \
	"run jitbpf by sudo itself, or unset SUDO_UID, SUDO_GID and SUDO_USER to run all as root"

/* Parse a user or group ID as sudo writes it: no sign, no space, no leading zero. */
static bool parse_id(const char *text, uint32_t *ret)
{
	unsigned long long value = 0;
	size_t length = strlen(text);

	if (!length || length > 10 || (length > 1 && *text == '0'))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		value = value * 10 + (unsigned long long)(text[i] - '0');
	}
	if (value >= UINT32_MAX) /* which means "none" */
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* --- the user database ------------------------------------------------------------ */

static int find_groups(struct invoking_user *user)
{
	int room = 64;

	for (;;) {
		gid_t *groups = reallocarray(user->groups, (size_t)room, sizeof(*groups));
		int count = room;

		if (!groups)
			return -ENOMEM;
		user->groups = groups;
		if (getgrouplist(user->name, user->gid, groups, &count) >= 0) {
			user->group_count = count;
			return 0;
		}
		room = count > room ? count : 2 * room;
	}
}

/* Returns true if the user is in the group without being put there by SUDO_GID. */
static bool is_member(const struct invoking_user *user, gid_t primary)
{
	struct group *group;

	if (user->gid == primary)
		return true;
	group = getgrgid(user->gid);
	for (char **name = group ? group->gr_mem : NULL; name && *name; name++) {
		if (!strcmp(*name, user->name))
			return true;
	}
	return false;
}

/* Returns 0, -ENOENT if the user database says otherwise, or -ENOMEM. */
static int look_up(const char *name, struct invoking_user *user)
{
	const struct passwd *entry = getpwnam(name);
	gid_t primary;

	if (!entry || entry->pw_uid != user->uid)
		return -ENOENT;
	primary = entry->pw_gid;
	user->name = strdup(name);
	user->home = strdup(entry->pw_dir);
	if (!user->name || !user->home)
		return -ENOMEM;
	return is_member(user, primary) ? find_groups(user) : -ENOENT;
}

/* --- who started this process ------------------------------------------------------- */

/* Returns true if the process was found. *ret_parent is 0 for one without a parent. */
static bool read_status(pid_t pid, pid_t *ret_parent, uid_t *ret_uid)
{
	bool parent = false, uid = false;
	AUTO_FCLOSE FILE *file = NULL;
	char line[256];
	unsigned value;

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "PPid: %u", &value) == 1) {
			*ret_parent = (pid_t)value;
			parent = true;
		} else if (sscanf(line, "Uid: %u", &value) == 1) {
			*ret_uid = value;
			uid = true;
		}
	}
	return parent && uid;
}

static bool is_ancestor(uid_t wanted)
{
	pid_t pid = getpid();
	uid_t uid = 0;

	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (!read_status(pid, &pid, &uid))
			return false;
		if (uid == wanted)
			return true;
	}
	return false;
}

static bool is_login(uid_t wanted)
{
	AUTO_FCLOSE FILE *file = fopen("/proc/self/loginuid", "re");
	unsigned uid;

	return file && fscanf(file, "%u", &uid) == 1 && uid == wanted;
}

/* --- the answer ------------------------------------------------------------------------ */

static int refuse(char *words, size_t words_bytes, const char *what)
{
	snprintf(words, words_bytes, "%s: " ADVICE, what);
	return -EPERM;
}

static int find_sudo_user(struct invoking_user *user, char *words, size_t words_bytes)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID"),
		   *name = getenv("SUDO_USER");
	int err;

	if (!uid && !gid && !name)
		return 0;
	if (!uid || !gid || !name)
		return refuse(words, words_bytes,
			      "SUDO_UID, SUDO_GID and SUDO_USER are not all set");
	if (!parse_id(uid, &user->uid))
		return refuse(words, words_bytes, "SUDO_UID is not a user ID");
	if (!parse_id(gid, &user->gid))
		return refuse(words, words_bytes, "SUDO_GID is not a group ID");
	err = look_up(name, user);
	if (err == -ENOENT)
		return refuse(words, words_bytes,
			      "SUDO_UID, SUDO_GID and SUDO_USER contradict the user database");
	if (err) {
		snprintf(words, words_bytes, "looking up SUDO_USER: %s", strerror(-err));
		return err;
	}
	if (user->uid && !is_login(user->uid) && !is_ancestor(user->uid))
		return refuse(words, words_bytes,
			      "the user in SUDO_USER did not start this process");
	user->by_sudo = user->uid != 0;
	return 0;
}

int invoking_user_find(struct invoking_user *ret, char *words, size_t words_bytes)
{
	struct invoking_user user = {.uid = geteuid(), .gid = getegid()};
	int err = 0;

	if (!geteuid() && getuid()) {
		snprintf(
			words, words_bytes,
			"jitbpf must not be set-user-ID: remove the bit (chmod u-s), and use sudo");
		return -EPERM;
	}
	if (!geteuid())
		err = find_sudo_user(&user, words, words_bytes);
	if (err || !user.by_sudo) {
		invoking_user_deinit(&user);
		user = (struct invoking_user){.uid = geteuid(), .gid = getegid()};
	}
	if (!err)
		*ret = user;
	return err;
}

void invoking_user_deinit(struct invoking_user *user)
{
	free(user->name);
	free(user->home);
	free(user->groups);
	user->name = user->home = NULL;
	user->groups = NULL;
}

int invoking_user_become(const struct invoking_user *user)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (!user->by_sudo)
		return 0;
	if (setgroups((size_t)user->group_count, user->groups) ||
	    setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -errno;
	/* The kernel drops them with the user ID, except the inheritable ones. */
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

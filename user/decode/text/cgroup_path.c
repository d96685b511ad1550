/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/text/cgroup_path.h"

#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"

#define ID_CHARACTERS 64

/* Undo systemd's escapes, such as \x2d. Returns false if the result is too long or no text. */
static bool unescape(const char *from, size_t bytes, char ret[JITBPF_CGROUP_NAME_MAX])
{
	size_t size = 0;

	for (size_t i = 0; i < bytes; size++) {
		unsigned int character = (unsigned char)from[i];
		int taken = 0;

		if (size == JITBPF_CGROUP_NAME_MAX - 1)
			return false;
		if (from[i] == '\\' && bytes - i >= 4)
			sscanf(from + i, "\\x%2x%n", &character, &taken);
		ret[size] = (char)character;
		i += taken == 4 ? 4 : 1;
		if (!ret[size])
			return false;
	}
	ret[size] = '\0';
	return size;
}

bool cgroup_path_container(const char *directory, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const struct {
		const char *before, *after;
		bool has_id;
	} forms[] = {
		{"docker-", ".scope", true},
		{"libpod-", ".scope", true},
		{"libpod-", "", true},
		{"crio-", ".scope", true},
		{"cri-containerd-", ".scope", true},
		{"nerdctl-", ".scope", true},
		{"", "", true},
		{"lxc.payload.", "", false},
		{"machine-", ".scope", false},
		{"systemd-nspawn@", ".service", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t before = strlen(forms[i].before), bytes;

		if (!begins_with(directory, forms[i].before) ||
		    !ends_with(directory, forms[i].after))
			continue;
		bytes = strlen(directory);
		if (bytes <= before + strlen(forms[i].after))
			continue;
		bytes -= before + strlen(forms[i].after);
		if (forms[i].has_id &&
		    (bytes != ID_CHARACTERS ||
		     strspn(directory + before, "0123456789abcdef") < ID_CHARACTERS))
			continue;
		return unescape(directory + before, bytes, ret);
	}
	return false;
}

static bool is_unit(const char *directory)
{
	return ends_with(directory, ".service") || ends_with(directory, ".scope");
}

bool cgroup_path_next(const char **path, char ret[JITBPF_CGROUP_NAME_MAX])
{
	size_t bytes;

	do {
		*path += strspn(*path, "/");
		bytes = strcspn(*path, "/");
		if (!bytes)
			return false;
		snprintf(ret, JITBPF_CGROUP_NAME_MAX, "%.*s", (int)bytes, *path);
		*path += bytes;
	} while (bytes >= JITBPF_CGROUP_NAME_MAX);
	return true;
}

bool cgroup_path_is_delegated(const char *directory)
{
	char container[JITBPF_CGROUP_NAME_MAX];

	return is_unit(directory) || cgroup_path_container(directory, container);
}

void cgroup_path_names(const char *path, struct cgroup_path_names *ret)
{
	char directory[JITBPF_CGROUP_NAME_MAX], container[JITBPF_CGROUP_NAME_MAX];
	const char *outermost = NULL;
	int bytes;

	memset(ret, 0, sizeof(*ret));
	while (cgroup_path_next(&path, directory)) {
		if (cgroup_path_container(directory, container)) {
			strcpy(ret->container, container);
			if (outermost && !*ret->within)
				snprintf(ret->within, sizeof(ret->within), "%.*s",
					 (int)strcspn(outermost, "/"), outermost);
		} else if (is_unit(directory)) {
			outermost = outermost ?: path - strlen(directory);
			bytes = snprintf(ret->unit, sizeof(ret->unit), "%.*s",
					 (int)(path - outermost), outermost);
			if (bytes >= JITBPF_CGROUP_NAME_MAX)
				*ret->unit = '\0';
		}
	}
}

bool cgroup_path_user(const char *path, uint32_t *ret)
{
	static const char begin[] = "/user.slice/user-";
	uint64_t user = 0;
	const char *at;

	if (!begins_with(path, begin))
		return false;
	for (at = path + strlen(begin); *at >= '0' && *at <= '9' && user <= UINT32_MAX; at++)
		user = user * 10 + (uint64_t)(*at - '0');
	if (at == path + strlen(begin) || user >= UINT32_MAX || !begins_with(at, ".slice/"))
		return false;
	*ret = (uint32_t)user;
	return true;
}

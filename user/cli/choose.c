/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/choose.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/kernel/proc/process_scan.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

static int refuse(const char *option, const char *value, const char *why)
{
	CLEANUP(text_deinit) struct text text = {0};

	text_printf(&text, "jitbpf: %s ", option);
	text_put_name(&text, *value ? value : "''", 0, 0);
	text_printf(&text, ": %s\n", why);
	text_write(&text, stderr);
	return EXIT_USAGE;
}

/* --- processes ------------------------------------------------------------------------ */

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static int add_pid(struct choice *choice, const char *text)
{
	unsigned long long pid = strtoull(text, NULL, 10);

	if (!pid || pid > INT32_MAX)
		return refuse("-p", text, "a pid is a number from 1 to 2147483647");
	return vec_push(&choice->pids, (uint32_t)pid) ? EXIT_FAILURE : OPTIONS_OK;
}

static int add_name(struct choice *choice, const char *name)
{
	struct live_filter *filter = &choice->filter;

	if (!*name)
		return refuse("-p", name, "a pid or a name is missing");
	if (strlen(name) >= JITBPF_FILTER_NAME_BYTES)
		return refuse("-p", name, "names of processes have at most 63 bytes here");
	if (filter->name_count == JITBPF_FILTER_NAMES_MAX)
		return refuse("-p", name, "at most 8 names can be given");
	strcpy(filter->names[filter->name_count++], name);
	return OPTIONS_OK;
}

static int add_processes(struct choice *choice, const char *list)
{
	int status = OPTIONS_OK;

	for (bool more = true; more && status == OPTIONS_OK;) {
		const char *end = strchrnul(list, ',');
		AUTO_FREE char *item = strndup(list, (size_t)(end - list));

		if (!item)
			return EXIT_FAILURE;
		status = is_number(item) ? add_pid(choice, item) : add_name(choice, item);
		more = *end;
		list = end + 1;
	}
	if (status == OPTIONS_OK && choice->pids.size && choice->filter.name_count)
		return refuse("-p", choice->filter.names[0],
			      "pids and names cannot be combined: use 'pgrep NAME' for its pids");
	return status;
}

static bool runs(const struct live_filter *filter, uint32_t item, uint32_t pid)
{
	const char *name = filter->names[item];
	char path[64], text[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	bytes = readlink(path, text, sizeof(text) - 1);
	text[bytes > 0 ? bytes : 0] = '\0';
	if (!strcmp(path_file(text), name))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[bytes > 0 ? bytes - 1 : 0] = '\0';
	return !strcmp(text, name);
}

static bool one_runs(const struct live_filter *filter, uint32_t item, const process_pids *pids)
{
	vec_for_each (pid, pids) {
		if (runs(filter, item, *pid))
			return true;
	}
	return false;
}

/* A process of a name may start later; but a name can be misspelled, too. */
static void say_which_do_not_run(const struct live_filter *filter)
{
	process_pids pids = {0};

	if (filter->name_count && process_scan_list(&pids))
		return;
	for (uint32_t i = 0; i < filter->name_count; i++) {
		if (!one_runs(filter, i, &pids))
			say("jitbpf: no process of the name '%s' runs; those that start later "
			    "are profiled\n",
			    filter->names[i]);
	}
	vec_deinit(&pids);
}

static int add_running(const struct live_filter *filter, pid_list *ret)
{
	process_pids pids = {0};
	int err = filter->name_count ? process_scan_list(&pids) : 0;

	for (uint32_t i = 0; i < filter->name_count && !err; i++) {
		if (!one_runs(filter, i, &pids))
			say("jitbpf: no process of the name '%s' runs\n", filter->names[i]);
	}
	vec_for_each (pid, &pids) {
		bool wanted = false;

		for (uint32_t i = 0; i < filter->name_count && !wanted; i++)
			wanted = runs(filter, i, *pid);
		if (wanted && !err)
			err = vec_push(ret, *pid);
	}
	vec_deinit(&pids);
	return err;
}

static int add_once(const pid_list *pids, pid_list *ret)
{
	vec_for_each (pid, pids) {
		bool known = false;

		vec_for_each (other, ret)
			known |= *other == *pid;
		if (!known && vec_push(ret, *pid))
			return -ENOMEM;
	}
	return 0;
}

int choice_find_running(const string_list *processes, pid_list *ret)
{
	struct choice choice = {0};
	int status = OPTIONS_OK, err;

	vec_for_each (list, processes) {
		if (status == OPTIONS_OK)
			status = add_processes(&choice, *list);
	}
	if (status == OPTIONS_OK) {
		err = add_once(&choice.pids, ret);
		err = err ?: add_running(&choice.filter, ret);
		if (err)
			say("jitbpf: finding processes: %s\n", strerror(-err));
		status = err ? EXIT_FAILURE : OPTIONS_OK;
	}
	choice_deinit(&choice);
	return status;
}

/* --- users ---------------------------------------------------------------------------- */

static int add_user(struct choice *choice, const char *text)
{
	struct live_filter *filter = &choice->filter;
	const struct passwd *user = getpwnam(text);
	unsigned long long uid = user ? user->pw_uid : strtoull(text, NULL, 10);

	if (!*text)
		return refuse("-u", text, "a user is missing");
	if (!user && (!is_number(text) || uid >= UINT32_MAX))
		return refuse("-u", text, "there is no such user");
	if (filter->user_count == JITBPF_FILTER_USERS_MAX)
		return refuse("-u", text, "at most 8 users can be given");
	filter->users[filter->user_count++] = (uint32_t)uid;
	return OPTIONS_OK;
}

/* --- cgroups --------------------------------------------------------------------------- */

static int refuse_ambiguous(struct choice *choice, size_t before, const char *option,
			    const char *name)
{
	CLEANUP(text_deinit) struct text text = {0};

	refuse(option, name, "several cgroups match: choose one of them with -G:");
	for (size_t i = before; i < choice->cgroups.size; i++) {
		text_put_string(&text, "  ");
		text_put_name(&text, choice->cgroups.data[i].path, 0, 0);
		text_put_string(&text, "\n");
	}
	text_write(&text, stderr);
	return EXIT_USAGE;
}

static int add_cgroup(struct choice *choice, const char *mount, const char *name)
{
	size_t before = choice->cgroups.size;
	int err = *name ? cgroups_find(mount, name, &choice->cgroups) : -EINVAL;

	if (!*name) /* else that is the root of all cgroups */
		return refuse("-G", name, "a cgroup or unit is missing; all processes are in '/'");
	if (err == -ENOENT)
		return refuse("-G", name,
			      "there is no such cgroup or unit: 'systemd-cgls' shows them, and "
			      "/proc/PID/cgroup that of a process");
	if (err == -EXDEV)
		return refuse("-G", name, "that is no cgroup of version 2");
	if (err == -EEXIST)
		return refuse_ambiguous(choice, before, "-G", name);
	return err ? refuse("-G", name, strerror(-err)) : OPTIONS_OK;
}

static int add_container(struct choice *choice, const char *mount, const char *name)
{
	size_t before = choice->cgroups.size;
	int err = *name ? cgroups_find_container(mount, "", name, &choice->cgroups) : -EINVAL;

	if (!*name)
		return refuse("--container", name, "an ID or a name is missing");
	if (err == -ENOENT)
		return refuse(
			"--container", name,
			"no running container has this ID or name: choose its cgroup with -G");
	if (err == -EEXIST)
		return refuse_ambiguous(choice, before, "--container", name);
	return err ? refuse("--container", name, strerror(-err)) : OPTIONS_OK;
}

static int fill_cgroups(struct choice *choice)
{
	struct live_filter *filter = &choice->filter;

	if (choice->cgroups.size > JITBPF_FILTER_CGROUPS_MAX) {
		say("jitbpf: %zu cgroups are chosen, and at most %d are possible: choose a "
		    "parent cgroup with -G\n",
		    choice->cgroups.size, JITBPF_FILTER_CGROUPS_MAX);
		return EXIT_USAGE;
	}
	vec_for_each (cgroup, &choice->cgroups)
		filter->cgroup_fds[filter->cgroup_count++] = cgroup->fd;
	return OPTIONS_OK;
}

static int add_cgroups(const struct choice_options *options, struct choice *choice)
{
	AUTO_FREE char *mount = NULL;
	int status = OPTIONS_OK, err = cgroups_mount(&mount);

	if (err) {
		say("jitbpf: -G and --container need cgroup version 2, which is not mounted "
		    "(%s): choose processes with -p or -u\n",
		    strerror(-err));
		return EXIT_UNSUPPORTED;
	}
	vec_for_each (name, &options->cgroups) {
		if (status == OPTIONS_OK)
			status = add_cgroup(choice, mount, *name);
	}
	vec_for_each (name, &options->containers) {
		if (status == OPTIONS_OK)
			status = add_container(choice, mount, *name);
	}
	return status == OPTIONS_OK ? fill_cgroups(choice) : status;
}

/* --- all ------------------------------------------------------------------------------- */

static int exclude_self(struct live_filter *filter)
{
	struct stat own;

	if (stat("/proc/self/exe", &own)) {
		say("jitbpf: --exclude-self: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	filter->skips_file = true;
	filter->file_device = own.st_dev;
	filter->file_inode = own.st_ino;
	return OPTIONS_OK;
}

int choice_make(const struct choice_options *options, struct choice *ret)
{
	int status = options->exclude_self ? exclude_self(&ret->filter) : OPTIONS_OK;

	vec_for_each (list, &options->processes) {
		if (status == OPTIONS_OK)
			status = add_processes(ret, *list);
	}
	vec_for_each (user, &options->users) {
		if (status == OPTIONS_OK)
			status = add_user(ret, *user);
	}
	if (status == OPTIONS_OK && (options->cgroups.size || options->containers.size))
		status = add_cgroups(options, ret);
	if (status == OPTIONS_OK)
		say_which_do_not_run(&ret->filter);
	return status;
}

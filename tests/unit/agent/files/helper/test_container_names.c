/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/helper/container_names.h"
#include "agent/files/helper/nerdctl_names.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define B16 "bbbbbbbbbbbbbbbb"
#define C16 "0123456789abcdef"
#define A   A16 A16 A16 A16
#define B   B16 B16 B16 B16
#define C   C16 C16 C16 C16

/* A root with the files of runtimes. */
static char *make_root(void)
{
	char *root = strdup("/tmp/jitbpf-test-XXXXXX");

	assert_non_null(mkdtemp(root));
	return root;
}

static void put(const char *root, const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(whole, sizeof(whole), "%s%.*s", root, (int)(at - path), path);
		mkdir(whole, 0755);
	}
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	file = fopen(whole, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_root(char *root)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	free(root);
}

static void check_ids(const char *root, const char *name, const char *first, const char *second)
{
	name_list ids = {0};

	assert_int_equal(container_ids_of_name(root, name, &ids), 0);
	assert_int_equal(ids.size, !!first + !!second);
	if (first)
		assert_string_equal(ids.data[0], first);
	if (second)
		assert_string_equal(ids.data[1], second);
	name_list_deinit(&ids);
}

CASE(test_docker)
{
	char *root = make_root();

	put(root, "/var/lib/docker/containers/" A "/config.v2.json",
	    "{\"State\":{},\"ID\":\"" A "\",\"Name\":\"/web\",\"Driver\":\"overlay2\"}");
	put(root, "/var/lib/docker/containers/" B "/config.v2.json", "{\"Name\":\"/web2\"}");
	put(root, "/var/lib/docker/containers/junk/config.v2.json", "{\"Name\":\"/web\"}");
	check_ids(root, "web", A, NULL);
	check_ids(root, "web2", B, NULL);
	check_ids(root, "we", NULL, NULL);
	check_ids(root, "", NULL, NULL);
	check_ids(root, "web\",\"Driver", NULL, NULL);
	remove_root(root);
}

CASE(test_podman)
{
	static const char path[] = "/var/lib/containers/storage/overlay-containers/containers.json";
	char *root = make_root();

	put(root, path,
	    "[{\"id\":\"" A "\",\"names\":[\"db\",\"other\"],\"image\":\"" C "\"},"
	    "{\"id\":\"" B "\",\"image\":\"db\"},"
	    "{\"id\":\"" C "\",\"names\":[\"web\"]}]");
	check_ids(root, "db", A, NULL);
	check_ids(root, "other", A, NULL);
	check_ids(root, "web", C, NULL);
	put(root, path, "[{\"id\":\"" A "\",\"names\":[\"db\"");
	check_ids(root, "db", NULL, NULL);
	remove_root(root);
}

/* Containers of --rm are in files of their own, and another storage has files of its own. */
CASE(test_podman_storages)
{
	char *root = make_root();

	put(root, "/var/lib/containers/storage/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" A "\",\"names\":[\"removed\"]}]");
	put(root, "/var/lib/containers/storage/vfs-containers/containers.json",
	    "[{\"id\":\"" B "\",\"names\":[\"plain\"]}]");
	put(root, "/var/lib/containers/storage/vfs-containers/volatile-containers.json",
	    "[{\"id\":\"" C "\",\"names\":[\"both\"]}]");
	check_ids(root, "removed", A, NULL);
	check_ids(root, "plain", B, NULL);
	check_ids(root, "both", C, NULL);
	remove_root(root);
}

CASE(test_kubernetes)
{
	char *root = make_root();

	put(root, "/var/log/containers/web-1_default_server-" A ".log", "");
	put(root, "/var/log/containers/web-1_default_side-car-" B ".log", "");
	put(root, "/var/log/containers/web-1_default_server-short.log", "");
	put(root, "/var/log/containers/no-container-" C ".log", "");
	check_ids(root, "server", A, NULL);
	check_ids(root, "side-car", B, NULL);
	check_ids(root, "default", NULL, NULL);
	remove_root(root);
}

CASE(test_pod_of_two)
{
	char *root = make_root();
	name_list ids = {0};

	put(root, "/var/log/containers/web-1_default_server-" A ".log", "");
	put(root, "/var/log/containers/web-1_default_side-car-" B ".log", "");
	assert_int_equal(container_ids_of_name(root, "web-1", &ids), 0);
	assert_int_equal(ids.size, 2);
	name_list_deinit(&ids);
	remove_root(root);
}

static void check_name(const char *root, const char *id, const char *name)
{
	char found[JITBPF_CGROUP_NAME_MAX];
	int err = container_name_of_id(root, id, found);

	assert_int_equal(err, name ? 0 : -ENOENT);
	if (name)
		assert_string_equal(found, name);
}

CASE(test_names_of_ids)
{
	char *root = make_root(), text[600] = "{\"Name\":\"/";

	put(root, "/var/lib/docker/containers/" A "/config.v2.json",
	    "{\"Config\":{\"Env\":[\"\\\"Name\\\":\\\"/fake\\\"\"],\"Policy\":{\"Name\":\"no\"}},"
	    "\"Name\":\"/web\"}");
	check_name(root, A, "web");
	check_name(root, B, NULL);
	check_name(root, "../" A, NULL);
	check_name(root, A16, NULL);
	put(root, "/var/lib/docker/containers/" A "/config.v2.json", "{\"Name\":\"/cut");
	check_name(root, A, NULL);
	memset(text + strlen(text), 'x', 300);
	strcat(text, "\"}");
	put(root, "/var/lib/docker/containers/" A "/config.v2.json", text);
	check_name(root, A, NULL);
	put(root, "/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"" B "\",\"image\":\"x\"},{\"id\":\"" C "\",\"names\":[\"db\",\"other\"]}]");
	check_name(root, C, "db");
	check_name(root, B, NULL);
	put(root, "/var/log/containers/web-1_default_side-car-" B ".log", "");
	check_name(root, B, "web-1/side-car");
	remove_root(root);
}

static void check_name_of_user(const char *root, uint32_t uid, const char *id, const char *name)
{
	char found[JITBPF_CGROUP_NAME_MAX];
	int err = container_name_of_user(root, uid, id, found);

	assert_int_equal(err, name ? 0 : -ENOENT);
	if (name)
		assert_string_equal(found, name);
}

static void put_passwd(const char *root)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "root:x:4000000:0::/:/bin/sh\nshort:x:%u\n\n12:x:4000001:0:a:relative:\n"
		 "anna:x:%u:100:Anna,,,:/home/anna:/bin/sh\nlate:x:%u:0::/home/late:",
		 geteuid(), geteuid(), geteuid());
	put(root, "/etc/passwd", text);
}

#define ANNA	   "/home/anna/.local/share/"
#define CONTAINERS ANNA "containers/storage/"

CASE(test_names_of_users)
{
	char *root = make_root();
	uint32_t uid = geteuid();

	put(root, CONTAINERS "overlay-containers/containers.json",
	    "[{\"id\":\"" A "\",\"names\":[\"web\"]}]");
	check_name_of_user(root, uid, A, NULL); /* without /etc/passwd */
	put_passwd(root);
	put(root, CONTAINERS "overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" C "\",\"names\":[\"tmp\"]}]");
	put(root, ANNA "docker/containers/" B "/config.v2.json", "{\"Name\":\"/db\"}");
	check_name_of_user(root, uid, A, "web");
	check_name_of_user(root, uid, B, "db");
	check_name_of_user(root, uid, C, "tmp");
	check_name_of_user(root, uid, "../" A, NULL);
	check_name_of_user(root, uid + 1, A, NULL);
	check_name_of_user(root, 4000000, A, NULL);
	check_name_of_user(root, 4000001, A, NULL);
	check_name(root, A, NULL);
	remove_root(root);
}

/* A file of nothing but beginnings of containers takes no longer than another one. */
CASE(test_many_containers)
{
	static const char storage[] = "/var/lib/containers/storage/overlay-containers/";
	static const char begin[] = "\"id\":\"", end[] = "\"id\":\"" A "\",\"names\":[\"last\"]";
	size_t count = ((64u << 10) - sizeof(end)) / strlen(begin);
	char *root = make_root(), *text = malloc(count * strlen(begin) + sizeof(end)), path[512];

	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * strlen(begin), begin, strlen(begin));
	memcpy(text + count * strlen(begin), end, sizeof(end));
	put_passwd(root);
	put(root, CONTAINERS "overlay-containers/containers.json", text);
	check_name_of_user(root, geteuid(), B, NULL);
	check_name_of_user(root, geteuid(), A, "last");
	snprintf(path, sizeof(path), "%scontainers.json", storage);
	put(root, path, text);
	check_ids(root, "last", A, NULL);
	free(text);
	remove_root(root);
}

/* What a user puts into the home is read only if it is a file of the user in it. */
CASE(test_hostile_home)
{
	static const char file[] = CONTAINERS "overlay-containers/containers.json";
	char *root = make_root(), path[512], target[512];
	uint32_t uid = geteuid();

	put_passwd(root);
	put(root, "/secret", "[{\"id\":\"" A "\",\"names\":[\"secret\"]}]");
	put(root, file, "");
	snprintf(path, sizeof(path), "%s%s", root, file);
	snprintf(target, sizeof(target), "%s/secret", root);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	check_name_of_user(root, uid, A, NULL);
	unlink(path);
	assert_int_equal(symlink("../../../../../../../secret", path), 0);
	check_name_of_user(root, uid, A, NULL);
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
	check_name_of_user(root, uid, A, NULL);
	unlink(path);
	put(root, file, "x");
	assert_int_equal(truncate(path, 1ll << 32), 0);
	check_name_of_user(root, uid, A, NULL);
	if (!uid) {
		put(root, file, "[{\"id\":\"" A "\",\"names\":[\"web\"]}]");
		check_name_of_user(root, uid, A, "web");
		assert_int_equal(chown(path, 65534, 65534), 0);
		check_name_of_user(root, uid, A, NULL);
	}
	remove_root(root);
}

static bool count_one(void *count, const char *name, const char *id)
{
	(*(uint32_t *)count)++;
	return true;
}

/* Returns the number of names that are read in the home. */
static uint32_t count_nerdctl(const char *root)
{
	char path[512];
	uint32_t count = 0;
	int home;

	snprintf(path, sizeof(path), "%s/home/anna", root);
	home = open(path, O_PATH | O_DIRECTORY);
	assert_true(home >= 0);
	nerdctl_names_read(home, ".local/share/nerdctl", geteuid(), count_one, &count);
	close(home);
	return count;
}

#define NERDCTL	     "/var/lib/nerdctl/1935db59/"
#define NERDCTL_ANNA ANNA "nerdctl/1935db59/"

CASE(test_nerdctl)
{
	char *root = make_root(), long_name[300] = NERDCTL "names/default/", *end;
	uint32_t uid = geteuid();

	put(root, NERDCTL "names/default/web", A);
	put(root, NERDCTL "names/k8s.io/web", B "\n");
	put(root, NERDCTL "names/default/short", "abc");
	put(root, NERDCTL "names/default/more", C "x\n");
	put(root, NERDCTL "names/default/no id", "g" B);
	put(root, NERDCTL "containers/default/" A "/hostname", "host");
	put(root, "/var/lib/nerdctl/volumes", "");
	check_name(root, A, "web");
	check_name(root, B, "web");
	check_name(root, C, NULL);
	check_name_of_user(root, uid, A, NULL);
	check_ids(root, "short", NULL, NULL);
	check_ids(root, "more", NULL, NULL);
	check_ids(root, "../default/web", NULL, NULL);
	/* A newer name in another store. */
	end = long_name + strlen(long_name);
	memset(end, 'x', 255);
	put(root, long_name, C);
	check_name(root, C, end);
	put_passwd(root);
	put(root, NERDCTL_ANNA "names/default/mine", C);
	check_name_of_user(root, uid, C, "mine");
	check_name_of_user(root, uid, A, NULL);
	remove_root(root);
}

/* A user's folder leads nowhere else, and is not read without end. */
CASE(test_hostile_nerdctl)
{
	static const char names[] = NERDCTL_ANNA "names/default/";
	char *root = make_root(), path[512], target[512];
	uint32_t uid = geteuid();

	put_passwd(root);
	put(root, NERDCTL_ANNA "names/default/fifo/x", "");
	put(root, "/outside/names/default/secret", A);
	snprintf(target, sizeof(target), "%s/outside", root);
	snprintf(path, sizeof(path), "%s" ANNA "nerdctl/link", root);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s%spipe", root, names);
	assert_int_equal(mkfifo(path, 0644), 0);
	check_name_of_user(root, uid, A, NULL);
	snprintf(path, sizeof(path), "%s%slink", root, names);
	snprintf(target, sizeof(target), "%s/outside/names/default/secret", root);
	assert_int_equal(symlink(target, path), 0);
	check_name_of_user(root, uid, A, NULL);
	put(root, NERDCTL_ANNA "names/default/mine", A);
	check_name_of_user(root, uid, A, "mine");
	for (int i = 0; i < NERDCTL_ENTRIES_MAX; i++) {
		snprintf(path, sizeof(path), "%s%d", names, i);
		put(root, path, B);
	}
	assert_true(count_nerdctl(root) <= NERDCTL_ENTRIES_MAX);
	remove_root(root);
}

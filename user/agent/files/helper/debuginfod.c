/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

#define ROOT_CACHE "/var/cache/jitbpf"

typedef struct debuginfod_client client;

/* The functions of libdebuginfod, which is loaded at run time if it is installed. */
struct debuginfod_library {
	client *(*begin)(void);
	void (*end)(client *);
	int (*find_debuginfo)(client *, const unsigned char *build_id, int build_id_bytes,
			      char **ret_path);
};

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	uint64_t value = text && *text ? strtoull(text, NULL, 10) : 0;

	return value ? value : otherwise;
}

bool debuginfod_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

uint32_t debuginfod_maxtime_s(void)
{
	uint64_t wanted = number_from_environment("DEBUGINFOD_MAXTIME", DEBUGINFOD_MAXTIME_S);

	return wanted < 3600 ? (uint32_t)wanted : 3600;
}

static int load_library(struct debuginfod_library *ret)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ENOSYS;
	*ret = (struct debuginfod_library){
		.begin = dlsym(handle, "debuginfod_begin"),
		.end = dlsym(handle, "debuginfod_end"),
		.find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo"),
	};
	return ret->begin && ret->end && ret->find_debuginfo ? 0 : -ENOSYS;
}

/* Returns true if all existing components of a path belong to our user or to root. */
static bool is_ours(const char *path)
{
	char above[PATH_MAX];
	struct stat st;

	for (size_t length = 1; *path == '/' && length < sizeof(above); length++) {
		if (path[length] != '/' && path[length])
			continue;
		memcpy(above, path, length);
		above[length] = 0;
		if (lstat(above, &st))
			return errno == ENOENT;
		if (st.st_uid && st.st_uid != geteuid())
			return false;
		if (!path[length])
			return true;
	}
	return false;
}

/*
 * Set the cache directory. Without SUDO_UID, HOME may be another user's: root's
 * files must not be created there, and links that this user made there must not
 * be followed.
 */
static int choose_cache(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{"DEBUGINFOD_CACHE_PATH", ""},
		{"XDG_CACHE_HOME", "/debuginfod_client"},
		{"HOME", "/.cache/debuginfod_client"},
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *value = getenv(places[i].variable);

		if (!value || !*value)
			continue;
		if (snprintf(path, sizeof(path), "%s%s", value, places[i].below) >=
			    (int)sizeof(path) ||
		    !is_ours(path))
			break;
		return setenv("DEBUGINFOD_CACHE_PATH", path, 1) ? -ENOMEM : 0;
	}
	if (geteuid())
		return -EPERM;
	return setenv("DEBUGINFOD_CACHE_PATH", ROOT_CACHE, 1) ? -ENOMEM : 0;
}

static int set_number(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return setenv(name, text, 1) ? -ENOMEM : 0;
}

/* The library knows a file's size only if the server reports it; RLIMIT_FSIZE always works. */
static int limit_size(uint64_t size_bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &limit))
		return -errno;
	if (size_bytes < limit.rlim_cur)
		limit.rlim_cur = size_bytes;
	return setrlimit(RLIMIT_FSIZE, &limit) ? -errno : 0;
}

/* The library enforces the time limits, and the size limit if the server reports the size. */
static int set_limits(void)
{
	uint64_t timeout_s = number_from_environment("DEBUGINFOD_TIMEOUT", DEBUGINFOD_TIMEOUT_S);
	uint64_t size_bytes = number_from_environment("DEBUGINFOD_MAXSIZE", DEBUGINFOD_MAXSIZE);
	int err = limit_size(size_bytes);

	err = err ?: set_number("DEBUGINFOD_TIMEOUT", timeout_s);
	err = err ?: set_number("DEBUGINFOD_MAXTIME", debuginfod_maxtime_s());
	return err ?: set_number("DEBUGINFOD_MAXSIZE", size_bytes);
}

static int fetch(const struct debuginfod_library *library, const uint8_t *build_id,
		 uint32_t build_id_bytes)
{
	client *client_ = library->begin();
	int fd;

	if (!client_)
		return -ENOMEM;
	fd = library->find_debuginfo(client_, build_id, (int)build_id_bytes, NULL);
	library->end(client_);
	return fd;
}

int debuginfod_find(const uint8_t *build_id, uint32_t build_id_bytes)
{
	struct debuginfod_library library;
	AUTO_CLOSE int fd = -1;
	char link[64];
	int err = load_library(&library);

	err = err ?: choose_cache();
	err = err ?: set_limits();
	if (err)
		return err;
	fd = fetch(&library, build_id, build_id_bytes);
	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	err = open(link, O_PATH | O_CLOEXEC);
	return err < 0 ? -errno : err;
}

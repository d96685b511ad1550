/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/package_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "base/text.h"

#define DATA_BASE      "/var/lib/dpkg/info"
#define DIVERSIONS     "/var/lib/dpkg/diversions"
#define RELEASE_MAX    (64u << 10)
#define NAME_MAX_BYTES 128 /* of a package, with its NUL */
#define PATH_BYTES     4096
#define WORD_BYTES     128 /* of os-release */

DEFINE_CLEANUP(DIR *, closedir);

struct text_part {
	const char *start;
	size_t bytes;
};

/* A path whose package is searched for. */
struct wanted {
	struct text_part path; /* as in the lists of packages: see merged() */
	/* A diversion of this path: only its package has the file there. */
	bool is_diverted;
	char by[NAME_MAX_BYTES];
	/* A diversion to this path: all packages but `by` list the file under `from`. */
	char *from; /* NULL: there is none */
	char package[NAME_MAX_BYTES];
};

struct search {
	struct wanted wanted[PACKAGE_PATHS_MAX];
	size_t count, missing;
	bool lengths[PATH_BYTES]; /* of the paths */
	bool is_merged;		  /* /bin, /sbin and /lib* are links into /usr */
	char *bytes;		  /* of the file that is read, with a NUL */
	size_t room, left;
};

static void search_deinit(struct search *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->wanted[i].from);
	free(s->bytes);
}

/* --- reading ---------------------------------------------------------------------------- */

/* Read a whole regular file of ours or of root. Returns its size, or a negative errno. */
static ssize_t read_whole(struct search *s, int folder, const char *path, size_t most)
{
	AUTO_CLOSE int fd =
		openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	size_t size = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()))
		return -EACCES;
	if ((uint64_t)st.st_size > most || (uint64_t)st.st_size > s->left)
		return -EFBIG;
	if ((size_t)st.st_size >= s->room) {
		char *bytes = realloc(s->bytes, (size_t)st.st_size + 1);

		if (!bytes)
			return -ENOMEM;
		s->bytes = bytes;
		s->room = (size_t)st.st_size + 1;
	}
	while (size < (size_t)st.st_size) {
		ssize_t got = read(fd, s->bytes + size, (size_t)st.st_size - size);

		if (got < 0)
			return -errno;
		if (!got)
			break;
		size += (size_t)got;
	}
	s->bytes[size] = '\0';
	s->left -= size;
	return (ssize_t)size;
}

/* Get the next line without its newline, and remove it from *text. Returns false at the end. */
static bool next_line(struct text_part *text, struct text_part *ret)
{
	const char *newline = text->bytes ? memchr(text->start, '\n', text->bytes) : NULL;
	size_t bytes = newline ? (size_t)(newline - text->start) : text->bytes;

	if (!text->bytes)
		return false;
	*ret = (struct text_part){text->start, bytes};
	text->start += bytes + !!newline;
	text->bytes -= bytes + !!newline;
	return true;
}

static bool is_equal(struct text_part x, struct text_part y)
{
	return x.bytes == y.bytes && !memcmp(x.start, y.start, x.bytes);
}

/* --- the distribution ----------------------------------------------------------------------- */

/* Copy the value of a key of os-release, as far as its characters are expected ones. */
static void copy_value(struct text_part text, const char *key, char ret[WORD_BYTES])
{
	size_t key_bytes = strlen(key);
	struct text_part line;

	*ret = '\0';
	while (next_line(&text, &line)) {
		const char *value = line.start + key_bytes;
		size_t bytes;

		if (!bytes_begin_with(line.start, line.bytes, key) || line.bytes == key_bytes ||
		    *value++ != '=')
			continue;
		value += *value == '"' || *value == '\'';
		bytes = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789._- ");
		if (bytes < WORD_BYTES)
			snprintf(ret, WORD_BYTES, "%.*s", (int)bytes, value);
	}
}

/* Put ID, ID_LIKE and the release. /etc/os-release is a link. */
static void put_distro(struct search *s, const char *root, char *ret, size_t room_bytes)
{
	static const char *const places[] = {"/etc/os-release", "/usr/lib/os-release"};
	char id[WORD_BYTES] = "", like[WORD_BYTES] = "", release[WORD_BYTES] = "";
	struct text_part text;
	char path[PATH_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(places) && !*id; i++) {
		ssize_t size = -1;

		if ((size_t)snprintf(path, sizeof(path), "%s%s", root, places[i]) < sizeof(path))
			size = read_whole(s, AT_FDCWD, path, RELEASE_MAX);
		if (size < 0)
			continue;
		text = (struct text_part){s->bytes, (size_t)size};
		copy_value(text, "ID", id);
		copy_value(text, "ID_LIKE", like);
		copy_value(text, "VERSION_CODENAME", release);
	}
	snprintf(ret, room_bytes, "%s%s%s\n%s\n", id, *like ? " " : "", like, release);
}

/* --- packages ------------------------------------------------------------------------------- */

/* Packages spell the paths of a machine with a merged /usr with "/usr" or without. */
static struct text_part merged(const struct search *s, struct text_part path)
{
	static const char *const folders[] = {"/bin/",	 "/sbin/",  "/lib/",
					      "/lib32/", "/lib64/", "/libx32/"};
	const size_t usr = strlen("/usr");

	if (!s->is_merged || !bytes_begin_with(path.start, path.bytes, "/usr/"))
		return path;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (bytes_begin_with(path.start + usr, path.bytes - usr, folders[i]))
			return (struct text_part){path.start + usr, path.bytes - usr};
	}
	return path;
}

/* Compares names without their architectures. */
static bool is_package(const char *name, const char *other)
{
	size_t bytes = strcspn(name, ":");

	return bytes == strcspn(other, ":") && !memcmp(name, other, bytes);
}

static bool owns(const struct wanted *w, struct text_part line, const char *package)
{
	if (is_equal(w->path, line))
		return !w->is_diverted || is_package(package, w->by);
	return w->from && is_equal((struct text_part){w->from, strlen(w->from)}, line) &&
	       !is_package(package, w->by);
}

static void search_list(struct search *s, struct text_part list, const char *package)
{
	struct text_part line;

	while (s->missing && next_line(&list, &line)) {
		line = merged(s, line);
		if (line.bytes >= PATH_BYTES || !s->lengths[line.bytes])
			continue;
		for (size_t i = 0; i < s->count; i++) {
			struct wanted *w = &s->wanted[i];

			if (*w->package || !owns(w, line, package))
				continue;
			snprintf(w->package, sizeof(w->package), "%s", package);
			s->missing--;
		}
	}
}

/* Returns false if the name of a file is not that of a list. */
static bool package_of(const char *file, char ret[NAME_MAX_BYTES])
{
	size_t bytes = strlen(file);

	if (!ends_with(file, ".list") || bytes - strlen(".list") >= NAME_MAX_BYTES)
		return false;
	bytes -= strlen(".list");
	memcpy(ret, file, bytes);
	ret[bytes] = '\0';
	return bytes && !ret[strspn(ret, "abcdefghijklmnopqrstuvwxyz0123456789+-.:")];
}

/* Returns 0, -ENOENT (no data base) or -ENOMEM. */
static int search_lists(struct search *s, const char *root)
{
	char path[PATH_BYTES], package[NAME_MAX_BYTES];
	CLEANUP(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	size_t count = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s" DATA_BASE, root) < sizeof(path))
		folder = opendir(path);
	if (!folder)
		return -ENOENT;
	while (s->missing && (entry = readdir(folder))) {
		ssize_t size;

		if (!package_of(entry->d_name, package))
			continue;
		if (++count > PACKAGE_LISTS_MAX)
			break;
		size = read_whole(s, dirfd(folder), entry->d_name, PACKAGE_LIST_MAX);
		if (size == -ENOMEM)
			return -ENOMEM;
		if (size > 0)
			search_list(s, (struct text_part){s->bytes, (size_t)size}, package);
	}
	return 0;
}

/* A diversion is three lines: a path, the path that it became, and who keeps it (":": root). */
static int take_diversion(struct search *s, const struct text_part part[3])
{
	struct text_part from = merged(s, part[0]), to = merged(s, part[1]);

	for (size_t i = 0; i < s->count; i++) {
		struct wanted *w = &s->wanted[i];

		if (!is_equal(w->path, from) && (w->from || !is_equal(w->path, to)))
			continue;
		if (part[2].bytes >= sizeof(w->by) || from.bytes >= PATH_BYTES)
			continue;
		memcpy(w->by, part[2].start, part[2].bytes);
		w->by[part[2].bytes] = '\0';
		if (is_equal(w->path, from)) {
			w->is_diverted = true;
			continue;
		}
		w->from = strndup(from.start, from.bytes);
		if (!w->from)
			return -ENOMEM;
		s->lengths[from.bytes] = true;
	}
	return 0;
}

static int read_diversions(struct search *s, const char *root)
{
	struct text_part text, part[3];
	char path[PATH_BYTES];
	ssize_t size = -1;
	int err = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s" DIVERSIONS, root) < sizeof(path))
		size = read_whole(s, AT_FDCWD, path, PACKAGE_LIST_MAX);
	text = (struct text_part){s->bytes, size > 0 ? (size_t)size : 0};
	while (!err && next_line(&text, &part[0]) && next_line(&text, &part[1]) &&
	       next_line(&text, &part[2]))
		err = take_diversion(s, part);
	return err;
}

/* --- a request ------------------------------------------------------------------------------ */

static bool is_link(const char *root, const char *folder)
{
	char path[PATH_BYTES];
	struct stat st;

	return (size_t)snprintf(path, sizeof(path), "%s%s", root, folder) < sizeof(path) &&
	       !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* Returns 0 or -EINVAL. */
static int take_paths(struct search *s, const char *paths)
{
	struct text_part text = {paths, strlen(paths)}, line;

	while (next_line(&text, &line)) {
		struct wanted *w = &s->wanted[s->count];

		if (s->count == PACKAGE_PATHS_MAX || line.bytes >= PATH_BYTES)
			return -EINVAL;
		w->path = merged(s, line);
		s->lengths[w->path.bytes] = true;
		s->count++;
	}
	s->missing = s->count;
	return 0;
}

int package_files_find(const char *root, const char *paths, char *ret, size_t room_bytes)
{
	CLEANUP(search_deinit) struct search s = {.left = PACKAGE_BYTES_MAX};
	size_t at;
	int err;

	if (room_bytes < 4 * WORD_BYTES)
		return -EMSGSIZE;
	s.is_merged = is_link(root, "/bin") && is_link(root, "/lib");
	err = take_paths(&s, paths) ?: read_diversions(&s, root);
	if (err)
		return err;
	put_distro(&s, root, ret, room_bytes);
	err = search_lists(&s, root);
	if (err == -ENOMEM)
		return err;
	at = strlen(ret);
	at += (size_t)snprintf(ret + at, room_bytes - at, err ? "\n" : "dpkg\n");
	for (size_t i = 0; i < s.count; i++) {
		if (at < room_bytes)
			at += (size_t)snprintf(ret + at, room_bytes - at, "%s\n",
					       s.wanted[i].package);
	}
	return at < room_bytes ? 0 : -EMSGSIZE;
}

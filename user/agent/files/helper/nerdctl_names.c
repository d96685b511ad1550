/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/nerdctl_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scope.h"

#define ID_CHARACTERS 64

DEFINE_CLEANUP(DIR *, closedir);

struct reading {
	uint32_t user;
	uint32_t entries; /* that were seen */
	nerdctl_name_fn take;
	void *context;
	bool ended;
};

/* Another file system may hang, and can be that of a user. */
static int open_below(int folder, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* Open a folder. Returns NULL if that is not possible. */
static DIR *open_folder(int at, const char *path)
{
	AUTO_CLOSE int fd = open_below(at, path, O_DIRECTORY);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (folder)
		TAKE_FD(fd);
	return folder;
}

/* Returns the name of the next entry, or NULL. */
static const char *next_entry(struct reading *r, DIR *folder)
{
	while (!r->ended && r->entries < NERDCTL_ENTRIES_MAX) {
		struct dirent *entry = readdir(folder);

		if (!entry)
			return NULL;
		r->entries++;
		if (*entry->d_name != '.')
			return entry->d_name;
	}
	return NULL;
}

/* An ID may end in a newline. */
static bool read_id(const struct reading *r, int folder, const char *name,
		    char ret[ID_CHARACTERS + 1])
{
	AUTO_CLOSE int fd = open_below(folder, name, 0);
	char text[ID_CHARACTERS + 2];
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (r->user != NERDCTL_ANY_USER && st.st_uid != r->user))
		return false;
	got = read(fd, text, sizeof(text));
	if (got == ID_CHARACTERS + 1 && text[ID_CHARACTERS] == '\n')
		got--;
	if (got != ID_CHARACTERS)
		return false;
	memcpy(ret, text, ID_CHARACTERS);
	ret[ID_CHARACTERS] = '\0';
	return strspn(ret, "0123456789abcdef") == ID_CHARACTERS;
}

static void read_namespace(struct reading *r, int names, const char *namespace)
{
	CLEANUP(closedirp) DIR *folder = open_folder(names, namespace);
	const char *name;

	while (folder && (name = next_entry(r, folder))) {
		char id[ID_CHARACTERS + 1];

		if (read_id(r, dirfd(folder), name, id) && !r->take(r->context, name, id))
			r->ended = true;
	}
}

static void read_store(struct reading *r, int base, const char *store)
{
	AUTO_CLOSE int fd = open_below(base, store, O_DIRECTORY);
	CLEANUP(closedirp) DIR *names = fd < 0 ? NULL : open_folder(fd, "names");
	const char *namespace;

	while (names && (namespace = next_entry(r, names)))
		read_namespace(r, dirfd(names), namespace);
}

void nerdctl_names_read(int base, const char *folder, uint32_t user, nerdctl_name_fn take,
			void *context)
{
	CLEANUP(closedirp) DIR *stores = open_folder(base, folder);
	struct reading r = {.user = user, .take = take, .context = context};
	const char *store;

	while (stores && (store = next_entry(&r, stores)))
		read_store(&r, dirfd(stores), store);
}

struct name_search {
	const char *id;
	char *ret;
	bool found;
};

static bool note_name(void *search_, const char *name, const char *id)
{
	struct name_search *search = search_;

	if (strcmp(id, search->id) != 0 || strlen(name) >= JITBPF_CGROUP_NAME_MAX)
		return true;
	strcpy(search->ret, name);
	search->found = true;
	return false;
}

int nerdctl_name_of_id(int base, const char *folder, uint32_t user, const char *id,
		       char ret[JITBPF_CGROUP_NAME_MAX])
{
	struct name_search search = {.id = id, .ret = ret};

	nerdctl_names_read(base, folder, user, note_name, &search);
	return search.found ? 0 : -ENOENT;
}

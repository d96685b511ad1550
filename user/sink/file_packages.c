/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/file_packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/write/text.h"

/* How a distribution, and those derived from it, distribute debug symbols. */
struct distro {
	const char *id;	   /* in os-release */
	const char *begin; /* command before the names of packages; NULL: there are none */
	/* Around the path of a file, in place of its package; NULL: packages are those of dpkg */
	const char *before, *after;
	const char *archive; /* that the package manager must know; NULL: none */
	const char *suffix;  /* of the archive's name, after that of the release */
	const char *sources; /* where the package manager knows archives from */
	const char *servers; /* DEBUGINFOD_URLS; NULL: none are known */
};

/* A derived distribution comes before the one that it is derived from (ID_LIKE). */
static const struct distro distros[] = {
	{.id = "ubuntu",
	 .begin = "apt install",
	 .archive = "Ubuntu's ddebs archive",
	 .suffix = "",
	 .sources = "apt's sources",
	 .servers = "https://debuginfod.ubuntu.com"},
	{.id = "debian",
	 .begin = "apt install",
	 .archive = "Debian's debug archive",
	 .suffix = "-debug",
	 .sources = "apt's sources",
	 .servers = "https://debuginfod.debian.net"},
	{.id = "fedora",
	 .begin = "dnf debuginfo-install",
	 .before = "$(rpm -qf ",
	 .after = ")",
	 .servers = "https://debuginfod.fedoraproject.org"},
	{.id = "rhel", .begin = "dnf debuginfo-install", .before = "$(rpm -qf ", .after = ")"},
	{.id = "suse",
	 .begin = "zypper install",
	 .before = "$(rpm -qf --qf %{NAME}-debuginfo ",
	 .after = ")",
	 .archive = "the debug repository",
	 .suffix = "",
	 .sources = "zypper's repositories",
	 .servers = "https://debuginfod.opensuse.org"},
	{.id = "arch", .servers = "https://debuginfod.archlinux.org"},
};

/* Packages whose symbols are in a package of the main archive, which is older than -dbgsym. */
static const struct {
	const char *begin, *end; /* of the name; %s is the part between them */
	const char *debug;
} older[] = {
	{"libc6", "", "libc6-dbg"},
	{"libdb5.3", "", "libdb5.3-dbg"},
	{"libpython3.", "-minimal", "python3.%s-dbg"},
	{"libpython3.", "-stdlib", "python3.%s-dbg"},
	{"libpython3.", "", "python3.%s-dbg"},
	{"python3.", "-minimal", "python3.%s-dbg"},
	{"python3.", "", "python3.%s-dbg"},
	{"openjdk-", "-jre-headless", "openjdk-%s-dbg"},
	{"openjdk-", "-jre", "openjdk-%s-dbg"},
	{"openjdk-", "-jdk-headless", "openjdk-%s-dbg"},
};

bool file_package_name_is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

	if (strlen(name) >= FILE_PACKAGE_NAME_MAX || bytes < 2 || !strchr(letters, *name))
		return false;
	if (!name[bytes])
		return true;
	name += bytes;
	bytes = strspn(name + 1, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return *name == ':' && bytes && name[1] != '-' && !name[1 + bytes];
}

int file_packages_add(struct file_packages *packages, const char *path, enum file_origin origin,
		      const char *name)
{
	struct file_package file = {.origin = origin};

	if (file_package_name_is_valid(name))
		strcpy(file.name, name);
	file.path = strdup(path);
	if (!file.path || vec_push(&packages->files, file)) {
		free(file.path);
		return -ENOMEM;
	}
	return 0;
}

const struct file_package *file_packages_find(const struct file_packages *packages,
					      const char *path)
{
	for (size_t i = 0; packages && i < packages->files.size; i++) {
		if (!strcmp(packages->files.data[i].path, path))
			return &packages->files.data[i];
	}
	return NULL;
}

void file_packages_deinit(struct file_packages *packages)
{
	vec_for_each (file, &packages->files)
		free(file->path);
	vec_deinit(&packages->files);
}

/* --- names of packages -------------------------------------------------------------------- */

/*
 * Set *ret to the part of a name between its begin and end. Returns false if the name does not have
 * these.
 */
static bool between(const char *name, size_t bytes, const char *begin, const char *end,
		    const char **ret, size_t *ret_bytes)
{
	size_t before = strlen(begin), after = strlen(end);

	if (bytes < before + after || memcmp(name, begin, before) != 0 ||
	    memcmp(name + bytes - after, end, after) != 0)
		return false;
	*ret = name + before;
	*ret_bytes = bytes - before - after;
	return strspn(*ret, "0123456789") >= *ret_bytes;
}

/* The architecture is left out where it is that of jitbpf. */
bool file_packages_debug_name(const char *package, char ret[FILE_PACKAGE_NAME_MAX])
{
	size_t bytes = strcspn(package, ":"), part_bytes;
	const char *architecture = package + bytes, *part;
	char name[FILE_PACKAGE_NAME_MAX];
	int size = -1;

	if (!strcmp(architecture, ":amd64") || !strcmp(architecture, ":all"))
		architecture = "";
	for (size_t i = 0; i < ARRAY_SIZE(older) && size < 0; i++) {
		const char *mark = strstr(older[i].debug, "%s");

		if (!between(package, bytes, older[i].begin, older[i].end, &part, &part_bytes) ||
		    !mark != !part_bytes)
			continue;
		size = mark ? snprintf(name, sizeof(name), "%.*s%.*s%s",
				       (int)(mark - older[i].debug), older[i].debug,
				       (int)part_bytes, part, mark + 2)
			    : snprintf(name, sizeof(name), "%s", older[i].debug);
	}
	if (size < 0)
		size = snprintf(name, sizeof(name), "%.*s-dbgsym", (int)bytes, package);
	if ((size_t)size + strlen(architecture) >= sizeof(name))
		return false;
	strcpy(stpcpy(ret, name), architecture);
	return true;
}

/* Returns true if a debug package is in an archive that apt's sources lack by default. */
static bool is_in_debug_archive(const char *debug_name)
{
	return strstr(debug_name, "-dbgsym");
}

/* --- what to do ----------------------------------------------------------------------------- */

/* Returns true if the words have an ID, which ends with a space or with them. */
static bool has_word(const char *words, const char *id)
{
	size_t bytes = strlen(id);

	for (; *words; words += strcspn(words, " ")) {
		words += strspn(words, " ");
		if (strcspn(words, " ") == bytes && !memcmp(words, id, bytes))
			return true;
	}
	return false;
}

static const struct distro *distro_of(const struct file_packages *packages)
{
	for (size_t i = 0; packages && i < ARRAY_SIZE(distros); i++) {
		if (has_word(packages->distro, distros[i].id))
			return &distros[i];
	}
	return NULL;
}

/* A path that a shell takes as it is. */
static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";

	return *path == '/' && !path[strspn(path, plain)];
}

#define WORD_BYTES 300 /* of a command, with its NUL */

/* Returns false if the package manager cannot help with a file. */
static bool word_of(const struct distro *distro, const struct file_package *file,
		    char ret[WORD_BYTES])
{
	char name[FILE_PACKAGE_NAME_MAX];

	if (!distro || !distro->begin || file->origin != FILE_ORIGIN_HERE)
		return false;
	if (distro->before)
		return is_plain(file->path) && snprintf(ret, WORD_BYTES, "%s%s%s", distro->before,
							file->path, distro->after) < WORD_BYTES;
	return *file->name && file_packages_debug_name(file->name, name) &&
	       snprintf(ret, WORD_BYTES, "%s", name) < WORD_BYTES;
}

/* The advice for several files. */
struct advice {
	char words[FILE_PACKAGES_MAX][WORD_BYTES]; /* of the command, each once */
	size_t count;
	bool is_archived;			     /* the command needs the archive */
	bool elsewhere, unpackaged, unknown, unread; /* files that the command is not for */
};

static void add_word(struct advice *advice, const struct distro *distro)
{
	const char *word = advice->words[advice->count];
	size_t at = 0;

	while (strcmp(advice->words[at], word) != 0)
		at++;
	advice->count += at == advice->count;
	advice->is_archived |= distro->before || is_in_debug_archive(word);
}

static void add_file(struct advice *advice, const struct distro *distro,
		     const struct file_packages *packages, const struct file_package *file)
{
	if (!file || file->origin == FILE_ORIGIN_UNKNOWN)
		advice->unknown = true;
	else if (file->origin == FILE_ORIGIN_UNREAD)
		advice->unread = true;
	else if (file->origin == FILE_ORIGIN_ELSEWHERE)
		advice->elsewhere = true;
	else if (advice->count < FILE_PACKAGES_MAX &&
		 word_of(distro, file, advice->words[advice->count]))
		add_word(advice, distro);
	else if (packages->has_dpkg && !*file->name)
		advice->unpackaged = true;
	else
		advice->unknown = true;
}

static void put_command(struct text *text, const struct advice *advice, const struct distro *distro,
			const char *release)
{
	text_put_string(text, distro->begin);
	for (size_t i = 0; i < advice->count; i++) {
		text_put_string(text, " ");
		text_put_string(text, advice->words[i]);
	}
	if (!advice->is_archived || !distro->archive)
		return;
	text_printf(text, " (needs %s", distro->archive);
	if (*release)
		text_printf(text, ", %s%s,", release, distro->suffix);
	text_printf(text, " in %s)", distro->sources);
}

/* Put words as the next part, if they apply. */
static void put_part(struct text *text, size_t begin, bool applies, const char *words)
{
	if (!applies)
		return;
	text_put_string(text, text->bytes.size > begin ? "; " : "");
	text_put_string(text, words);
}

void file_packages_put(struct text *text, const struct file_packages *packages,
		       const char *const paths[], size_t count)
{
	const struct distro *distro = distro_of(packages);
	size_t begin = text->bytes.size;
	struct advice advice;

	memset(&advice, 0, sizeof(advice));
	for (size_t i = 0; i < count; i++)
		add_file(&advice, distro, packages, file_packages_find(packages, paths[i]));
	if (advice.count)
		put_command(text, &advice, distro, packages->release);
	if (distro && distro->servers && (advice.count || advice.unknown)) {
		text_printf(text, "%sset DEBUGINFOD_URLS=%s (with sudo -E)",
			    advice.count ? ", or " : "", distro->servers);
		advice.unknown = false;
	}
	put_part(text, begin, advice.unpackaged,
		 advice.count ? "no package has the others: build them with symbols"
			      : "no package has it: build it with symbols");
	put_part(text, begin, advice.elsewhere,
		 "what is not on this machine, or is another file here, comes from a container or "
		 "from where it was recorded: install its debug symbols there");
	put_part(
		text, begin, advice.unread,
		"files that were gone, or did not answer, when they were opened have no names: keep "
		"them at their paths, on a local disk, until the recording ends");
	put_part(text, begin, advice.unknown || text->bytes.size == begin, FILE_PACKAGES_ADVICE);
}

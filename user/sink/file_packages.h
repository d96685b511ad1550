/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packages that files without function names come from, and the advice how to get the names.
 * All texts of this advice, and the naming of debug packages by distributions, are in this module.
 */
#ifndef JITBPF_SINK_FILE_PACKAGES_H
#define JITBPF_SINK_FILE_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct text;

#define FILE_PACKAGES_MAX	  20  /* files, those with most samples */
#define FILE_PACKAGE_NAME_MAX	  128 /* with its NUL */
#define FILE_PACKAGES_DISTRO_MAX  128
#define FILE_PACKAGES_RELEASE_MAX 32

/* The advice for a file whose package is not known. */
#define FILE_PACKAGES_ADVICE                                                                       \
	"install debug symbols where the file comes from: the package NAME-dbgsym (Debian, "       \
	"Ubuntu) or NAME-debuginfo (Fedora), or set DEBUGINFOD_URLS"

enum file_origin {
	FILE_ORIGIN_UNKNOWN,   /* not looked for */
	FILE_ORIGIN_ELSEWHERE, /* the file at its path in this machine is another one, or none */
	FILE_ORIGIN_HERE,      /* it is a file of this machine */
	FILE_ORIGIN_UNREAD,    /* it was gone, or did not answer, before it was identified */
};

struct file_package {
	char *path; /* as in struct frame: whole */
	enum file_origin origin;
	/* HERE: the package that has the file, such as "libc6:amd64"; "": not known */
	char name[FILE_PACKAGE_NAME_MAX];
};

/* Zero-initialized is empty. The owner calls file_packages_deinit(). */
struct file_packages {
	char distro[FILE_PACKAGES_DISTRO_MAX];	 /* ID and ID_LIKE of os-release, by spaces */
	char release[FILE_PACKAGES_RELEASE_MAX]; /* VERSION_CODENAME, or "" */
	bool has_dpkg; /* packages are dpkg's; a file without one is in no package */
	VEC(struct file_package) files;
};

/* Returns true if Debian's policy allows a package name, with ":ARCHITECTURE" or without. */
bool file_package_name_is_valid(const char *name);

/* Add a file; path is copied. Returns 0 or -ENOMEM. */
int file_packages_add(struct file_packages *packages, const char *path, enum file_origin origin,
		      const char *name);

/* Returns the entry of a path, or NULL. packages may be NULL. */
const struct file_package *file_packages_find(const struct file_packages *packages,
					      const char *path);

/* Set ret to the package with the debug symbols of a package of dpkg. Returns false if it is too
 * long. */
bool file_packages_debug_name(const char *package, char ret[FILE_PACKAGE_NAME_MAX]);

/*
 * Put what to do about files, as words without a newline: one command for all that a package
 * manager can help with, then hints for the others. Paths that are not plain, as hostile ones, are
 * in no command. packages may be NULL.
 */
void file_packages_put(struct text *text, const struct file_packages *packages,
		       const char *const paths[], size_t count);

void file_packages_deinit(struct file_packages *packages);

#endif

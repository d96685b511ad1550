/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the packages that own files in dpkg's data base: a list of paths for each package, and the
 * diversions. Runs in helper processes. The data base of a container is not read, since whoever can
 * write in the container can forge it.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_PACKAGE_FILES_H
#define JITBPF_AGENT_FILES_HELPER_PACKAGE_FILES_H

#include <stddef.h>

#define PACKAGE_PATHS_MAX 20	       /* in a request */
#define PACKAGE_LISTS_MAX 20000	       /* files of the data base that are read, */
#define PACKAGE_BYTES_MAX (256u << 20) /* and their bytes */
#define PACKAGE_LIST_MAX  (16u << 20)  /* larger lists are skipped */

/*
 * Find the packages of `paths`, absolute ones that are separated by newlines, below root ("": that
 * of the machine). Writes lines to ret, each with its newline:
 *
 *   ID and ID_LIKE of os-release, separated by spaces
 *   VERSION_CODENAME of os-release
 *   "dpkg", if there is a data base of dpkg
 *   for each path the package, such as "libc6:amd64"; empty if none owns it
 *
 * An unknown value is an empty line. Files that do not belong to root or to the caller, and all but
 * regular ones, are not read. Returns 0, -EINVAL (too many paths), -EMSGSIZE (no room) or -ENOMEM.
 */
int package_files_find(const char *root, const char *paths, char *ret, size_t room_bytes);

#endif

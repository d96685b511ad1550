/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a known file with the content of one that is gone, by the build ID that the kernel read
 * from it.
 *
 * A library that is mapped for a few milliseconds, from a file that is then deleted, cannot be
 * opened any more when its mapping is read. If an equal file was found before, that one has its
 * names and unwind rows.
 *
 * Anybody can copy a build ID into a file with other names. So a file counts only if root or the
 * user of this process wrote it, on a file system that no user serves, or if it was found in a
 * mapping of a process of the same owner. No owner chooses names for the processes of others.
 */
#ifndef JITBPF_AGENT_FILES_EQUAL_FILES_H
#define JITBPF_AGENT_FILES_EQUAL_FILES_H

#include "agent/files/helper/file_helper.h"
#include "agent/files/kept_files.h"

/* What the file that is gone had. */
struct equal_wanted {
	const uint8_t *build_id;	/* JITBPF_BUILD_ID_MAX bytes, padded with zeros */
	uint64_t version;		/* of the equal file; 0: any */
	const struct owner_key *owners; /* of the processes that mapped it */
	uint32_t owner_count;
};

/*
 * Find a file that can probably be opened: it is open already, or linked on a disk. Returns true
 * with a copy of its entry in *ret, and its path in ret_path. Pointers in the copy must not be
 * used.
 */
bool equal_files_find(struct kept_files *files, const struct equal_wanted *wanted, uint64_t now_ns,
		      struct kept_file *ret, char ret_path[FILE_PATH_MAX]);

#endif

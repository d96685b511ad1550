/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an ELF file says of where the rest of its debug info is. */
#ifndef JITBPF_DECODE_ELF_DEBUG_LINK_H
#define JITBPF_DECODE_ELF_DEBUG_LINK_H

#include "decode/elf/elf_file.h"

#define DEBUG_LINK_MAX		4096	    /* of the sections */
#define MINI_DEBUG_INFLATED_MAX (64u << 20) /* of .gnu_debugdata */
#define MINI_DEBUG_DECODER_MAX	(64u << 20) /* memory to inflate it */

/* .gnu_debuglink */
struct debug_link {
	char name[256]; /* of a file, without a folder */
	uint32_t crc;	/* of all its bytes */
};

/* Returns 0, -ENOENT (there is none), -EBADMSG, or the blob's error. */
int debug_link_read(const struct elf_file *elf, struct debug_link *ret);

/* Check a file against a link: reads all of it. Returns 0, -ESTALE (another file), -ENOMEM or the
 * blob's error. */
int debug_link_check(const struct debug_link *link, const struct blob *file);

/* .gnu_debugaltlink */
struct debug_alt_link {
	char path[DEBUG_LINK_MAX];
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};

/* Returns as debug_link_read(). */
int debug_alt_link_read(const struct elf_file *elf, struct debug_alt_link *ret);

/*
 * Inflate .gnu_debugdata, an ELF file that has nothing but symbols. *ret is
 * allocated with malloc() and the caller's. Returns 0, -ENOENT, -EBADMSG,
 * -E2BIG (over the limits above), -ENOMEM or the blob's error.
 */
int mini_debug_inflate(const struct elf_file *elf, uint8_t **ret, size_t *ret_bytes);

#endif

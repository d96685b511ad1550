/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* References from an ELF file to separate debug info: debug link, dwz file, embedded symbols. */
#ifndef JITBPF_DECODE_ELF_DEBUG_LINK_H
#define JITBPF_DECODE_ELF_DEBUG_LINK_H

#include "decode/elf/elf_file.h"

#define DEBUG_LINK_MAX		4096	    /* size limit of the link sections */
#define MINI_DEBUG_INFLATED_MAX (64u << 20) /* output limit for .gnu_debugdata */
#define MINI_DEBUG_DECODER_MAX	(64u << 20) /* memory limit of its LZMA decoder */

/* Contents of .gnu_debuglink. */
struct debug_link {
	char name[256]; /* file name without a directory */
	uint32_t crc;	/* CRC-32 of the whole debug file */
};

/* Returns 0, -ENOENT (the section is missing), -EBADMSG, or the blob's error. */
int debug_link_read(const struct elf_file *elf, struct debug_link *ret);

/*
 * Compare the CRC of a whole file with a link. Returns 0, -ESTALE (the CRC
 * differs), -ENOMEM or the blob's error.
 */
int debug_link_check(const struct debug_link *link, const struct blob *file);

/* Contents of .gnu_debugaltlink, the link to a file that dwz shares between programs. */
struct debug_alt_link {
	char path[DEBUG_LINK_MAX];
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};

/* Returns the same errors as debug_link_read(). */
int debug_alt_link_read(const struct elf_file *elf, struct debug_alt_link *ret);

/*
 * Decompress .gnu_debugdata, an embedded ELF file that holds only symbols. *ret
 * is allocated with malloc() and owned by the caller. Returns 0, -ENOENT (the
 * section is missing), -EBADMSG, -E2BIG (over a limit above), -ENOMEM or the
 * blob's error.
 */
int mini_debug_inflate(const struct elf_file *elf, uint8_t **ret, size_t *ret_bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what a profiler needs of a 64-bit little-endian ELF file, from any
 * blob, trusting nothing in it: segments, build ID, notes, function symbols.
 */
#ifndef JITBPF_DECODE_ELF_ELF_FILE_H
#define JITBPF_DECODE_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "uapi/record.h"

#define ELF_TABLE_BYTES_MAX (256u << 20) /* of one symbol or string table */
#define ELF_SYMBOLS_MAX	    (4u << 20)	 /* in one table */
#define ELF_HEADERS_MAX	    (256u << 10) /* segments, and sections, of one file */
#define ELF_NOTES_BYTES_MAX (16u << 20)	 /* of all notes that one search looks at */

struct elf_segment {
	uint64_t file_offset, file_bytes;
	uint64_t address, memory_bytes;
	bool executable;
};

struct elf_section {
	uint32_t name, type;
	uint64_t flags, address, file_offset, size_bytes;
	uint32_t link, info;
	uint64_t entry_bytes, alignment;
};

/* A range of the file that a PT_NOTE segment says holds notes. */
struct elf_note_area {
	uint64_t file_offset, size_bytes, alignment;
};

struct elf_file {
	const struct blob *blob; /* borrowed */
	uint16_t type;		 /* ET_EXEC or ET_DYN; ET_REL by elf_file_init_debug() */
	uint16_t machine;	 /* EM_X86_64 */
	uint64_t entry;
	VEC(struct elf_segment) segments; /* PT_LOAD only; their ranges do not wrap */
	struct elf_segment frame_header;  /* PT_GNU_EH_FRAME; file_bytes 0: none */
	VEC(struct elf_note_area) notes;
	VEC(struct elf_section) sections; /* empty where there are none, or not in the file */
	uint32_t section_names;		  /* index of .shstrtab, 0: none */
};

/*
 * Read the headers of a program or a shared object. blob outlives *ret.
 * A section table that lies outside the file counts as none, since a file
 * loses that first when it is cut.
 * Returns 0, -ENOEXEC (not such an ELF file), -EBADMSG (damaged), -ENOMEM, or
 * the blob's error; on failure *ret is unchanged. The caller deinits *ret.
 */
int elf_file_init(struct elf_file *ret, const struct blob *blob);
void elf_file_deinit(struct elf_file *elf);

/*
 * The same where the file need not be one to run: what dwz writes for several
 * files together is relocatable by its header. Such a one has no segments.
 */
int elf_file_init_debug(struct elf_file *ret, const struct blob *blob);

/*
 * The GNU build ID, from the PT_NOTE segments or the note sections.
 * Returns its size (at most JITBPF_BUILD_ID_MAX), or 0 where there is none, or
 * only a longer one, which the kernel does not report either.
 */
uint32_t elf_file_build_id(const struct elf_file *elf, uint8_t ret[JITBPF_BUILD_ID_MAX]);

/*
 * Address of a file offset by the PT_LOAD segments, executable ones first.
 * False where none holds it.
 */
bool elf_file_address(const struct elf_file *elf, uint64_t file_offset, uint64_t *ret);

/* The reverse: where in the file an address is. False where no segment has it there. */
bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret);

/* Section by name (at most 63 characters), or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name);

struct elf_symbol {
	uint64_t address, size_bytes;
	const char *name;   /* in the table's strings */
	uint8_t type, bind; /* STT_*, STB_* */
	uint32_t section;   /* index of its section; 0: not known */
};

/* Owned by the caller. */
struct elf_symbols {
	VEC(struct elf_symbol) symbols; /* of code, in the order of the table */
	char *strings;
	size_t strings_bytes;
	uint64_t strings_offset; /* where they stand in the file */
};

/*
 * Function symbols of .symtab (dynamic false) or .dynsym (true): defined,
 * STT_FUNC, STT_GNU_IFUNC, or non-local STT_NOTYPE inside an executable section
 * (assembly written by hand). Names are without "@VERSION". Symbols that lie (a
 * name outside the strings, a wrapping range) are left out.
 * Returns 0, -ENOENT (no such table), -EBADMSG, -E2BIG (over the limits above),
 * -ENOMEM or the blob's error; on failure *ret is unchanged.
 */
int elf_file_symbols(const struct elf_file *elf, bool dynamic, struct elf_symbols *ret);
void elf_symbols_deinit(struct elf_symbols *symbols);

/* A SystemTap probe of .note.stapsdt. */
struct elf_probe {
	uint64_t offset;	   /* of the site, in the file */
	uint64_t semaphore_offset; /* in the file; 0: none */
};

/*
 * The first probe provider:name. Returns 0, -ENOENT, -EBADMSG (its addresses
 * are not in the file), -ENOMEM, or the blob's error.
 */
int elf_file_probe(const struct elf_file *elf, const char *provider, const char *name,
		   struct elf_probe *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reader of x86-64 ELF files: segments, sections, build ID, function symbols
 * and SystemTap probes. It works on any blob and validates all offsets and
 * sizes. 32-bit files (i386) are read for their names and unwind tables.
 */
#ifndef JITBPF_DECODE_ELF_ELF_FILE_H
#define JITBPF_DECODE_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "uapi/record.h"

#define ELF_TABLE_BYTES_MAX    (256u << 20) /* limit of one symbol or string table */
#define ELF_SYMBOLS_MAX	       (4u << 20)   /* limit of one symbol table */
#define ELF_VARIABLE_BYTES_MAX (4u << 20)   /* limit of a table that a variable is looked up in */
/* limit of the segments, and of the sections, of one file */
#define ELF_HEADERS_MAX	    (256u << 10)
#define ELF_NOTES_BYTES_MAX (16u << 20) /* limit of the notes that one search reads */

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

/* A file range with notes, from a PT_NOTE segment. */
struct elf_note_area {
	uint64_t file_offset, size_bytes, alignment;
};

struct elf_file {
	const struct blob *blob; /* borrowed */
	uint16_t type;		 /* ET_EXEC or ET_DYN; also ET_REL after elf_file_init_any() */
	uint16_t machine;	 /* EM_X86_64; also EM_386 after elf_file_init_any() */
	uint64_t entry;
	VEC(struct elf_segment) segments; /* PT_LOAD segments whose ranges do not wrap */
	struct elf_segment frame_header;  /* PT_GNU_EH_FRAME; file_bytes is 0 if there is none */
	VEC(struct elf_note_area) notes;
	VEC(struct elf_section) sections; /* empty if the table is absent or truncated */
	uint32_t section_names;		  /* index of .shstrtab; 0 if there is none */
};

/*
 * Read the headers of a program or a shared object. *ret borrows blob. A
 * section table outside the file is treated as absent, since truncation removes
 * it first. Returns 0, -ENOEXEC (not an x86-64 ELF program or library),
 * -EBADMSG (damaged headers), -ENOMEM, or the blob's error; on failure *ret is
 * unchanged. The caller calls elf_file_deinit().
 */
int elf_file_init(struct elf_file *ret, const struct blob *blob);
void elf_file_deinit(struct elf_file *elf);

/*
 * Like elf_file_init(), but also accepts ET_REL and 32-bit files of i386. The common debug file
 * that dwz writes for several programs has the type ET_REL; it has no segments. Code and probes of
 * i386 must not be read as those of x86-64; unwind tables and relocations are other ones, too.
 */
int elf_file_init_any(struct elf_file *ret, const struct blob *blob);

/*
 * Read the GNU build ID from the PT_NOTE segments or the SHT_NOTE sections.
 * Returns its size in bytes, or 0 if there is none. A build ID longer than
 * JITBPF_BUILD_ID_MAX counts as none; the kernel does not report it either.
 */
uint32_t elf_file_build_id(const struct elf_file *elf, uint8_t ret[JITBPF_BUILD_ID_MAX]);

/*
 * Translate a file offset to an address by the PT_LOAD segments. Executable
 * segments take precedence. Returns false if no segment contains the offset.
 */
bool elf_file_address(const struct elf_file *elf, uint64_t file_offset, uint64_t *ret);

/* Translate an address to a file offset. Returns false if no segment has file bytes there. */
bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret);

/* Returns the section of a name of at most 63 characters, or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *elf, const char *name);

struct elf_symbol {
	uint64_t address, size_bytes;
	const char *name;   /* in elf_symbols.strings; else NULL */
	uint8_t type, bind; /* STT_*, STB_* */
	uint32_t section;   /* section index; 0 if unknown */
};

/* The function symbols of one table. Owned by the caller. */
struct elf_symbols {
	VEC(struct elf_symbol) symbols; /* in the order of the table */
	char *strings;
	size_t strings_bytes;
};

/*
 * Read the function symbols of .symtab (dynamic = false) or .dynsym (true). A
 * function symbol is defined and has type STT_FUNC or STT_GNU_IFUNC; a
 * non-local STT_NOTYPE symbol in an executable section counts too (hand-written
 * assembly). Names are stripped of "@VERSION". Symbols with an invalid name or
 * a wrapping range are skipped. Returns 0, -ENOENT (no such table), -EBADMSG,
 * -E2BIG (over a limit above), -ENOMEM or the blob's error; on failure *ret is
 * unchanged.
 */
int elf_file_symbols(const struct elf_file *elf, bool dynamic, struct elf_symbols *ret);
void elf_symbols_deinit(struct elf_symbols *symbols);

/*
 * Find a variable (STT_OBJECT) of .dynsym by its name, for the event loop: tables of more than
 * ELF_VARIABLE_BYTES_MAX are -E2BIG. Returns 0 with *ret set to its address, -ENOENT, or as
 * elf_file_symbols().
 */
int elf_file_variable(const struct elf_file *elf, const char *name, uint64_t *ret);

/* Where a symbol table and its strings are in a blob. */
struct elf_symbol_table {
	uint64_t offset, strings_offset, strings_bytes;
	uint32_t count; /* at most ELF_SYMBOLS_MAX */
	bool narrow;	/* entries are of ELF_SYMBOL_BYTES_32, else of ELF_SYMBOL_BYTES */
};

#define ELF_SYMBOL_BYTES    24
#define ELF_SYMBOL_BYTES_32 16

static inline uint32_t elf_symbol_bytes(const struct elf_symbol_table *table)
{
	return table->narrow ? ELF_SYMBOL_BYTES_32 : ELF_SYMBOL_BYTES;
}

/* Find .symtab (dynamic = false) or .dynsym (true). Returns as elf_file_symbols(). */
int elf_symbol_table_find(const struct elf_file *elf, bool dynamic, struct elf_symbol_table *ret);

/* Receives a function symbol without its name. Returns 0 to go on. */
typedef int elf_symbol_fn(void *context, const struct elf_symbol *symbol, uint32_t number);

/*
 * Pass the function symbols of a table to `function`, in order, without reading a name. `number`
 * is the index in the table. blob has the table; elf has the sections. Returns 0, the first other
 * result of `function`, -ENOMEM or the blob's error.
 */
int elf_symbol_table_each(const struct elf_file *elf, const struct blob *blob,
			  const struct elf_symbol_table *table, elf_symbol_fn *function,
			  void *context);

/*
 * Read one symbol, of any type, without its name and section. *ret_name_offset is where its name
 * is in the blob. Returns 0, -EBADMSG or the blob's error.
 */
int elf_symbol_table_read(const struct blob *blob, const struct elf_symbol_table *table,
			  uint32_t number, struct elf_symbol *ret, uint64_t *ret_name_offset);

/* A SystemTap probe from .note.stapsdt. */
struct elf_probe {
	uint64_t offset;	   /* file offset of the probe site */
	uint64_t semaphore_offset; /* file offset; 0 if there is none */
};

/*
 * Find the first probe provider:name. Returns 0, -ENOENT, -EBADMSG (the probe's
 * addresses are outside the file), -ENOMEM, or the blob's error.
 */
int elf_file_probe(const struct elf_file *elf, const char *provider, const char *name,
		   struct elf_probe *ret);

#endif

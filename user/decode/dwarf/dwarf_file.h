/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug sections of one file, and its units: DWARF 2 to 5, 32-bit and
 * 64-bit, with addresses of 4 or 8 bytes. All contents are untrusted. Data are read
 * through the windows of section readers, so borrowed bytes are valid until the
 * next view of the same section.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_FILE_H
#define JITBPF_DECODE_DWARF_DWARF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/elf/section_reader.h"

#define DWARF_STRING_MAX (64u << 10)

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_CU_INDEX,	  /* index of a package (.dwp) of split units */
	DWARF_INFO_AGAIN, /* .debug_info through a second window, for references */
	DWARF_SECTIONS,
};

struct dwarf_file {
	struct section_reader sections[DWARF_SECTIONS];
	struct dwarf_file *alternate; /* dwz's common file. Borrowed; NULL if unavailable. */
	/*
	 * For a file of split units: the file with their skeletons and
	 * addresses. Borrowed, or NULL.
	 */
	struct dwarf_file *skeletons;
};

/*
 * Open the debug sections of elf. The blob and the budget of elf must outlive
 * *ret; elf itself need not. skeletons is NULL, or for a .dwo or .dwp file the
 * file of the skeleton units, which must outlive *ret. An unreadable section
 * counts as missing, except .debug_info and .debug_abbrev. Returns 0, -ENOENT,
 * or section_reader_init()'s error; on failure *ret is unchanged. The caller
 * calls dwarf_file_deinit().
 */
int dwarf_file_init(struct dwarf_file *ret, const struct elf_file *elf,
		    struct section_budget *budget, struct dwarf_file *skeletons);
void dwarf_file_deinit(struct dwarf_file *file);

/* Free the cached windows and blocks. Later reads fill them again. */
void dwarf_file_drop_cache(struct dwarf_file *file);

/* Memory in use, in bytes. */
size_t dwarf_file_bytes(const struct dwarf_file *file);

/* Kind of an attribute's value; u is the number in dwarf_value. */
enum dwarf_class {
	DWARF_NONE,	     /* absent, or a form that is not decoded */
	DWARF_ADDRESS,	     /* u: address */
	DWARF_ADDRESS_INDEX, /* u: index into the unit's part of .debug_addr */
	DWARF_NUMBER,	     /* u: constant; in DWARF 2 and 3 also an offset */
	DWARF_OFFSET,	     /* u: offset in the section that the attribute refers to */
	DWARF_LIST_INDEX,    /* u: index into the unit's range lists */
	DWARF_REFERENCE,     /* u: offset of a DIE in .debug_info */
	DWARF_ALT_REFERENCE, /* u: offset of a DIE in the alternate file */
	DWARF_STRING_HERE,   /* u: offset of a string in .debug_info */
	DWARF_STRING_LINE,   /* ... .debug_line */
	DWARF_STRING,	     /* ... .debug_str */
	DWARF_LINE_STRING,   /* ... .debug_line_str */
	DWARF_STRING_INDEX,  /* u: index into the unit's part of .debug_str_offsets */
	DWARF_ALT_STRING,    /* u: offset in .debug_str of the alternate file */
};

struct dwarf_value {
	uint64_t u;
	enum dwarf_class class;
};

struct dwarf_unit {
	uint64_t offset; /* in .debug_info, as are dies and end */
	uint64_t dies;	 /* offset of the first DIE */
	uint64_t end;
	uint64_t abbrev_offset;
	uint16_t version;
	uint8_t type; /* enum dwarf_unit_type */
	uint8_t offset_bytes;
	uint8_t address_bytes; /* 4 or 8 */
	/* Set from the first DIE by dwarf_unit_root(). */
	uint64_t addr_base, str_offsets_base, rnglists_base;
	uint64_t ranges_base;	    /* base of range lists referenced by offset */
	uint64_t split_ranges_base; /* ranges_base for the split unit of this skeleton */
	uint64_t base_address;
	uint64_t dwo_id;	     /* matches a skeleton with its split unit */
	struct dwarf_value dwo_name; /* path of the .dwo file; absent if this is no skeleton */
	uint16_t language;	     /* enum dwarf_language; 0 if unknown */
	struct dwarf_value line_program, comp_dir, low_pc, high_pc, ranges;
};

/*
 * Read the header of the unit at offset. Returns 0, -EBADMSG, -ENOTSUP (unknown
 * version or address size), or section_view()'s error. With -ENOTSUP ret->end
 * is set, so the caller can continue with the next unit.
 */
int dwarf_unit_read(struct dwarf_file *file, uint64_t offset, struct dwarf_unit *ret);

/* Decode the unit's first DIE. Returns 0, -EBADMSG, -ENOMEM or section_view()'s error. */
int dwarf_unit_root(struct dwarf_file *file, struct dwarf_unit *unit);

/*
 * Read a value of a form. implicit is the value of DWARF_FORM_IMPLICIT_CONST.
 * base is the offset of c->begin in .debug_info. Returns 0 or -EBADMSG.
 */
int dwarf_value_read(struct cursor *c, uint64_t form, int64_t implicit,
		     const struct dwarf_unit *unit, uint64_t base, struct dwarf_value *ret);

/*
 * Resolve a value to a string of at most DWARF_STRING_MAX bytes. Returns 0,
 * -ENOENT (not a string, or in an alternate file that is unavailable), -EBADMSG
 * or section_view()'s error.
 */
int dwarf_string(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		 const char **ret);

/*
 * Resolve a value to an address. Returns 0, -ENOENT (not an address), -EBADMSG,
 * or section_view()'s error.
 */
int dwarf_address(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		  uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug sections of one file, and its units: DWARF 2 to 5, 32 and 64-bit,
 * for addresses of 8 bytes. Everything in them may lie. Reading goes through
 * windows of section readers, so what is borrowed from one is good until its next view.
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
	DWARF_CU_INDEX,	  /* of a package of split units */
	DWARF_INFO_AGAIN, /* .debug_info through another window, to follow references */
	DWARF_SECTIONS,
};

struct dwarf_file {
	struct section_reader sections[DWARF_SECTIONS];
	struct dwarf_file *alternate; /* borrowed; NULL: not to be had */
	/* Of a file of split units: the one that has their addresses. Borrowed; NULL: is none. */
	struct dwarf_file *skeletons;
};

/*
 * elf's blob and budget outlive *ret; elf need not. A section that cannot be
 * read counts as missing, but for the first two: then there is nothing.
 * Returns 0, -ENOENT, or section_reader_init()'s error; on failure *ret is
 * unchanged. The caller deinits *ret. skeletons: NULL, or what the units in elf
 * (a .dwo file or a package of them) were split off, which outlives *ret.
 */
int dwarf_file_init(struct dwarf_file *ret, const struct elf_file *elf,
		    struct section_budget *budget, struct dwarf_file *skeletons);
void dwarf_file_deinit(struct dwarf_file *file);

/* Let go of what was read of its sections: it will be again where it is asked for. */
void dwarf_file_drop_cache(struct dwarf_file *file);

/* Memory that it takes. */
size_t dwarf_file_bytes(const struct dwarf_file *file);

/* What an attribute says: what kind of number it is, and the number. */
enum dwarf_class {
	DWARF_NONE,	     /* not there, or nothing that is read here */
	DWARF_ADDRESS,	     /* u: the address */
	DWARF_ADDRESS_INDEX, /* u: which of the unit's in .debug_addr */
	DWARF_NUMBER,	     /* u: a constant, or in DWARF 2 and 3 an offset */
	DWARF_OFFSET,	     /* u: into the section that the attribute is about */
	DWARF_LIST_INDEX,    /* u: which of the unit's range lists */
	DWARF_REFERENCE,     /* u: offset of a DIE in .debug_info */
	DWARF_ALT_REFERENCE, /* u: the same in the alternate file */
	DWARF_STRING_HERE,   /* u: offset of a string in .debug_info */
	DWARF_STRING_LINE,   /* ... .debug_line */
	DWARF_STRING,	     /* ... .debug_str */
	DWARF_LINE_STRING,   /* ... .debug_line_str */
	DWARF_STRING_INDEX,  /* u: which of the unit's in .debug_str_offsets */
	DWARF_ALT_STRING,    /* u: offset in .debug_str of the alternate file */
};

struct dwarf_value {
	uint64_t u;
	enum dwarf_class class;
};

struct dwarf_unit {
	uint64_t offset; /* in .debug_info, as the others */
	uint64_t dies;	 /* its first DIE */
	uint64_t end;
	uint64_t abbrev_offset;
	uint16_t version;
	uint8_t type; /* enum dwarf_unit_type */
	uint8_t offset_bytes;
	/* From its first DIE, by dwarf_unit_root(). */
	uint64_t addr_base, str_offsets_base, rnglists_base;
	uint64_t ranges_base;	    /* of the lists that are given by offset */
	uint64_t split_ranges_base; /* the same in the unit that a skeleton stands for */
	uint64_t base_address;
	uint64_t dwo_id;	     /* what makes a skeleton and its split unit a pair */
	struct dwarf_value dwo_name; /* where that is; there is none: this is no skeleton */
	uint16_t language;	     /* enum dwarf_language; 0: not known */
	struct dwarf_value line_program, comp_dir, low_pc, high_pc, ranges;
};

/*
 * The header of the unit at offset. Where only its version or sizes are not
 * known, ret->end is set all the same, to go on there.
 * Returns 0, -EBADMSG, -ENOTSUP (ret->end is set), or section_view()'s error.
 */
int dwarf_unit_read(struct dwarf_file *file, uint64_t offset, struct dwarf_unit *ret);

/* Fill in what its first DIE says. Returns 0, -EBADMSG, -ENOMEM or section_view()'s error. */
int dwarf_unit_root(struct dwarf_file *file, struct dwarf_unit *unit);

/*
 * A value in a form; implicit is that of DWARF_FORM_IMPLICIT_CONST. base is the
 * offset in .debug_info at which c begins. Returns 0 or -EBADMSG.
 */
int dwarf_value_read(struct cursor *c, uint64_t form, int64_t implicit,
		     const struct dwarf_unit *unit, uint64_t base, struct dwarf_value *ret);

/*
 * The string that a value means, of at most DWARF_STRING_MAX bytes. Returns 0,
 * -ENOENT (it is none, or in an alternate file that is not to be had), -EBADMSG or section_view()'s
 * error.
 */
int dwarf_string(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		 const char **ret);

/* The address that a value means. Returns 0, -ENOENT (it is none), -EBADMSG, or section_view()'s.
 */
int dwarf_address(struct dwarf_file *file, const struct dwarf_unit *unit, struct dwarf_value value,
		  uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of a file where functions may start: those of symbols, and those that instructions and
 * relocations refer to. The file's bytes are searched for references without decoding, so some
 * starts are none; code_functions.h verifies them.
 */
#ifndef JITBPF_DECODE_X86_CODE_STARTS_H
#define JITBPF_DECODE_X86_CODE_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/elf/elf_file.h"

#define CODE_STARTS_MAX	      (256u << 10) /* further ones are dropped */
#define CODE_STARTS_TEXT_MAX  (32u << 20)  /* more code is not searched */
#define CODE_STARTS_RELOC_MAX (16u << 20)  /* bytes of relocations that are read */

enum code_start_sign {
	CODE_START_NAMED = 1,	  /* by a symbol that other files can use */
	CODE_START_CALLED = 2,	  /* by a direct call */
	CODE_START_ADDRESSED = 4, /* an instruction computes its address */
	CODE_START_MENTIONED = 8, /* by a local symbol, a relocation or a section */
	/*
	 * The function may not return: another one starts behind some of its calls. It need not be
	 * a start itself, but an entry of the PLT.
	 */
	CODE_START_NO_RETURN = 16,
};

struct code_start {
	uint32_t at; /* relative to code_starts.low */
	uint32_t signs;
};

/* Zero-initialized has no starts. */
struct code_starts {
	uint64_t low, high;	       /* executable addresses of the file; at most 4 GB */
	uint64_t entry;		       /* where the program starts; not one of the starts */
	VEC(struct code_start) starts; /* ascending, distinct */
};

/* Returns 0, -ENOMEM or the blob's error. Damaged tables are skipped. */
int code_starts_init(struct code_starts *ret, const struct elf_file *elf);
void code_starts_deinit(struct code_starts *starts);

/* Returns the index of the first start at or above an address. */
size_t code_starts_from(const struct code_starts *starts, uint64_t address);

/* Returns the signs of a start at an address; 0: there is none. */
uint32_t code_starts_at(const struct code_starts *starts, uint64_t address);

/* Returns true if a symbol or a call says that a function starts at an address. */
bool code_starts_is_function(const struct code_starts *starts, uint64_t address);

#endif

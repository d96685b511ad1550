/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of the builtins of an engine in a file: code that has no call frame information, but
 * symbols (engines/v8_builtins.h) or, in a stripped file, a table of where each builtin is
 * (decode/elf/v8_builtins_table.h). Builtins keep frame pointers, but many make their frame only on
 * a slow path. Before that, rbp is the frame pointer of the caller, and by rbp alone, the caller
 * would be left out. So each builtin is followed from its entry, as JIT code is.
 */
#ifndef JITBPF_DECODE_X86_GAPS_BUILTINS_H
#define JITBPF_DECODE_X86_GAPS_BUILTINS_H

#include "decode/cfi/unwind_file.h"
#include "decode/elf/elf_file.h"
#include "engines/v8_builtins.h"

#define BUILTINS_MAX 16384

struct builtin {
	uint64_t start;
	uint32_t size_bytes;
	enum v8_builtin kind; /* by its name, or because another builtin calls it */
};

/* A jump from a builtin to the start of another one. */
struct builtin_jump {
	uint64_t target, site;
};

/* Zero-initialized has none. */
struct builtins {
	VEC(struct builtin) all;	/* ascending, disjoint */
	VEC(struct builtin_jump) jumps; /* ascending by target; only if there are no names */
	bool unnamed;			/* they are from the table */
};

/*
 * Find the builtins in the addresses [low, high), by their symbols or, if there are none, by the
 * table. Those beyond BUILTINS_MAX are left out, and all behind a number of other symbols there.
 * Returns 0, -ENOMEM or the blob's error. Damaged tables have none.
 */
int builtins_init(struct builtins *ret, const struct elf_file *elf, uint64_t low, uint64_t high);
void builtins_deinit(struct builtins *builtins);

/*
 * Add rows for all of a window. Code that is in no builtin, or in one whose entry nothing confirms,
 * gets UNWIND_FRAME_POINTER. Without names, the latter gets UNWIND_UNKNOWN where it matters whether
 * the builtin was called. Returns 0, -ENOENT (no builtins there; no rows were added), -ENOMEM or
 * the blob's error. *work_bytes is reduced; what it does not suffice for gets UNWIND_UNKNOWN.
 */
int builtins_add(const struct builtins *builtins, const struct elf_file *elf,
		 const struct frame_window *window, uint64_t *work_bytes);

#endif

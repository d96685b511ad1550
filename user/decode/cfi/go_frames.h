/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Corrects the unwind rows of Go's functions. Go's call frame information has the CFA only: it
 * neither says where rbp is saved, nor that the runtime switches to other stacks
 * (engines/go_runtime.h).
 */
#ifndef JITBPF_DECODE_CFI_GO_FRAMES_H
#define JITBPF_DECODE_CFI_GO_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/cfi/frame_program.h"
#include "decode/elf/elf_file.h"
#include "decode/elf/go_table.h"
#include "engines/go_runtime.h"

struct go_function {
	uint64_t start; /* address */
	enum go_role role;
};

/* Zero-initialized is a file of another language. */
struct go_frames {
	bool is_go;
	VEC(struct go_function) functions; /* those with a role, sorted */
	/* The row of GO_STOPS, made of the code of systemstack; UNWIND_UNKNOWN if that differs. */
	struct unwind_row stopped;
};

#define GO_CODE_BYTES 512 /* of a function that go_frames_add() needs at most */

/*
 * Learn the functions from the file's symbols. Returns 0, -ENOMEM or the blob's error. *ret borrows
 * nothing.
 */
int go_frames_init(struct go_frames *ret, const struct elf_file *elf);

/* The same from the function table of the file, which has no symbols. */
int go_frames_init_stripped(struct go_frames *ret, const struct elf_file *elf,
			    const struct go_table *table);

void go_frames_deinit(struct go_frames *frames);

/* A function, and the beginning of its code. */
struct go_code {
	uint64_t start;
	const uint8_t *bytes;
	size_t size_bytes;
};

/*
 * Add rows of a function, made of call frame information for `window`, to window->rows with the
 * corrections. Returns 0 or -ENOMEM.
 */
int go_frames_add(const struct go_frames *frames, const struct go_code *code,
		  const struct unwind_rows *rows, const struct frame_window *window);

/* Memory in use, in bytes, besides the struct itself. */
size_t go_frames_bytes(const struct go_frames *frames);

#endif

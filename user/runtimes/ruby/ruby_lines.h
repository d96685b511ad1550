/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the lines of code of CRuby: struct iseq_insn_info. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_LINES_H
#define JITBPF_RUNTIMES_RUBY_RUBY_LINES_H

#include "runtimes/runtime_reader.h"

/* Words of code; the positions of longer code are not read. */
#define RUBY_CODE_WORDS_MAX (1u << 18)

/*
 * Add the lines of code that has `words` words to function->lines. `info` are the four words of
 * struct iseq_insn_info. A frame has the position behind the instruction that it runs, so positions
 * are those. What cannot be read has no lines. Returns 0, -ENOMEM or an error that ends the
 * reading.
 *
 * The table of positions says for each word of the code how many entries begin up to it. Of the
 * first 54 words it has these counts, 9 of 7 bits in a word; then blocks of 512 words follow, whose
 * bits are set where an entry begins: two words of counts, which are not needed, and the bits.
 */
int ruby_lines_read(const struct process_memory *memory, const uint64_t info[4], uint32_t words,
		    struct runtime_function *function);

#endif

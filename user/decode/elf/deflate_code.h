/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that decode the Huffman codes of a deflate block. */
#ifndef JITBPF_DECODE_ELF_DEFLATE_CODE_H
#define JITBPF_DECODE_ELF_DEFLATE_CODE_H

#include <stdint.h>

#define DEFLATE_CODE_BITS_MAX 15
#define DEFLATE_SYMBOLS_MAX   288

/* Bits that index a table at first. Longer codes have tables of their own behind it. */
#define DEFLATE_LENGTH_BITS    11
#define DEFLATE_DISTANCE_BITS  8
#define DEFLATE_PRECODE_BITS   7
#define DEFLATE_LENGTHS_ROOM   2400 /* a complete code of 288 symbols needs 2342 at most */
#define DEFLATE_DISTANCES_ROOM 512  /* likewise of 32: 402 */
#define DEFLATE_PRECODE_ROOM   (1 << DEFLATE_PRECODE_BITS)

/* The kind of an entry; without a flag, `value` is a base, and the low 4 bits are extra bits. */
#define DEFLATE_LITERAL 0x80
#define DEFLATE_STOP	0x40 /* the end of the block */
#define DEFLATE_TABLE	0x20 /* value: where a table begins that the low 4 bits of it index */
#define DEFLATE_INVALID 0x10

struct deflate_entry {
	uint16_t value;
	uint8_t bits; /* to consume */
	uint8_t kind;
};

/* What a code is for: literals and lengths, distances, or the lengths of codes. */
enum deflate_alphabet { DEFLATE_LENGTHS, DEFLATE_DISTANCES, DEFLATE_PRECODE };

/*
 * Fill a table, of the alphabet's room, from the lengths of codes in bits; 0: the symbol is not
 * used. Returns 0, or -EBADMSG if they make no code. An empty code, and one of a single bit, have
 * entries that are invalid.
 */
int deflate_code_make(struct deflate_entry *table, enum deflate_alphabet alphabet,
		      const uint8_t *lengths, uint32_t count);

#endif

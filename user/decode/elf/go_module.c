/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/go_module.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

#define PIECE_BYTES    (60u << 10) /* a multiple of the size of words and of relocations */
#define CANDIDATES_MAX 16

/* Words of the description, which are all of 8 bytes. */
#define WORD_TABLE	0
#define WORD_FUNCTIONS	17 /* entries of the function table, the last of which is its end */
#define WORD_CODE_FIRST 20
#define WORD_CODE_LAST	21
#define WORD_TEXT	22
#define WORD_TEXT_END	23
#define WORD_DATA	40 /* since Go 1.20; 2 less before it had counters of coverage */
#define WORDS		41

struct search {
	const struct elf_file *elf;
	uint64_t table_address, function_count;
	uint64_t left_bytes; /* that may still be read */
	uint8_t *piece;	     /* PIECE_BYTES */
	uint64_t candidates[CANDIDATES_MAX];
	size_t count;
};

static void add_candidate(struct search *search, uint64_t address)
{
	if (search->count < CANDIDATES_MAX)
		search->candidates[search->count++] = address;
}

/* Takes the bytes of a section one piece after the other. Returns 0 to go on. */
typedef int piece_fn(void *context, uint64_t address, const uint8_t *bytes, size_t size_bytes);

static int each_piece(struct search *search, const struct elf_section *section, piece_fn *take,
		      void *context)
{
	for (uint64_t at = 0; at < section->size_bytes && search->left_bytes;) {
		uint64_t left = section->size_bytes - at;
		size_t size_bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
		int err = blob_read(search->elf->blob, section->file_offset + at, search->piece,
				    size_bytes);

		/* A damaged section has no description. */
		if (err)
			return err == -EBADMSG ? 0 : err;
		err = take(context, section->address + at, search->piece, size_bytes);
		if (err)
			return err;
		at += size_bytes;
		search->left_bytes -=
			size_bytes < search->left_bytes ? size_bytes : search->left_bytes;
	}
	return 0;
}

/* --- what the file holds in its data -------------------------------------------- */

static int search_words(void *search_, uint64_t address, const uint8_t *bytes, size_t size_bytes)
{
	struct search *search = search_;
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		if (word == search->table_address)
			add_candidate(search, address + i);
	}
	return 0;
}

/* --- what the file holds as relocations ----------------------------------------- */

static int search_relocations(void *search_, uint64_t address, const uint8_t *bytes,
			      size_t size_bytes)
{
	struct search *search = search_;
	Elf64_Rela relocation;

	for (size_t i = 0; i + sizeof(relocation) <= size_bytes; i += sizeof(relocation)) {
		memcpy(&relocation, bytes + i, sizeof(relocation));
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE &&
		    (uint64_t)relocation.r_addend == search->table_address)
			add_candidate(search, relocation.r_offset);
	}
	return 0;
}

struct words {
	uint64_t address;
	uint64_t word[WORDS];
};

static int relocate_words(void *words_, uint64_t address, const uint8_t *bytes, size_t size_bytes)
{
	struct words *words = words_;
	Elf64_Rela relocation;

	for (size_t i = 0; i + sizeof(relocation) <= size_bytes; i += sizeof(relocation)) {
		uint64_t at;

		memcpy(&relocation, bytes + i, sizeof(relocation));
		at = relocation.r_offset - words->address;
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE && at % 8 == 0 &&
		    at / 8 < WORDS)
			words->word[at / 8] = (uint64_t)relocation.r_addend;
	}
	return 0;
}

_Static_assert(PIECE_BYTES % sizeof(Elf64_Rela) == 0, "a piece has whole relocations only");

static bool is_relocations(const struct elf_section *section)
{
	return section->type == SHT_RELA && section->flags & SHF_ALLOC;
}

static bool is_data(const struct elf_section *section)
{
	return section->type == SHT_PROGBITS && section->flags & SHF_ALLOC &&
	       section->flags & SHF_WRITE && section->address % 8 == 0;
}

static int search_sections(struct search *search)
{
	int err = 0;

	vec_for_each (section, &search->elf->sections) {
		if (!err && is_data(section))
			err = each_piece(search, section, search_words, search);
		else if (!err && is_relocations(section))
			err = each_piece(search, section, search_relocations, search);
	}
	return err;
}

static int read_words(struct search *search, struct words *words)
{
	uint64_t offset;
	int err;

	if (!elf_file_offset(search->elf, words->address, &offset))
		return -EBADMSG;
	err = blob_read(search->elf->blob, offset, words->word, sizeof(words->word));
	vec_for_each (section, &search->elf->sections) {
		if (!err && is_relocations(section))
			err = each_piece(search, section, relocate_words, words);
	}
	return err;
}

/* Returns true if the words fit to each other, to the table and to the file's segments. */
static bool is_module(const struct search *search, const struct words *words)
{
	uint64_t text = words->word[WORD_TEXT], end = words->word[WORD_TEXT_END];

	if (words->word[WORD_TABLE] != search->table_address ||
	    words->word[WORD_FUNCTIONS] != search->function_count + 1 || text >= end ||
	    words->word[WORD_CODE_FIRST] < text || words->word[WORD_CODE_LAST] > end)
		return false;
	vec_for_each (segment, &search->elf->segments) {
		if (segment->executable && text >= segment->address &&
		    end - segment->address <= segment->memory_bytes)
			return true;
	}
	return false;
}

int go_module_find(const struct elf_file *elf, uint64_t table_address, uint64_t function_count,
		   bool has_coverage, struct go_module *ret)
{
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	struct search search = {
		.elf = elf,
		.table_address = table_address,
		.function_count = function_count,
		.left_bytes = GO_MODULE_SEARCH_MAX,
		.piece = piece,
	};
	int err = piece ? search_sections(&search) : -ENOMEM;

	for (size_t i = 0; i < search.count && !err; i++) {
		struct words words = {.address = search.candidates[i]};

		err = read_words(&search, &words);
		if (!err && is_module(&search, &words)) {
			*ret = (struct go_module){
				.text = words.word[WORD_TEXT],
				.text_end = words.word[WORD_TEXT_END],
				.functions_data = words.word[WORD_DATA - (has_coverage ? 0 : 2)],
			};
			return 0;
		}
		err = err == -EBADMSG ? 0 : err;
	}
	return err ?: -ENOENT;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function table of a Go program (.gopclntab, Go 1.18 or later). The runtime needs it, so no
 * option of the linker and no strip removes it. It has the name, the lines, the inlined calls and
 * the frame sizes of each function that Go has compiled or assembled; those of C are not in it.
 *
 * A table in memory holds 8 bytes a function. All else is read from the file when it is requested.
 */
#ifndef JITBPF_DECODE_ELF_GO_TABLE_H
#define JITBPF_DECODE_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/elf/elf_file.h"
#include "decode/elf/go_module.h"
#include "decode/elf/go_values.h"

#define GO_FUNCTIONS_MAX  (4u << 20)
#define GO_NAME_BYTES_MAX (16u << 10) /* longer names and paths are cut */

struct go_table_header {
	uint32_t magic;
	uint8_t zero[2];
	uint8_t quantum, word_bytes;
	uint64_t function_count, file_count;
	uint64_t text_start; /* 0 since Go 1.26 */
	/* from the table's start */
	uint64_t names, units, files, values, functions;
};

/* Offsets are from the start of the code and from header.functions. */
struct go_function_entry {
	uint32_t start;
	uint32_t function;
};

/* Go 1.20 and later. Before, there was no start_line. */
struct go_function_fields {
	uint32_t start;
	uint32_t name;
	uint32_t arguments, deferred;
	uint32_t stack, file, line; /* tables of values */
	uint32_t values_count;	    /* of offsets of tables, behind the fields */
	uint32_t unit;
	uint32_t start_line;
	uint8_t id, flag, pad;
	uint8_t data_count; /* of offsets of data, behind those of tables */
};

typedef VEC(char) go_strings;

/* Private to go_table.c and go_inlines.c. */
struct go_table {
	struct blob blob;
	struct elf_file elf; /* its segments only */
	struct go_table_header header;
	uint64_t offset, size_bytes; /* of the table in the file */
	struct go_module module;
	struct go_function_entry *functions; /* count + 1: the last one is the end */
	uint32_t count;
	go_strings strings; /* of the last call of go_inlines_find() */
	go_strings name;    /* of the last call of go_table_name() */
};

/*
 * Read the table of a program. The table shares blob (base/shared_blob.h), which is that of elf;
 * with blob NULL, it borrows the blob of elf. elf is copied as far as it is needed. Returns 0,
 * -ENOENT (no program of Go), -ENOTSUP (another version of the table), -EBADMSG, -E2BIG, -ENOMEM or
 * the blob's error; on failure *ret is unchanged.
 */
int go_table_create(const struct elf_file *elf, struct blob *blob, struct go_table **ret);
void go_table_destroy(struct go_table *table);
DEFINE_CLEANUP(struct go_table *, go_table_destroy);

/*
 * Find the function that contains an address, as [*ret_start, *ret_end). Returns false if there is
 * none.
 */
bool go_table_range(const struct go_table *table, uint64_t address, uint64_t *ret_start,
		    uint64_t *ret_end);

/* Returns where the functions begin, and where they end. */
uint64_t go_table_start(const struct go_table *table);
uint64_t go_table_end(const struct go_table *table);

/* Returns the name of the function at an address, or NULL. Valid until the next call. */
const char *go_table_name(struct go_table *table, uint64_t address);

#define GO_EACH_BYTES_MAX (64u << 20) /* bytes that go_table_each() reads */

/*
 * Pass all functions in order, with their names (at most 127 bytes of them) and addresses. Returns
 * 0, the taker's result if that is not 0, -E2BIG, -EBADMSG, -ENOMEM or the blob's error.
 */
int go_table_each(const struct go_table *table,
		  int (*take)(void *context, const char *name, uint64_t start), void *context);

/* How a function's stack pointer moves: a range of its addresses, in which it does not. */
struct go_stack_range {
	uint64_t start, end;
	int32_t frame_bytes; /* from the stack pointer to the return address */
};

/*
 * Get the ranges of the function at an address, in order. Returns 0, -ENOENT (no function, or
 * its sizes are unknown), or the taker's result if that is not 0.
 */
int go_table_stack(struct go_table *table, uint64_t address,
		   int (*take)(void *context, const struct go_stack_range *range), void *context);

/* --- for go_inlines.c ---------------------------------------------------------------- */

/* Returns true for Go 1.18 and 1.19. */
bool go_table_is_old(const struct go_table *table);

/*
 * Read what the table has of the function at an address. *ret_start is its start, *ret_behind the
 * offset, in the part `functions`, of what follows the fields. Returns 0, -ENOENT (no function),
 * -EBADMSG or the blob's error.
 */
int go_table_function(const struct go_table *table, uint64_t address,
		      struct go_function_fields *ret, uint64_t *ret_start, uint64_t *ret_behind);

/* Read bytes at an offset of a part of the table. Returns 0, -EBADMSG or the blob's error. */
int go_table_read(const struct go_table *table, uint64_t part, uint64_t offset, void *ret,
		  size_t size_bytes);

/* Begin one of the table's tables of values. */
struct go_values go_table_values(const struct go_table *table, uint32_t at);

/*
 * Append a string of a part of the table to `strings`. Sets *ret_at to its place there.
 * Returns 0, -EBADMSG, -ENOMEM or the blob's error.
 */
int go_table_string(const struct go_table *table, uint64_t part, uint64_t offset,
		    go_strings *strings, size_t *ret_at);

/* --------------------------------------------------------------------------------------- */

/* Returns the number of functions. */
uint32_t go_table_count(const struct go_table *table);

/* Memory in use, in bytes. */
size_t go_table_bytes(const struct go_table *table);

#endif

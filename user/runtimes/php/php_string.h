/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a string of PHP (zend_string). */
#ifndef JITBPF_RUNTIMES_PHP_PHP_STRING_H
#define JITBPF_RUNTIMES_PHP_PHP_STRING_H

#include "runtimes/process_memory.h"

#define PHP_STRING_LENGTH_MAX (1u << 20) /* longer names are no names */

/* A string, and the word at its hash. */
struct php_string {
	char *text; /* "" for the address 0 */
	uint64_t hash;
};

/*
 * Read the string at an address, up to its first NUL, at most bytes_max of it: PHP appends a path
 * to the name of an anonymous class behind a NUL. Bytes that are no UTF-8 become "?". Returns 0
 * with ret->text, which the caller frees; -EBADMSG if it is longer than PHP_STRING_LENGTH_MAX;
 * -ENOMEM or the error of the memory.
 */
int php_string_read(const struct process_memory *memory, uint64_t address, size_t bytes_max,
		    struct php_string *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what a function of PHP returns that only returns a constant or a variable. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_ACCESSOR_H
#define JITBPF_RUNTIMES_PHP_PHP_ACCESSOR_H

#include "runtimes/process_memory.h"

/*
 * Set *ret to what the function at an address would return now. Returns 0; -EBADMSG if it does
 * more; or the error of the memory.
 */
int php_accessor_read(const struct process_memory *memory, uint64_t function, uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares a layout of PHP with the structures of a live process. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_SELF_CHECK_H
#define JITBPF_RUNTIMES_PHP_PHP_SELF_CHECK_H

#include "runtimes/php/php_layout.h"
#include "runtimes/process_memory.h"

/*
 * Check zend_executor_globals at an address: its table of functions has functions of C under their
 * own names; and if a script runs, the newest frames have functions, and the positions of those of
 * PHP are inside of their code. Returns 0; -ENODATA if PHP has not started yet; -EBADMSG if
 * something is not as it should be; or the error of the memory.
 */
int php_self_check(const struct process_memory *memory, const struct php_layout *layout,
		   uint64_t globals);

#endif

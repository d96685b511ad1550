/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The version of PHP that a process runs, by what the engine itself says. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_VERSION_H
#define JITBPF_RUNTIMES_PHP_PHP_VERSION_H

#include "engines/engines.h"
#include "runtimes/php/php_file.h"
#include "runtimes/process_memory.h"

/*
 * Returns 0 with *ret; -ENODATA if PHP has not started yet; -ENOENT if the file has no function
 * that says a version; -ENOTSUP if the version is no known one; -EBADMSG; or the error of the
 * memory. Before PHP 8.3 it is the version of the Zend engine that says it: 3.4 is that of PHP 7.4,
 * and 4.x.y that of PHP 8.x.y.
 */
int php_version_read(const struct php_file *file, uint64_t bias,
		     const struct process_memory *memory, struct engine_version *ret);

#endif

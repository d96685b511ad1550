/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cold parts of PHP's execute_ex(), which have no exported symbols. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_LOOP_H
#define JITBPF_RUNTIMES_PHP_PHP_LOOP_H

#include "runtimes/php/php_file.h"

/*
 * Add to file->loops the parts of the code that the first of them branches into: functions of
 * .eh_frame that it enters elsewhere than at their starts. Without .eh_frame there are none.
 * Returns 0, -ENOMEM or the blob's error.
 */
int php_loop_add_cold(const struct elf_file *elf, struct php_file *file);

#endif

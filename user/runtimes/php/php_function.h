/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a function of PHP: zend_function. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_FUNCTION_H
#define JITBPF_RUNTIMES_PHP_PHP_FUNCTION_H

#include "runtimes/php/php_layout.h"
#include "runtimes/runtime_reader.h"

/* The most that reading a function costs, whatever the process has written. */
#define PHP_CLOSURES_MAX       64 /* that are read with a function; others are left out */
#define PHP_FUNCTION_READS_MAX (130 + 34 * (PHP_CLOSURES_MAX + 1))
#define PHP_FUNCTION_BYTES_MAX (RUNTIME_LINES_MAX * PHP_OP_BYTES + 8192u * (PHP_CLOSURES_MAX + 2))

/*
 * As struct runtime_reader's function(). Names are written as PHP writes them: "Class::method",
 * "{closure}" (from 8.4 on with its place, such as "{closure:Class::method():12}"). Code outside of
 * functions is "{main} FILE", with the file's name without its folder; of a text that eval() was
 * given, "eval()". Positions of frames are pointers to instructions.
 *
 * At most RUNTIME_LINES_MAX instructions are read, with those of closures; the lines of others are
 * not known.
 *
 * Since PHP 8.1, a function has its closures, which are copied each time that it makes one, and
 * theirs: ret->copied. What a copy's check is folded from is that of the original, but for the
 * class: it is that of the function that makes the copy. So the name is as sure as that of an
 * object that was read at its address. A copy that is bound to another class later has another
 * check. A closure of a method, as $this->method(...) makes it, is a copy of the method: a function
 * that makes such closures has the methods of its class in ret->copied, too.
 */
int php_function_read(const struct process_memory *memory, const struct php_layout *layout,
		      uint64_t object, struct runtime_function *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the code in which PHP switches native stacks: zend_fiber_switch_context(), from its call of
 * jump_fcontext() on, which returns on the other stack, to its end; and jump_fcontext(). Behind the
 * call, the function restores the globals, such as the newest frame, of what it has switched to.
 * Until then these are of the other stack.
 */
#ifndef JITBPF_RUNTIMES_PHP_PHP_SWITCH_H
#define JITBPF_RUNTIMES_PHP_PHP_SWITCH_H

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/*
 * Find it in a file, where both functions are. Empty ranges: PHP has no fibers. If the call is not
 * found, as one through a table of addresses, all of the first function is taken. Returns 0,
 * -ENOMEM, or the blob's error.
 */
int php_switch_find(const struct elf_file *elf, struct runtime_range function,
		    struct runtime_range jump, struct runtime_range ret[RUNTIME_SWITCHES_MAX]);

#endif

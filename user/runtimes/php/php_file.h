/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the file of PHP says: its program, libphp.so or mod_php.so. It is the same for all processes
 * that map the file.
 */
#ifndef JITBPF_RUNTIMES_PHP_PHP_FILE_H
#define JITBPF_RUNTIMES_PHP_PHP_FILE_H

#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "uapi/runtime_recipe.h"

/* Addresses in the file; 0: the file does not have it. */
struct php_file {
	uint64_t executor_globals;	  /* without threads (NTS) */
	uint64_t executor_globals_offset; /* with threads (ZTS): a variable */
	uint64_t generator_class;	  /* zend_ce_generator, a variable */
	/* Functions that only return a value, see php_accessor.h. */
	uint64_t cache_tls_offset; /* tsrm_get_ls_cache_tcb_offset() */
	uint64_t engine_version;   /* get_zend_version() */
	uint64_t version_id;	   /* php_version_id(), since 8.3 */
	uint64_t vm_kind;	   /* zend_vm_kind() */

	/* execute_ex() and its cold parts. */
	struct runtime_range loops[RUNTIME_LOOPS_MAX];
	uint32_t loop_count;

	/* Code that switches to the native stack of a fiber or back; each can be empty. */
	struct runtime_range switches[RUNTIME_SWITCHES_MAX];
};

/*
 * Read a file. Returns 0; -ENOENT if it has no symbols of PHP; -EBADMSG, -E2BIG, -ENOMEM, or the
 * blob's error. On failure *ret is unchanged.
 */
int php_file_read(const struct elf_file *elf, struct php_file *ret);

#endif

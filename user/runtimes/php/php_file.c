/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_file.h"

#include "base/scope.h"
#include "runtimes/loop_parts.h"
#include "runtimes/php/php_switch.h"
#include "runtimes/runtime_symbols.h"

enum {
	EXECUTE_EX,
	EXECUTOR_GLOBALS,
	EXECUTOR_GLOBALS_OFFSET,
	CACHE_TLS_OFFSET,
	GENERATOR_CLASS,
	ENGINE_VERSION,
	VERSION_ID,
	VM_KIND,
	FIBER_SWITCH,
	CONTEXT_JUMP,
	SYMBOLS,
};

static struct runtime_range range_of(const struct runtime_symbol *symbol)
{
	return (struct runtime_range){.start = symbol->address,
				      .end = symbol->address + symbol->size_bytes};
}

int php_file_read(const struct elf_file *elf, struct php_file *ret)
{
	struct runtime_symbol s[SYMBOLS] = {
		[EXECUTE_EX].name = "execute_ex",
		[EXECUTOR_GLOBALS].name = "executor_globals",
		[EXECUTOR_GLOBALS_OFFSET].name = "executor_globals_offset",
		[CACHE_TLS_OFFSET].name = "tsrm_get_ls_cache_tcb_offset",
		[GENERATOR_CLASS].name = "zend_ce_generator",
		[ENGINE_VERSION].name = "get_zend_version",
		[VERSION_ID].name = "php_version_id",
		[VM_KIND].name = "zend_vm_kind",
		[FIBER_SWITCH].name = "zend_fiber_switch_context",
		[CONTEXT_JUMP].name = "jump_fcontext",
	};
	int err = runtime_symbols_find(elf, s, ARRAY_SIZE(s));
	struct php_file file = {
		.executor_globals = s[EXECUTOR_GLOBALS].address,
		.executor_globals_offset = s[EXECUTOR_GLOBALS_OFFSET].address,
		.cache_tls_offset = s[CACHE_TLS_OFFSET].address,
		.generator_class = s[GENERATOR_CLASS].address,
		.engine_version = s[ENGINE_VERSION].address,
		.version_id = s[VERSION_ID].address,
		.vm_kind = s[VM_KIND].address,
		.loops = {range_of(&s[EXECUTE_EX])},
		.loop_count = 1,
	};

	if (err)
		return err;
	if (!s[EXECUTE_EX].size_bytes || (!file.executor_globals && !file.executor_globals_offset))
		return -ENOENT;
	err = loop_parts_add_cold(elf, file.loops, &file.loop_count);
	err = err
		      ?: php_switch_find(elf, range_of(&s[FIBER_SWITCH]),
					 range_of(&s[CONTEXT_JUMP]), file.switches);
	if (!err)
		*ret = file;
	return err;
}

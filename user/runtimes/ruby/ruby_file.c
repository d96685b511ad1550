/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_file.h"

#include <errno.h>

#include "base/scope.h"
#include "runtimes/loop_parts.h"
#include "runtimes/ruby/ruby_code.h"
#include "runtimes/ruby/ruby_loop.h"
#include "runtimes/ruby/ruby_switch.h"
#include "runtimes/runtime_symbols.h"

enum {
	VERSION,
	THREAD_CURRENT,
	SYMBOL_COUNT,
	ARRAY_CLASS,
	TRANSFER, /* not in all builds */
	SYMBOLS,
};

static struct runtime_range range_of(const struct runtime_symbol *symbol)
{
	return (struct runtime_range){.start = symbol->address,
				      .end = symbol->address + symbol->size_bytes};
}

int ruby_file_read(const struct elf_file *elf, struct ruby_file *ret)
{
	struct runtime_symbol s[SYMBOLS] = {
		[VERSION].name = "ruby_version",
		[THREAD_CURRENT].name = "rb_thread_current",
		[SYMBOL_COUNT].name = "rb_sym_immortal_count",
		[ARRAY_CLASS].name = "rb_cArray",
		[TRANSFER].name = "coroutine_transfer",
	};
	int err = runtime_symbols_find(elf, s, ARRAY_SIZE(s));
	struct ruby_file file = {
		.version = s[VERSION].address,
		.array_class = s[ARRAY_CLASS].address,
	};

	if (err)
		return err;
	for (size_t i = 0; i < TRANSFER; i++) {
		if (!s[i].is_found)
			return -ENOENT;
	}
	err = ruby_code_find_context(elf, range_of(&s[THREAD_CURRENT]), &file);
	err = err ?: ruby_code_find_symbols(elf, range_of(&s[SYMBOL_COUNT]), &file);
	err = err ?: ruby_loop_find(elf, &file.loops[0]);
	if (err)
		return err;
	file.loop_count = 1;
	err = loop_parts_add_cold(elf, file.loops, &file.loop_count);
	if (s[TRANSFER].is_found)
		err = err ?: ruby_switch_find(elf, s[TRANSFER].address, file.switches);
	if (!err)
		*ret = file;
	return err;
}

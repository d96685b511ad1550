/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kernel_symbol.h"
#include "tests/unit/cases.h"

/* module is NULL for the kernel itself. */
static void assert_symbol(const char *words, const char *name, uint64_t offset, const char *module)
{
	char *copy = strdup(words);
	struct kernel_symbol symbol;

	assert_non_null(copy);
	assert_true(kernel_symbol_parse(copy, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.offset, offset);
	if (module)
		assert_string_equal(symbol.module, module);
	else
		assert_null(symbol.module);
	free(copy);
}

static void assert_no_symbol(const char *words)
{
	static const struct kernel_symbol untouched = {"untouched", "too", 42};
	struct kernel_symbol symbol = untouched;
	char *copy = strdup(words);

	assert_non_null(copy);
	assert_false(kernel_symbol_parse(copy, &symbol));
	assert_memory_equal(&symbol, &untouched, sizeof(symbol));
	assert_string_equal(copy, words);
	free(copy);
}

CASE(names_of_the_kernel_itself)
{
	assert_symbol("do_syscall_64+0x12/0x345", "do_syscall_64", 0x12, NULL);
	assert_symbol("f+0x0/0x1", "f", 0, NULL);
	assert_symbol("f+0xffffffffffffffff/0xffffffffffffffff", "f", UINT64_MAX, NULL);
}

CASE(names_of_modules_and_programs)
{
	assert_symbol("ext4_read+0xab/0xcde [ext4]", "ext4_read", 0xab, "[ext4]");
	assert_symbol("bpf_prog_6deef7357e7b4530_sd_fw+0x1/0x50 [bpf]",
		      "bpf_prog_6deef7357e7b4530_sd_fw", 1, "[bpf]");
	assert_symbol("ftrace_trampoline+0x5/0x99 [__builtin__ftrace]", "ftrace_trampoline", 5,
		      "[__builtin__ftrace]");
}

/* %pS does not print a module for these. */
CASE(programs_are_told_from_functions)
{
	assert_symbol("bpf_prog_6deef7357e7b4530_sd_fw+0x1/0x50", "bpf_prog_6deef7357e7b4530_sd_fw",
		      1, "[bpf]");
	assert_symbol("bpf_prog_6deef7357e7b4530+0x1/0x50", "bpf_prog_6deef7357e7b4530", 1,
		      "[bpf]");
	assert_symbol("bpf_trampoline_6442528581+0x1/0x50", "bpf_trampoline_6442528581", 1,
		      "[bpf]");
	assert_symbol("bpf_prog_run_pin_on_cpu+0x1/0x2", "bpf_prog_run_pin_on_cpu", 1, NULL);
	assert_symbol("bpf_prog_add+0x1/0x2", "bpf_prog_add", 1, NULL);
	assert_symbol("bpf_prog_6deef7357e7b45301+0x1/0x2", "bpf_prog_6deef7357e7b45301", 1, NULL);
	assert_symbol("bpf_prog_+0x1/0x2", "bpf_prog_", 1, NULL);
	assert_symbol("bpf_trampoline_update+0x1/0x2", "bpf_trampoline_update", 1, NULL);
	assert_symbol("bpf_trampoline_+0x1/0x2", "bpf_trampoline_", 1, NULL);
}

CASE(names_that_compilers_make)
{
	assert_symbol("foo.constprop.0.isra.0+0x1/0x2", "foo.constprop.0.isra.0", 1, NULL);
	assert_symbol("f.llvm.123456+0x1/0x2 [m]", "f.llvm.123456", 1, "[m]");
	assert_symbol("_RNvXs5_NtC4core3fmt$u20$x+0x1/0x2", "_RNvXs5_NtC4core3fmt$u20$x", 1, NULL);
}

CASE(unknown_addresses_have_no_name)
{
	assert_no_symbol("0xffffffffc0000000");
	assert_no_symbol("0x0");
	assert_no_symbol("(null)");
	assert_no_symbol("");
}

CASE(words_that_are_none)
{
	static const char whole[] = "name+0x12/0x345 [mod]";
	char cut[sizeof(whole)];

	assert_no_symbol("+0x1/0x2");
	assert_no_symbol("f+1/0x2");
	assert_no_symbol("f+0x/0x2");
	assert_no_symbol("f+0x1/2");
	assert_no_symbol("f+0x1/0x");
	assert_no_symbol("f+0x1 [mod]");
	assert_no_symbol("f+0x11111111111111111/0x2");
	assert_no_symbol("f+0x1/0x11111111111111111");
	assert_no_symbol("f+0x1/0x2[mod]");
	assert_no_symbol("f+0x1/0x2 []");
	assert_no_symbol("f+0x1/0x2 [mod] ");
	assert_no_symbol("f+0x1/0x2 mod");
	assert_no_symbol("a+b+0x1/0x2");
	/* Truncated anywhere, the text has a symbol only if the kernel's format is complete. */
	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		memcpy(cut, whole, size);
		cut[size] = '\0';
		if (size >= strlen("name+0x12/0x3") && size <= strlen("name+0x12/0x345"))
			assert_symbol(cut, "name", 0x12, NULL);
		else
			assert_no_symbol(cut);
	}
}

CASE(long_names_stay_whole)
{
	char name[512], words[KERNEL_WORDS_BYTES];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(words, sizeof(words), "%s+0x1/0x2 [%.55s]", name, name);
	assert_symbol(words, name, 1, strchr(words, '['));
	memset(words, 'n', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	assert_no_symbol(words);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/native_function.h"
#include "tests/unit/cases.h"

struct row {
	const char *name, *file, *function;
	enum code_tier tier;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char name[256];
		enum code_tier tier;

		strcpy(name, rows[i].name);
		tier = native_to_function(name, rows[i].file);
		assert_string_equal(name, rows[i].function);
		assert_int_equal(tier, rows[i].tier);
		/* A function is its own. */
		assert_int_equal(native_to_function(name, rows[i].file), CODE_TIER_PLAIN);
		assert_string_equal(name, rows[i].function);
	}
}

/* Names of Debian's glibc, PHP, oneDNN, Linux 6.1, and programs by clang with ThinLTO and BOLT. */
CASE(parts_are_their_function)
{
	static const struct row rows[] = {
		{"_PyEval_EvalFrameDefault.cold", "", "_PyEval_EvalFrameDefault", CODE_TIER_COLD},
		{"main.cold", "main.c", "main", CODE_TIER_COLD},
		{"_int_malloc.cold.12", "", "_int_malloc", CODE_TIER_COLD},
		{"finish_task_switch.isra.0", "", "finish_task_switch", CODE_TIER_CLONE},
		{"__kmem_cache_free_bulk.part.0", "", "__kmem_cache_free_bulk", CODE_TIER_PART},
		{"zend_mm_alloc.constprop.0.isra.0", "", "zend_mm_alloc", CODE_TIER_CLONE},
		{"do_check.part.0.isra.0.cold", "", "do_check", CODE_TIER_COLD},
		{"ggc_collect.__part.2", "", "ggc_collect", CODE_TIER_PART},
		{"_dl_runtime_resolve.localalias", "", "_dl_runtime_resolve", CODE_TIER_PLAIN},
		{"execute/1.cold.0", "", "execute/1", CODE_TIER_COLD},
		{"foo<true>::bar() const [clone .cold]", "", "foo<true>::bar() const",
		 CODE_TIER_COLD},
		{"f(int) [clone .isra.0] [clone .cold]", "f.cc", "f(int)", CODE_TIER_COLD},
		{"f(int) [clone .constprop.1.isra.0]", "", "f(int)", CODE_TIER_CLONE},
		{"_ZN3fooE.cold", "", "_ZN3fooE", CODE_TIER_COLD},
		{"f.lto_priv.1.cold", "", "f.lto_priv.1", CODE_TIER_COLD},
		{"f() [clone .llvm.77] [clone .cold]", "", "f() [clone .llvm.77]", CODE_TIER_COLD},
	};

	check(rows, ARRAY_SIZE(rows));
}

CASE(other_code_stays_apart)
{
	static const char *const names[] = {
		"",
		"main",
		".cold",
		"cold",
		"f.part",
		"f.isra",
		"f.colder",
		"f.cold.x",
		"f.cold.",
		"f.0",
		".0",
		"0",
		"f.part.",
		"f.123",
		"init.lto_priv.0",
		"init.llvm.1234567890",
		"init.__uniq.1234",
		"work._omp_fn.0",
		"memcpy.resolver",
		"dot.avx2.0",
		"task.actor",
		"run@plt",
		"std::string f[abi:cxx11]()",
		"main.main.func1",
		"runtime.goexit.abi0",
		"main::{lambda(int)#2}::operator()(int)",
		"f() [clone .avx2.0]",
		"f() [clone .foo.cold]",
		"f() [clone ]",
		" [clone .cold]",
		"[clone .cold]",
		"] [clone",
		"f[clone .cold]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct row row = {names[i], "", names[i], CODE_TIER_PLAIN};

		check(&row, 1);
	}
}

/* In Go, "main.cold" is cold() of the package main. */
CASE(a_dot_can_be_part_of_a_name)
{
	static const struct row rows[] = {
		{"main.cold", "/src/main.go", "main.cold", CODE_TIER_PLAIN},
		{"main.cold", "main.zig", "main.cold", CODE_TIER_PLAIN},
		{"main.cold", "go", "main", CODE_TIER_COLD},
	};

	check(rows, ARRAY_SIZE(rows));
}

CASE(numbers_of_builds_are_removed)
{
	static const struct {
		const char *name, *meant;
	} rows[] = {
		{"init.llvm.1234567890", "init.llvm"},
		{"init.lto_priv.0", "init.lto_priv"},
		{"init.__uniq.12345.llvm.67", "init.__uniq.llvm"},
		{"f() [clone .llvm.77]", "f() [clone .llvm]"},
		{"_ZN4core3ptr9drop_in17h0123456789abcdefE", "_ZN4core3ptr9drop_inE"},
		{"_ZN3a17hb17h0123456789abcdefE", "_ZN3a17hbE"},
		{"bpf_prog_0123456789abcdef_dump_task", "bpf_prog_dump_task"},
		{"_ZN3foo17h0123456789abcdeE", "_ZN3foo17h0123456789abcdeE"},
		{"a17h0123456789abcdefE", "a17h0123456789abcdefE"},
		{"bpf_prog_0123456789abcdef_", "bpf_prog_0123456789abcdef_"},
		{"bpf_prog_0123456789abcdef", "bpf_prog_0123456789abcdef"},
		{"f.llvm.", "f.llvm."},
		{"f.llvm.12x", "f.llvm.12x"},
		{"f.cold.1", "f.cold.1"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[256];

		strcpy(name, rows[i].name);
		native_unnumber(name);
		assert_string_equal(name, rows[i].meant);
	}
}

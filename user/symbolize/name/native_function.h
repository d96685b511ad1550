/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the name of native or kernel code to the name of its function. Compilers append to a
 * symbol's name what they made of the function. Names are demangled or not. Pure functions, any
 * thread.
 *
 * Two different functions never get one name by native_to_function(). What it keeps, therefore:
 * - ".lto_priv.0", ".llvm.123", ".__uniq.123", a hash of Rust: they tell static functions of one
 *   name apart;
 * - "._omp_fn.0", "::{lambda()#2}", Go's ".func1", ".gowrap1", ".deferwrap1": each number is a
 * piece of source code of its own;
 * - ".resolver", and ".avx2" of a function with versions for processors, whose sources can differ;
 * - ".123" alone, ".actor", ".resume", "@plt", ".abi0": other code than the function before the
 * dot.
 */
#ifndef JITBPF_SYMBOLIZE_NAME_NATIVE_FUNCTION_H
#define JITBPF_SYMBOLIZE_NAME_NATIVE_FUNCTION_H

#include "engines/code_tier.h"

/*
 * Cut a name, in place, to the name of its function: without ".cold", ".part.0", ".constprop.0",
 * ".isra.0", ".localalias" and "[clone .cold]". file is the source file of the code, "" if it is
 * not known: in languages where a dot joins a package and a function, "main.cold" is a function.
 * Returns the tier that was cut off last, the strongest of several.
 */
enum code_tier native_to_function(char *name, const char *file);

/*
 * Remove from the name of a function, in place, the numbers that differ from build to build:
 * ".llvm.123" becomes ".llvm", "bpf_prog_0123456789abcdef_f" becomes "bpf_prog_f". The rest does
 * not identify a function. For comparing recordings, with care, as engine_unnumber().
 */
void native_unnumber(char *name);

#endif
